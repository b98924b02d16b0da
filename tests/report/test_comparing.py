"""Two assessments side by side: the posterior of the difference, in numbers and on a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.promises.small import small_assessment
from tests.report.at_work import at_work
from worker.assessment import assess
from worker.core.posterior.summary import draws
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.report.comparing import Case, NotComparable, compare, page, write_comparison
from worker.report.contents_comparison import as_json
from worker.store import MemoryLedger


def case_of(folder: Path, n_labels: int = 0, **parts: object) -> Case:
    folder.mkdir(exist_ok=True)
    begun = at_work(folder, n_labels, **parts)
    return begun.work, begun.header, begun.ledger


@pytest.fixture(scope="module")
def few_and_many(tmp_path_factory) -> tuple[Case, Case]:
    folder = tmp_path_factory.mktemp("pair")
    asked = {"question": "{task: estimate}", "stop": "{rmse: 0.001}"}
    return case_of(folder / "few", 5, **asked), case_of(folder / "many", 30, **asked)


def named_like(folder: Path, rows: str, **question: object) -> Case:
    """An assessment of a pool of its own, without labels."""
    folder.mkdir()
    (folder / "p.csv").write_text("item_id,predicted,score,text\n" + rows, encoding="utf-8")
    asked = {"task": "estimate", **question}
    plan = load_plan_of(folder, asked)
    pool = compile_pool(plan, folder / "pools")
    header = replace(small_assessment(folder / "small", "{mrr: {}}")[1], assessment=plan.assessment)
    ledger = MemoryLedger(plan.assessment)
    ledger.begin(header)
    return assess(plan, pool), header, ledger


def load_plan_of(folder: Path, question: dict[str, object]):
    (folder / "plan.yaml").write_text(
        f"assessment: {folder.name}\n"
        "pool: {predictions: p.csv, predicted: predicted, score: score, data: {text: text}}\n"
        f"question: {json.dumps(question)}\n"
    )
    return load_plan(folder / "plan.yaml")


def test_an_assessment_does_not_differ_from_itself(few_and_many):
    few, _ = few_and_many
    found = compare(few, few)
    for d in (found.overall, *found.groups):
        assert d.a == d.b
        assert d.difference.mean == 0
        assert d.difference.low <= 0 <= d.difference.high
        assert abs(d.p_higher - d.p_lower) < 0.05


def test_the_other_way_round_the_difference_is_the_negative(few_and_many):
    one, other = compare(*few_and_many), compare(*reversed(few_and_many))
    back = {d.name: d for d in other.groups}
    for d in one.groups:
        mirrored = back[d.name]
        assert d.difference.mean == pytest.approx(-mirrored.difference.mean)
        assert d.difference.low == pytest.approx(-mirrored.difference.high, abs=0.04)
        assert d.p_higher == pytest.approx(mirrored.p_lower, abs=0.03)
        assert (d.labels_a, d.labels_b) == (mirrored.labels_b, mirrored.labels_a)


def test_the_draws_of_the_two_are_independent(few_and_many):
    """The same draws, paired as they come, would cancel out and make any difference certain."""
    few, _ = few_and_many
    found = compare(few, few)
    values = draws(few[0].believe(few[2].state().tally))
    for d in found.groups:
        g = few[0].pool.group_names.index(d.name)
        wide = d.difference.high - d.difference.low
        alone = np.subtract(*np.quantile(values[:, g], [0.975, 0.025]))
        assert 1.15 * alone < wide < 1.7 * alone or alone == 0


def test_more_labels_narrow_the_difference_and_the_same_labels_repeat_it(tmp_path, few_and_many):
    few, many = few_and_many
    one, again = compare(few, many), compare(few, many)
    assert replace(one, made_at="") == replace(again, made_at="")
    wide, narrow = compare(few, few).overall.difference, compare(many, many).overall.difference
    assert narrow.high - narrow.low < wide.high - wide.low


def test_groups_are_matched_by_name_and_the_others_are_listed(tmp_path):
    a = named_like(tmp_path / "a", "1,x,0.9,t\n2,y,0.8,t\n3,z,0.7,t\n")
    b = named_like(tmp_path / "b", "1,z,0.9,t\n2,y,0.8,t\n3,w,0.7,t\n")
    found = compare(a, b)
    assert sorted(d.name for d in found.groups) == ["y", "z"]
    assert (found.only_a, found.only_b) == (("x",), ("w",))


def test_nothing_is_said_of_the_whole_pool_where_one_side_asks_about_some_groups(tmp_path):
    rows = "1,x,0.9,t\n2,y,0.8,t\n3,z,0.7,t\n"
    a = named_like(tmp_path / "a", rows)
    b = named_like(tmp_path / "b", rows, task="compare", compare=[["x", "y"]])
    for found in (compare(a, b), compare(b, a)):
        assert found.overall is None
        assert len(found.groups) == 3
        assert "nothing is said of the whole pool" in found.remarks[-1]
        assert "the whole pool and of every group" not in page(found)
    assert compare(a, a).overall is not None


def test_nothing_is_said_of_the_whole_pool_where_its_value_is_not_told_yet(tmp_path):
    a = named_like(tmp_path / "a", "1,x,0.9,t\n2,y,0.8,t\n3,z,0.7,t\n", metric="ece")
    assert compare(a, a).overall is None


def test_what_cannot_be_compared_is_refused_with_a_reason(tmp_path):
    a = named_like(tmp_path / "a", "1,x,0.9,t\n2,y,0.8,t\n")
    b = named_like(tmp_path / "b", "1,x,0.9,t\n2,y,0.8,t\n", metric="bias")
    c = named_like(tmp_path / "c", "1,v,0.9,t\n2,w,0.8,t\n")
    with pytest.raises(NotComparable, match="a asks for accuracy, but b asks for bias"):
        compare(a, b)
    with pytest.raises(NotComparable, match="no group of the same name"):
        compare(a, c)


def test_the_page_says_what_its_json_says_and_nothing_else_is_needed(few_and_many, tmp_path):
    found = compare(*few_and_many)
    path = write_comparison(found, tmp_path / "new", "a-and-b")
    assert json.loads(path.with_suffix(".json").read_text()) == json.loads(
        json.dumps(as_json(found))
    )
    text = path.read_text()
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "<script" not in text
    for d in found.groups:
        assert f"{d.difference.mean:.3f}".replace("-", "−") in text


def test_names_of_any_kind_are_harmless_on_the_page(tmp_path):
    nasty = ["<script>alert(1)</script>", "\u202egnp.exe", "猫🐈", "n" * 300, "=cmd|' /C calc'!A0"]
    rows = "".join(f'{n},"{name}",0.9,t\n' for n, name in enumerate(nasty))
    a, b = named_like(tmp_path / "a", rows), named_like(tmp_path / "b", rows)
    text = page(compare(a, b))
    assert "<script" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text
    assert "猫🐈" in text
