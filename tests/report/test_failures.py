"""How frequent each kind of failure is, in the report of outputs that people judge."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeDesk
from tests.worker.answers import RIGHT, SCHEMA, WRONG, plan_of, write_outputs
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import Assessment, assess
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.report.failures import failures_of
from worker.report.gathering import gather
from worker.setup.earlier import Earlier, items_in_rows
from worker.setup.since import continue_with
from worker.store import MemoryLedger
from worker.store.tally import tally_key
from worker.turn.loop import advance


def _tally(work: Assessment, rows: range, truth: list[int]) -> dict[str, int]:
    pool = work.pool
    return Counter(
        tally_key(claim, pool.item(row).cell, 0, pool.classes[truth[row]])
        for claim, row in enumerate(rows)
    )


@pytest.fixture
def work(tmp_path: Path) -> Assessment:
    write_outputs(tmp_path)
    plan = plan_of(tmp_path)
    return assess(plan, compile_pool(plan, tmp_path / "pools"))


def test_once_all_outputs_are_labelled_the_shares_are_known(work: Assessment) -> None:
    truth = read_truth(work.plan, work.pool, "human").tolist()
    found = failures_of(work, _tally(work, range(400), truth))
    assert [one.name for one in found] == WRONG
    for k, one in enumerate(found, start=1):
        share = truth.count(k) / 400
        assert one.labelled == truth.count(k)
        assert (one.mean, one.low, one.high) == pytest.approx((share, share, share), abs=1e-6)


def test_a_kind_that_was_never_seen_may_be_frequent_or_not_be_at_all(work: Assessment) -> None:
    truth = [0 if k == 2 else k for k in read_truth(work.plan, work.pool, "human").tolist()]
    wrong, unsafe = failures_of(work, _tally(work, range(0, 400, 10), truth))
    assert unsafe.labelled == 0
    assert unsafe.low == 0 < unsafe.mean < unsafe.high
    assert unsafe.mean < wrong.mean < 1


def test_next_month_its_own_labels_tell_the_kinds_which_may_be_others(tmp_path: Path) -> None:
    """The month before had a kind that there is no more."""
    choices = {"right": RIGHT, "wrong": [*WRONG, "Rude"]}
    told = write_outputs(tmp_path / "before")
    then = plan_of(tmp_path / "before", assessment="before", annotation={"verdict": choices})
    before = assess(then, compile_pool(then, tmp_path / "pools"))
    said = [told[before.pool.item(row).item_id] for row in range(400)]
    labels = ["Correct" if one in RIGHT else one.replace("Unsafe", "Rude") for one in said]
    tally = _tally(before, range(400), [before.pool.classes.index(label) for label in labels])
    items = items_in_rows(before, [*range(400)], labels)

    write_outputs(tmp_path / "now", seed=2)
    plan = plan_of(tmp_path / "now")
    pool = compile_pool(plan, tmp_path / "pools")
    work = assess(plan, continue_with(plan, pool, Earlier(before, tally, items, "stopped", "")))
    at_first = failures_of(work, {})
    assert [(one.name, one.labelled, one.low) for one in at_first] == [(k, 0, 0) for k in WRONG]
    wrong = sum(label != "Correct" for label in labels) / 400
    # before a label of this month it is open how much of the other one still holds in each topic
    assert sum(one.mean for one in at_first) == pytest.approx(wrong, abs=0.08)
    truth = read_truth(work.plan, work.pool, "human").tolist()
    for k, one in enumerate(failures_of(work, _tally(work, range(400), truth)), start=1):
        share = truth.count(k) / 400
        assert one.labelled == truth.count(k)
        assert (one.mean, one.low, one.high) == pytest.approx((share, share, share), abs=1e-6)


@pytest.mark.parametrize(
    "parts",
    [
        {"annotation": {"per_item": 3, "rule": "dawid-skene"}},
        {"annotation": {"per_item": 3, "rule": "majority"}},
        {"prior": {"kind": "informative"}},
        {"prior": {"kind": "uniform"}},
        {"population": "infinite"},
        {"stop": {"guarantee": "anytime"}},
        {"question": {"metric": "bias"}},
        {"question": {"task": "estimate", "metric": "ece"}, "pool": {"groups": "score_bin(5)"}},
        {"pool": {"score": None}},
        {"pool": {"groups": ["model", "topic"], "parents": "model"}},
        {"pool": {"opinions": [{"name": "model", "category": "model"}]}},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_is_asked_failures_are_told(tmp_path: Path, parts: dict[str, Any]) -> None:
    truth = write_outputs(tmp_path, n=120)
    plan = plan_of(tmp_path, **parts)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    people, ledger = plan.annotation.per_item, MemoryLedger(plan.assessment)
    header, desk = header_of(plan, work.pool), FakeDesk(SCHEMA, overlap=people)
    ledger.begin(header)
    for turn in range(12):
        advance(work, header, ledger, desk, tmp_path, f"turn-{turn}")
        for person in range(1, people + 1):
            if (task := desk.next_task(person)) is not None:
                item = desk.data_of(task)["item_id"]
                # who errs now and then leaves votes in doubt
                said = "Wrong" if person == turn % 9 else truth[item]
                desk.annotate(task, said, person)
    advance(work, header, ledger, desk, tmp_path, "last")
    found = gather(work, header, ledger).failures
    assert [one.name for one in found] == WRONG
    assert all(0 <= one.low <= one.mean <= one.high <= 1 for one in found)
