"""Items annotated before the assessment began: where they stand, and that none is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.known_pool import CLASSES, assessment_of, truth_of
from worker.assessment import Assessment
from worker.assessment.queueing import unclaimed_cells
from worker.core.posterior.summary import mean
from worker.pool.known import labels_of_rows, set_apart
from worker.store.contract import State
from worker.turn.refill import choose


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
