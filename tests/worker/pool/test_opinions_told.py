"""What opinions tell of the strata: terms of mean 0, one for each thing that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.opinions_made import category, classifier, made, number
from worker.pool.opinions import SAYS_NOTHING, all_sure, told_by

N = 400
CELL = (np.arange(N) % 12).astype(np.int32)
SIZE = np.bincount(CELL)


@given(st.integers(0, 1 << 16), st.sampled_from(["c", "nk", "cnkc"]), st.sampled_from([0.0, 0.3]))
def test_every_term_has_mean_0_over_the_items(seed: int, kinds: str, missing: float) -> None:
    _, _, score, opinions = made(N, seed, kinds=kinds, missing=missing)
    told = told_by(opinions, CELL, 12)
    assert [one.n_missing for one in told] == [int(one.is_missing.sum()) for one in opinions]
    for one in told:
        assert one.x.shape == (len(one.terms), 12)
        assert one.x @ SIZE == pytest.approx(np.zeros(len(one.terms)), abs=1e-6 * N)
    every = all_sure(opinions, score, CELL, 12)
    if "c" in kinds:
        assert every is not None
        assert every @ SIZE == pytest.approx(0, abs=1e-6 * N)


@pytest.mark.parametrize("name", ["other", SAYS_NOTHING])
def test_a_category_that_is_called_as_another_term_is_a_term_of_its_own(name: str) -> None:
    code = np.arange(N) % 5 % 4 - 1
    code[CELL == 0], code[CELL == 1] = 0, 1
    (told,) = told_by([category(code, (name, "mail", "other"))], CELL, 12)
    assert told.terms == (name, "mail", "other", SAYS_NOTHING)
    for k, x in zip((0, 1, 2, -1), told.x, strict=True):
        share = np.bincount(CELL, code == k) / SIZE
        assert x == pytest.approx(share - (code == k).mean())


def test_all_are_sure_where_each_is_surer_than_of_most() -> None:
    score = np.where(np.arange(N) % 2, 0.9, 0.6)
    judge = np.where(np.arange(N) % 3, 2.0, -1.0)
    every = sure(score, classifier(judge, judge > 0))
    expected = np.bincount(CELL, (score > 0.8) & (judge > 0)) / SIZE
    assert np.corrcoef(every, expected)[0, 1] == pytest.approx(1)
    assert (every * SIZE).sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("value", [0.1, 2.0, -3.7])
def test_an_opinion_that_is_as_sure_of_every_item_leaves_the_others_alone(value: float) -> None:
    score = np.where(np.arange(N) % 2, 0.9, 0.6)
    judge = np.where(np.arange(N) % 3, 2.0, -1.0)
    one = classifier(judge, judge > 0)
    constant = classifier(np.full(N, value), np.full(N, value > 0))
    assert (sure(score, one, constant) == sure(score, one)).all()
    assert all_sure([constant], score, CELL, 12) is None


def test_where_nobody_says_whether_we_are_right_there_is_no_such_term() -> None:
    score = np.where(np.arange(N) % 2, 0.9, 0.6)
    assert all_sure([number(np.arange(N))], score, CELL, 12) is None
    judge = classifier(np.arange(N), np.arange(N) > 0)
    assert all_sure([judge], np.full(N, np.nan), CELL, 12) is None


def sure(score: Any, *opinions: Any) -> Any:
    found = all_sure(opinions, score, CELL, 12)
    assert found is not None
    return found
