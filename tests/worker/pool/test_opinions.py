"""Opinions are read in the order of the pool's items, wherever they stand, and kept by stratum."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import special

from tests.worker.pool.opinions_pool import (
    ENSEMBLE,
    EVERY,
    JUDGE,
    OLD,
    SOURCE,
    WORDS,
    N,
    animals,
    own_file,
    plan_of,
    two_sites,
    write,
)
from worker.errors import PoolChanged
from worker.plan import Plan, load_plan, plan_hash, stored_plan
from worker.pool import Pool, check_source, compile_pool
from worker.pool.opinions_reading import Opinion, read_opinions
from worker.pool.predictions import read_predictions
from worker.pool.texts import Texts


def read(plan: Plan) -> tuple[Opinion, ...]:
    return read_opinions(plan.pool, read_predictions(plan.pool, Texts()))


def opened(plan: Plan) -> Pool:
    return compile_pool(plan, plan.pool.predictions.parent / "pools")


def of_kind(opinion: Opinion) -> np.ndarray[Any, Any]:
    """What an opinion says of every item, a category by its name's code and nothing as NaN."""
    code = opinion.value if opinion.code is None else opinion.code
    return np.where(opinion.is_missing, np.nan, code)


def test_a_classifiers_opinion_is_the_logit_of_our_class(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    (old, ensemble) = read(plan_of(tmp_path, OLD, ENSEMBLE))

    for row in range(N):
        said, score = table["old_class"][row], table["old_score"][row]
        is_ours = said == table["said"][row]
        ours = score if is_ours else (1 - score) / 2
        assert special.expit(old.value[row]) == pytest.approx(max(ours, 1e-4), rel=1e-4)
        assert old.agrees is not None
        assert old.agrees[row] == is_ours
        share = table[f"e_{table['said'][row]}"][row]
        assert special.expit(ensemble.value[row]) == pytest.approx(max(share, 1e-4), rel=1e-4)


def test_an_opinion_in_a_file_of_its_own_gives_each_item_its_own_values(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    here = read(plan_of(tmp_path, *EVERY))
    columns = ("old_class", "old_score", "judge_p", "n_words", "source", "e_cat", "e_dog", "e_cow")
    path = own_file(tmp_path, table, columns)
    own = [one | {"predictions": path, "id": "key"} for one in EVERY]

    there = read(plan_of(tmp_path, *own))

    is_there = np.arange(N) % 5 > 0
    for one, other in zip(here, there, strict=True):
        assert other.is_missing.tolist() == (~is_there).tolist(), other.plan.name
        if one.plan.number is None:
            assert of_kind(other)[is_there].tolist() == of_kind(one)[is_there].tolist()
        else:  # ranks among fewer
            order = np.argsort(of_kind(one)[is_there], kind="stable")
            assert (np.diff(of_kind(other)[is_there][order]) >= 0).all()
        if one.agrees is not None and other.agrees is not None:
            assert other.agrees.tolist() == (one.agrees & is_there).tolist()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_missing_values_are_allowed_in_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    table = animals()
    write(tmp_path, table)
    kinds = ("old_class", "old_score", "judge_p", "n_words", "source", "e_cat")
    own = {"item_id": table["item_id"]}
    own |= {name: [None if row == 7 else v for row, v in enumerate(table[name])] for name in kinds}
    own |= {name: table[name] for name in ("e_dog", "e_cow")}
    path = tmp_path / f"own.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(own), path)
    elif ending == "jsonl":
        rows = [dict(zip(own, row, strict=True)) for row in zip(*own.values(), strict=True)]
        path.write_text("\n".join(json.dumps(row) for row in rows))
    else:
        empty = {name: ["" if v is None else v for v in values] for name, values in own.items()}
        write(tmp_path, empty, path.name)

    found = read(plan_of(tmp_path, *[one | {"predictions": path} for one in EVERY]))

    for one in found:
        assert np.flatnonzero(one.is_missing).tolist() == [7], one.plan.name


@pytest.mark.parametrize("values", [("yes", "no"), ("True", "False"), (1, 0), ("right", "wrong")])
def test_yes_and_no_are_an_opinion_too(tmp_path: Path, values: tuple[Any, Any]) -> None:
    table = animals() | {"judge_p": [values[row % 2] for row in range(N)]}
    write(tmp_path, table)
    (judge,) = read(plan_of(tmp_path, JUDGE))
    assert ((judge.value > 0) == (np.arange(N) % 2 == 0)).all()


def test_lists_of_probabilities_are_an_opinion_too(tmp_path: Path) -> None:
    table = animals()
    lists = [list(row) for row in zip(table["e_cat"], table["e_dog"], table["e_cow"], strict=True)]
    write(tmp_path, table)
    (by_columns,) = read(plan_of(tmp_path, ENSEMBLE))
    pq.write_table(
        pa.table({"item_id": table["item_id"][5:], "e": lists[5:]}), tmp_path / "e.parquet"
    )
    own = {"name": "ensemble", "probabilities": "e", "predictions": tmp_path / "e.parquet"}

    (by_list,) = read(plan_of(tmp_path, own))

    assert by_list.value[5:].tolist() == by_columns.value[5:].tolist()
    assert by_list.is_missing[:5].all()


def test_of_many_categories_the_frequent_ones_are_told_apart(tmp_path: Path) -> None:
    table = animals() | {"source": [f"s{min(row, 30)}" for row in range(N)]}
    write(tmp_path, table)
    (source,) = read(plan_of(tmp_path, SOURCE))
    assert source.categories[0] == "s30"
    assert len(source.categories) == 8
    assert source.categories[-1] == "other"


def test_a_class_that_our_model_never_says_is_another_one(tmp_path: Path) -> None:
    table = animals()
    table["old_class"][3] = "horse"
    write(tmp_path, table)
    (old,) = read(plan_of(tmp_path, OLD, classes=None))
    assert old.agrees is not None
    assert not old.agrees[3]
    assert not old.is_missing[3]


@pytest.mark.parametrize("falls", [False, True])
def test_an_opinion_that_follows_the_score_alone_leaves_strata_and_belief_as_they_are(
    tmp_path: Path, falls: bool
) -> None:
    table = animals()
    of_score = [10 - 9 * sure if falls else 2 * sure for sure in table["sure"]]
    same = {"old_class": table["said"], "old_score": table["sure"], "judge_p": table["sure"]}
    write(tmp_path, table | {"n_words": of_score} | same)
    pool = opened(plan_of(tmp_path, OLD, WORDS, JUDGE))
    alike, words, judge = pool.opinions
    write(tmp_path, table | {"n_words": [7] * N})

    constant = opened(plan_of(tmp_path, WORDS))

    assert (alike.terms, words.terms, judge.terms) == ((), (), ())
    assert pool.all_sure is None
    assert pool.cell_size.tolist() == constant.cell_size.tolist()


def test_what_a_compiled_pool_says_of_its_opinions_is_kept(tmp_path: Path) -> None:
    table = animals() | {"n_words": [7] * N}
    write(tmp_path, table)
    pool = opened(plan_of(tmp_path, *EVERY))

    old, _, words, source, ensemble = pool.opinions
    n = sum(a == b for a, b in zip(table["said"], table["old_class"], strict=True))
    assert old.agreed is not None
    assert old.agreed.sum() == n
    assert (old.n_missing, old.terms) == (0, ("old",))
    assert words.terms == ()  # the same of all items: it tells nothing
    assert source.terms == ("web", "mail")
    assert ensemble.agreed is not None
    for told in pool.opinions:
        assert np.abs(told.x @ pool.cell_size).max(initial=0) < 1e-5 * N


def test_opinions_of_the_pools_file_survive_rows_that_are_left_out(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    whole = read(plan_of(tmp_path, *EVERY))
    for column in ("item_id", "sure"):
        table[column][20] = ""
    write(tmp_path, table)

    pool = opened(plan_of(tmp_path, *EVERY, drop=["empty", "nan"]))

    assert pool.n_items == N - 1
    assert [told.n_missing for told in pool.opinions] == [0] * 5
    kept = np.arange(N) != 20
    for told, one in zip(pool.opinions, whole, strict=True):
        if one.agrees is not None:
            assert told.agreed is not None
            assert told.agreed.sum() == one.agrees[kept].sum()


def test_opinions_of_several_sites_are_joined_as_their_items_are(tmp_path: Path) -> None:
    one = opened(plan_of(write(tmp_path, animals()).parent, *EVERY))
    site = {"name": "site", "category": "site"}

    both = opened(plan_of(tmp_path, *EVERY, **two_sites(tmp_path)))

    assert both.n_items == 2 * N
    for single, double in zip(one.opinions, both.opinions, strict=True):
        assert double.n_missing == 0
        if single.agreed is not None and double.agreed is not None:
            assert double.agreed.sum() == 2 * single.agreed.sum()
    (by_site,) = opened(plan_of(tmp_path, site, **two_sites(tmp_path))).opinions
    assert by_site.terms == ("north", "south")


def test_other_opinions_of_several_sites_are_other_columns_of_the_joined_file(
    tmp_path: Path,
) -> None:
    sites = two_sites(tmp_path)
    first = opened(plan_of(tmp_path, WORDS, **sites))
    second = opened(plan_of(tmp_path, JUDGE, **sites))
    assert (first.opinions[0].kind, second.opinions[0].kind) == ("number", "right")


def test_where_an_opinions_file_lies_changes_no_plan_and_its_content_does(tmp_path: Path) -> None:
    table = animals()
    plans, pools = [], []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        write(folder, table)
        path = own_file(folder, table, ("judge_p",))
        plans.append(plan_of(folder, JUDGE | {"predictions": path, "id": "key"}))
        pools.append(opened(plans[-1]))
    assert plan_hash(plans[0]) == plan_hash(plans[1])
    assert pools[0].file_sha256 == pools[1].file_sha256
    assert stored_plan(plans[0].model_dump_json()) == plans[0]
    check_source(pools[0], plans[0])

    own_file(tmp_path / "one", table | {"judge_p": table["judge_p"][::-1]}, ("judge_p",))

    with pytest.raises(PoolChanged, match="the file of an opinion changed"):
        check_source(pools[0], plans[0])


def test_a_plan_without_opinions_has_the_hash_that_it_had(tmp_path: Path) -> None:
    assert "opinions" not in json.loads(plan_of(tmp_path).model_dump_json())["pool"]


def test_an_opinions_file_may_be_named_by_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    monkeypatch.delenv("ASSAY_PLAN_FOLDERS", raising=False)
    table = animals()
    write(tmp_path, table)
    store = fsspec.filesystem("memory")
    store.pipe("/bucket/own.csv", own_file(tmp_path, table, ("judge_p",)).read_bytes())
    (tmp_path / "plan.yaml").write_text(
        "assessment: a\npool:\n  predictions: a.csv\n  predicted: said\n  score: sure\n"
        "  data: {image: url}\n  opinions:\n"
        "    - {name: judge, predictions: memory://bucket/own.csv, id: key, right: judge_p}\n"
        "question: {task: identify}\n"
    )
    plan = load_plan(tmp_path / "plan.yaml")

    pool = opened(plan)

    (judge,) = pool.opinions
    assert judge.n_missing == N // 5
    store.rm("/bucket/own.csv")
    os.remove(tmp_path / "own.csv")
