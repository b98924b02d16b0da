"""Items that were annotated before the assessment began: what they count for, and what not."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.assessment import Assessment, assess
from worker.assessment.queueing import unclaimed_cells
from worker.core.confidence_sequences.guarantee import ends
from worker.core.posterior.belief import group_right, group_size, unlabelled
from worker.core.posterior.summary import interval, mean
from worker.plan import Plan
from worker.plan.project_part import ID, LABEL, PREDICTED, SCORE
from worker.pool import compile_pool
from worker.pool.known import labels_of_rows, set_apart
from worker.store.contract import State
from worker.turn.refill import choose

IS_SHORT = os.environ.get("ASSAY_SLOW") == "0"
CLASSES = ("cat", "dog", "cow")
RATE = {"cat": 0.95, "dog": 0.8, "cow": 0.6}


def truth_of(rng: np.random.Generator, n: int) -> tuple[list[str], list[float], list[str]]:
    """Predicted classes, scores and true classes of n items."""
    said = [CLASSES[i % 3] for i in range(n)]
    score = rng.uniform(0.4, 1.0, n)
    is_right = rng.random(n) < np.array([RATE[s] for s in said]) + 0.3 * (score - 0.7)
    true = [
        s if right else CLASSES[(CLASSES.index(s) + 1) % 3]
        for s, right in zip(said, is_right, strict=True)
    ]
    return said, score.round(4).tolist(), true


def assessment_of(
    folder: Path,
    said: list[str],
    score: list[float],
    known: list[str | None],
    use: str = "known",
    **parts: Any,
) -> Assessment:
    """An assessment of a project as it was read into a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "project-12-0123456789abcdef.parquet"
    columns = {
        ID: pa.array([str(i + 1) for i in range(len(said))]),
        PREDICTED: pa.array(said),
        SCORE: pa.array(score, pa.float64()),
        LABEL: pa.array(known, pa.string()),
        "text": pa.array([f"text {i}" for i in range(len(said))]),
    }
    pq.write_table(pa.table(columns), path)
    pool = {
        "predictions": path, "project": 12, "existing": use, "id": ID, "predicted": PREDICTED,
        "score": SCORE, "classes": CLASSES, "data": {"text": "text"}, "strata": 3,
        **parts.pop("pool", {}),
    }  # fmt: skip
    values = {"assessment": "full", "question": {"task": "identify"}, **parts, "pool": pool}
    plan = Plan.model_validate(values)
    return assess(plan, compile_pool(plan, folder / "pools"))


def state(work: Assessment, tally: dict[str, int] | None = None) -> State:
    return State("running", 0, 0, tally or {}, {}, {}, {}, 0)


def verdict(work: Assessment, tally: dict[str, int] | None = None) -> Any:
    now = state(work, tally)
    left = unclaimed_cells(work, now)
    belief = work.believe(now.tally)
    return work.decide(belief, int(left.sum()), work.earlier(now.tally), left)


codes = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=40,
)


@given(codes)
def test_known_items_lie_in_the_last_cell_of_their_group_and_unit(
    items: list[tuple[int, int, int, bool]],
) -> None:
    triples = sorted({item[:3] for item in items})
    cell = np.array([triples.index(item[:3]) for item in items], dtype=np.int32)
    group = np.array([t[0] for t in triples], dtype=np.int32)
    unit = np.array([t[1] for t in triples], dtype=np.int32)
    is_known = np.array([item[3] for item in items])

    new, new_group, new_unit = set_apart(is_known, cell, group, unit)

    assert sorted(set(new.tolist())) == list(range(len(new_group)))
    pairs = list(zip(new_group.tolist(), new_unit.tolist(), strict=True))
    assert pairs == sorted(pairs)
    for at, item in enumerate(items):
        assert (new_group[new[at]], new_unit[new[at]]) == item[:2]
        others = [b for b in range(len(items)) if items[b][:2] == item[:2]]
        for b in others:
            if item[3] and not items[b][3]:
                assert new[at] > new[b]
            assert (new[at] == new[b]) == (
                (item[3] and items[b][3]) or (not item[3] and item == items[b])
            )


@pytest.mark.parametrize("use", ["known", "random"])
def test_known_items_stand_first_in_their_cells_and_are_never_offered(
    tmp_path: Path, use: str
) -> None:
    rng = np.random.default_rng(1)
    said, score, true = truth_of(rng, 90)
    known = [t if rng.random() < 0.4 else None for t in true]
    work = assessment_of(tmp_path, said, score, known, use, queue={"look_ahead": 90})
    pool = work.pool
    assert pool.known is not None
    for cell in range(pool.n_cells):
        is_known = [
            known[int(pool.item(row).item_id) - 1] is not None for row in pool.rows_of(cell)
        ]
        assert is_known == sorted(is_known, reverse=True)
        assert sum(is_known) == pool.known.n_items[cell]

    now = state(work)
    claims = choose(work, work.believe({}), now)

    asked = {claim.item for claim in claims}
    assert asked == {str(i + 1) for i, label in enumerate(known) if label is None}


@pytest.mark.parametrize("use", ["known", "random"])
def test_the_pool_knows_which_item_has_which_label(tmp_path: Path, use: str) -> None:
    rng = np.random.default_rng(8)
    said, score, true = truth_of(rng, 150)
    known = [t if rng.random() < 0.5 else None for t in true]
    pool = assessment_of(tmp_path, said, score, known, use).pool
    assert pool.known is not None

    rows, labels = labels_of_rows(pool.known, pool.cell_start, pool.predicted)

    found = {pool.item(row).item_id: label for row, label in zip(rows, labels, strict=True)}
    assert found == {str(i + 1): label for i, label in enumerate(known) if label is not None}


@pytest.mark.parametrize("use", ["known", "random"])
def test_where_everything_was_annotated_all_is_known_at_once(tmp_path: Path, use: str) -> None:
    said, score, true = truth_of(np.random.default_rng(2), 60)
    work = assessment_of(tmp_path, said, score, list(true), use)

    found = verdict(work)

    assert (found.reason, found.certain, found.labels) == ("exhausted", True, 0)
    right = [
        sum(s == t for s, t in zip(said, true, strict=True) if s == name) / 20 for name in CLASSES
    ]
    assert mean(work.believe({})) == pytest.approx(right)


def test_a_random_sample_counts_as_the_same_labels_of_an_assessment_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    said, score, true = truth_of(rng, 120)
    known = [t if rng.random() < 0.3 else None for t in true]
    begun = assessment_of(tmp_path / "a", said, score, known, "random")
    fresh = assessment_of(tmp_path / "b", said, score, [None] * 120, "random")
    assert begun.pool.known is not None
    assert begun.pool.n_known >= 8

    before, labelled = begun.believe({}), fresh.believe(begun.pool.known.tally)

    for name in ("size", "right", "wrong", "alpha", "beta", "mixture"):
        assert np.array_equal(getattr(before, name), getattr(labelled, name)), name
    assert np.array_equal(
        begun.pool.cell_open, fresh.pool.cell_size - labelled.right - labelled.wrong
    )
    assert begun.spent(before) == 0
    assert fresh.spent(labelled) == begun.pool.n_known


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_is_known_tells_nothing_of_the_others(seed: int, is_wrong: bool) -> None:
    """Whatever the known outcomes are, the belief about all other items is the same."""
    rng = np.random.default_rng(seed)
    said, score, true = truth_of(rng, 120)
    is_known = rng.random(120) < 0.3
    other = [CLASSES[(CLASSES.index(s) + 1) % 3] if is_wrong else s for s in said]
    with TemporaryDirectory() as folder:
        first, second = (
            assessment_of(
                Path(folder) / name, said, score,
                [label if k else None for label, k in zip(labels, is_known, strict=True)],
            )
            for name, labels in (("a", true), ("b", other))
        )  # fmt: skip
        tally = labels_of_the_rest(first, true, 0.4)

        one, two = first.believe(tally), second.believe(tally)

    unknown = first.pool.cell_open > 0
    assert np.array_equal(one.alpha, two.alpha)
    assert np.array_equal(one.mixture, two.mixture)
    assert np.array_equal(one.right[unknown], two.right[unknown])
    counts = group_size(one) * (mean(one) - mean(two))
    assert counts == pytest.approx(group_right(one) - group_right(two))
    spread = interval(one) - interval(two)
    assert spread[:, 1] == pytest.approx(spread[:, 0])


def labels_of_the_rest(work: Assessment, true: list[str], share: float) -> dict[str, int]:
    """A tally of the first items of every cell that has unknown ones, as they are offered."""
    tally: dict[str, int] = {}
    for cell in np.flatnonzero(work.pool.cell_open):
        rows = list(work.pool.rows_of(int(cell)))[: int(np.ceil(share * work.pool.cell_size[cell]))]
        for row in rows:
            item = work.pool.item(row)
            key = f"0:{cell}:{item.predicted}:{true[int(item.item_id) - 1]}"
            tally[key] = tally.get(key, 0) + 1
    return tally


@pytest.mark.slow
def test_annotations_of_errors_only_do_not_bias_what_is_believed(tmp_path: Path) -> None:
    """Half of the wrong items were annotated, and no right one: truth lies within the intervals."""
    n_runs = 15 if IS_SHORT else 40
    inside, off, naive = [], [], []
    for seed in range(n_runs):
        rng = np.random.default_rng(100 + seed)
        said, score, true = truth_of(rng, 300)
        known = [
            t if t != s and rng.random() < 0.5 else None for s, t in zip(said, true, strict=True)
        ]
        truth = np.array(
            [
                np.mean([t == s for s, t in zip(said, true, strict=True) if s == name])
                for name in CLASSES
            ]
        )
        for use, into in (("known", off), ("random", naive)):
            work = assessment_of(tmp_path / f"{seed}-{use}", said, score, known, use)
            tally = {} if use == "random" else labels_of_the_rest(work, true, 0.25)
            belief = work.believe(tally)
            into.append(mean(belief) - truth)
            if use == "known":
                low, high = interval(belief).T
                inside += ((low <= truth + 1e-9) & (truth <= high + 1e-9)).tolist()

    assert np.mean(inside) >= 0.88  # of 95% intervals; three binomial sigma below it
    assert abs(np.mean(off)) < 0.02
    assert np.mean(naive) < -0.1  # as labels of a sample they would be misleading


def test_known_items_count_for_neither_budget_nor_the_least_number_of_labels(
    tmp_path: Path,
) -> None:
    said, score, true = truth_of(np.random.default_rng(5), 120)
    known = [t if i % 4 else None for i, t in enumerate(true)]
    stop = {"mrr": {"confidence": 0.6}, "min_per_group": 3, "looks": 1, "budget": 1}
    work = assessment_of(tmp_path, said, score, known, stop=stop)

    found = verdict(work)

    assert (found.reason, found.labels) == ("open", 0)
    assert [len(choose(work, work.believe({}), state(work)))] == [1]
    free = assessment_of(tmp_path / "free", said, score, known, stop={**stop, "min_per_group": 0})
    assert verdict(free).reason in ("answered", "open")


def test_the_guarantee_gains_and_loses_nothing_by_what_was_known(tmp_path: Path) -> None:
    """The band is that of the other items, with the known ones added as they are."""
    rng = np.random.default_rng(6)
    said, score, true = truth_of(rng, 240)
    known = [t if rng.random() < 0.3 else None for t in true]
    rest = [i for i, label in enumerate(known) if label is None]
    anytime = {"mrr": {"confidence": 0.9}, "guarantee": "anytime"}
    one = {"strata": 1}
    whole = assessment_of(tmp_path / "w", said, score, known, stop=anytime, pool=one)
    alone = assessment_of(
        tmp_path / "r", [said[i] for i in rest], [score[i] for i in rest], [None] * len(rest),
        stop=anytime, pool=one,
    )  # fmt: skip
    n_labels = {g: 12 for g in range(3)}
    right = {0: 11, 1: 9, 2: 4}

    def bands(work: Assessment) -> tuple[Any, Any]:
        tally = {}
        for cell in np.flatnonzero(work.pool.cell_open):
            g = int(work.pool.cell_group[cell])
            tally[f"0:{cell}:{g}:{CLASSES[g]}"] = right[g]
            tally[f"0:{cell}:{g}:{CLASSES[(g + 1) % 3]}"] = n_labels[g] - right[g]
        belief = work.believe(tally)
        assert work.confidence_sequence is not None
        nothing = np.zeros(work.pool.n_cells, dtype=np.int64)
        return belief, ends(belief, nothing, work.confidence_sequence, 0.02, 0.02)

    (b, band), (_, expected) = bands(whole), bands(alone)

    known_right = [
        sum(label == s for label, s in zip(known, said, strict=True) if s == name)
        for name in CLASSES
    ]
    sizes = np.array([sum(said[i] == name for i in rest) for name in CLASSES])
    assert band.low * group_size(b) == pytest.approx(expected.low * sizes + known_right)
    assert band.high * group_size(b) == pytest.approx(expected.high * sizes + known_right)
    assert (unlabelled(b)[whole.pool.cell_open == 0] == 0).all()
