"""How errors of groups share into kinds, from those that were seen."""

import numpy as np
import pytest

from worker.core.posterior.group_kinds import draw_group_kinds

N = 4000


def drawn(counts: list[list[int]]) -> np.ndarray:
    return draw_group_kinds(np.array(counts), np.random.default_rng(1), N)


def test_a_group_with_many_errors_shares_as_they_do() -> None:
    shares = drawn([[300, 100], [0, 0]])[:, 0]
    assert shares.mean(axis=0) == pytest.approx([0.75, 0.25], abs=0.01)
    assert shares.sum(axis=1) == pytest.approx(np.ones(N))


def test_many_errors_of_one_group_leave_the_others_open() -> None:
    other = drawn([[300, 0], [0, 0]])[:, 1, 0]
    assert 0.5 < other.mean() < 0.95
    assert np.quantile(other, 0.025) < 0.3


def test_where_groups_are_alike_they_tell_of_each_other_and_where_they_differ_little() -> None:
    alike = drawn([[45, 15]] * 8 + [[0, 0]])[:, -1, 0]
    apart = drawn([[60, 0], [0, 60]] * 4 + [[0, 0]])[:, -1, 0]
    assert alike.std() < 0.2 < 0.3 < apart.std()


def test_before_any_error_was_seen_all_kinds_are_as_likely() -> None:
    shares = drawn([[0, 0, 0]] * 3)
    assert shares.mean(axis=(0, 1)) == pytest.approx(np.full(3, 1 / 3), abs=0.02)
