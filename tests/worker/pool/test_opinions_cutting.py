"""Strata by score and opinions: bounded in number, of one agreement where there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.opinions_made import category, classifier, made, number
from worker.pool.groups import cell_codes
from worker.pool.opinions_cutting import cell_codes_by_opinions
from worker.pool.opinions_reading import Opinion

USUAL = 4  # items of a stratum, on average, where a group has few


@st.composite
def pools(draw: st.DrawFn) -> tuple[Any, Any, Any, list[Opinion], int]:
    n = draw(st.integers(1, 60))
    seed = draw(st.integers(0, 1 << 16))
    kinds = "".join(draw(st.lists(st.sampled_from("cnk"), min_size=1, max_size=4)))
    missing = draw(st.sampled_from([0.0, 0.3]))
    group, unit, score, opinions = made(n, seed, draw(st.integers(1, 4)), kinds, missing)
    rng = np.random.default_rng([seed, 1])
    unit = rng.integers(draw(st.integers(1, 3)), size=n).astype(np.int32)
    if draw(st.booleans()):
        score = score.round(1)
    if draw(st.booleans()):
        score = np.full(n, np.nan, np.float32)
    return group, unit, score, opinions, draw(st.sampled_from([1, 2, 3, 8, 16, 32]))


@given(pools())
def test_strata_are_bounded_in_number_in_order_and_without_holes(pool: Any) -> None:
    group, unit, _, _, n_strata = pool
    cell, cell_group, cell_unit = cell_codes_by_opinions(*pool)

    assert (cell_group[cell] == group).all()
    assert (cell_unit[cell] == unit).all()
    assert np.unique(cell).tolist() == list(range(cell_group.size))
    place = cell_group * 3 + cell_unit
    assert (np.diff(place) >= 0).all()
    for at in np.unique(place):
        n_items = int((group * 3 + unit == at).sum())
        assert (place == at).sum() <= max(1, min(n_strata, n_items // USUAL))


@given(pools(), st.randoms(use_true_random=False))
def test_the_same_items_get_the_same_strata_in_any_order(pool: Any, random: Any) -> None:
    group, unit, score, opinions, n_strata = pool
    rows = np.arange(group.size)
    random.shuffle(rows)
    cell, *of_cells = cell_codes_by_opinions(*pool)
    moved = [taken(one, rows) for one in opinions]
    other, *again = cell_codes_by_opinions(group[rows], unit[rows], score[rows], moved, n_strata)
    assert (other == cell[rows]).all()
    for one, same in zip(of_cells, again, strict=True):
        assert (one == same).all()


@given(pools(), st.randoms(use_true_random=False))
def test_items_of_which_all_is_alike_stay_together(pool: Any, random: Any) -> None:
    group, unit, score, opinions, n_strata = pool
    twice = np.concatenate([np.arange(group.size)] * 2)
    random.shuffle(twice)
    cell, *_ = cell_codes_by_opinions(
        group[twice], unit[twice], score[twice], [taken(one, twice) for one in opinions], n_strata
    )
    first = np.empty(group.size, np.int64)
    first[twice] = cell
    assert (first[twice] == cell).all()


def taken(one: Opinion, rows: Any) -> Opinion:
    agrees, code = (None if of is None else of[rows] for of in (one.agrees, one.code))
    return Opinion(one.plan, one.value[rows], agrees, code, one.categories)


@pytest.mark.parametrize("kinds", ["c", "cn", "cnk"])
@pytest.mark.parametrize("has_scores", [True, False])
def test_a_stratum_holds_items_of_one_agreement(kinds: str, has_scores: bool) -> None:
    group, unit, score, opinions = made(3_000, kinds=kinds)
    if not has_scores:
        score[:] = np.nan
    cell, *_ = cell_codes_by_opinions(group, unit, score, opinions, 16)
    agrees = np.asarray(opinions[0].agrees)
    share = np.bincount(cell, agrees) / np.bincount(cell)
    assert set(share) == {0.0, 1.0}


def test_a_group_of_few_items_is_one_stratum_whether_an_opinion_agrees_or_not() -> None:
    group, unit, score, opinions = made(21, kinds="c")
    group = np.repeat(np.arange(3, dtype=np.int32), 7)
    cell, *_ = cell_codes_by_opinions(group, unit, score, opinions, 16)
    assert (cell == group).all()


def test_what_an_opinion_does_not_say_lies_apart() -> None:
    group, unit, score, opinions = made(3_000, kinds="c", missing=0.2)
    cell, *_ = cell_codes_by_opinions(group, unit, score, opinions, 16)
    share = np.bincount(cell, opinions[0].is_missing) / np.bincount(cell)
    assert set(share) == {0.0, 1.0}


@pytest.mark.parametrize("constant", ["agrees", "number", "category"])
def test_a_constant_opinion_leaves_the_strata_by_the_score_as_many(constant: str) -> None:
    group, unit, score, _ = made(3_000)
    n = group.size
    opinion = {
        "agrees": classifier(np.full(n, 2.0), np.ones(n, np.bool_)),
        "number": number(np.zeros(n)),
        "category": category(np.zeros(n)),
    }[constant]
    _, without, _ = cell_codes(group, unit, score, 16)
    cell, cell_group, _ = cell_codes_by_opinions(group, unit, score, [opinion], 2 * 16)
    assert np.bincount(cell_group).tolist() == np.bincount(without).tolist()
    assert by_score(cell, group, score)


def by_score(cell: Any, group: Any, score: Any) -> bool:
    """Whether the strata of each group are intervals of the score, one after the other."""
    return bool((np.diff(cell[np.lexsort((score, group))]) >= 0).all())


def test_without_scores_strata_are_by_the_opinions_alone() -> None:
    group, unit, score, opinions = made(3_000, kinds="n")
    none = np.full_like(score, np.nan)
    cell, cell_group, _ = cell_codes_by_opinions(group, unit, none, opinions, 16)
    assert np.bincount(cell_group).tolist() == [16] * 3
    assert by_score(cell, group, opinions[0].value)


@pytest.mark.parametrize(("n_strata", "most"), [(13, 13), (16, 8), (2, 2), (1, 1)])
def test_of_very_many_groups_each_has_half_as_many(n_strata: int, most: int) -> None:
    n_groups = 600 if n_strata > 2 else 8_001
    pool = made(60 * n_groups, n_groups=n_groups, kinds="cn")
    _, cell_group, _ = cell_codes_by_opinions(*pool, n_strata)
    assert np.bincount(cell_group).max() == most
