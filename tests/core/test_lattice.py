"""The law of a difference of two models: exact where it says so, and near it where it does not."""

from itertools import product

import numpy as np
import pytest

from worker.core import lattice
from worker.core.belief import Belief
from worker.core.drawing import draw
from worker.core.lattice import difference_law
from worker.core.metrics import Errors, Metric
from worker.core.moments import moments
from worker.core.posterior import marginal
from worker.core.supposing import labelled

LEFT = np.array([2, 3])
A = np.array([[0.7, 2.0], [3.0, 1.5]])
C = np.array([[1.1, 1.0], [0.9, 2.5]])
KINDS = np.array([[0.6, 0.9], [2.0, 0.4]])
WEIGHT = np.array([0.3, 0.7])


def _in_turn(n: int, weights: tuple[float, ...]) -> dict[tuple[int, ...], float]:
    """Counts of n items by an urn to which every drawn kind is added: enumerated, item by item."""
    found = {(0,) * len(weights): 1.0}
    for _ in range(n):
        after: dict[tuple[int, ...], float] = {}
        for counts, p in found.items():
            total = sum(weights) + sum(counts)
            for kind, weight in enumerate(weights):
                more = tuple(c + (k == kind) for k, c in enumerate(counts))
                after[more] = after.get(more, 0.0) + p * (weight + counts[kind]) / total
        found = after
    return found


def test_the_law_is_that_of_urns_enumerated_item_by_item():
    expected = np.zeros(2 * LEFT.sum() + 1)
    for u, weight in enumerate(WEIGHT):
        cells = []
        for n, a, c, kinds in zip(LEFT, A[:, u], C[:, u], KINDS, strict=True):
            of_cell: dict[int, float] = {}
            for (first, rest), p in _in_turn(int(n), (a, c)).items():
                for (second, _), q in _in_turn(rest, tuple(kinds)).items():
                    of_cell[first - second] = of_cell.get(first - second, 0.0) + p * q
            cells.append(of_cell)
        for (x, p), (y, q) in product(cells[0].items(), cells[1].items()):
            expected[x + y + LEFT.sum()] += weight * p * q
    law = difference_law(LEFT, A, C, KINDS, WEIGHT)
    assert law.pmf == pytest.approx(expected, abs=1e-13)


def test_where_it_is_taken_for_normal_it_is_near(monkeypatch):
    rng = np.random.default_rng(1)
    left = rng.integers(20, 60, size=12)
    a, c = rng.uniform(1, 9, (12, 3)), rng.uniform(1, 9, (12, 3))
    kinds = rng.uniform(0.5, 5, (12, 2))
    weight = np.array([0.2, 0.5, 0.3])
    exact = difference_law(left, a, c, kinds, weight)
    monkeypatch.setattr(lattice, "_WORK", 0)
    near = difference_law(left, a, c, kinds, weight)
    assert np.abs(exact.at_least - near.at_least).max() < 0.01


def test_nothing_left_is_certain():
    law = difference_law(np.array([0]), A[:1], C[:1], KINDS[:1], WEIGHT)
    assert law.pmf.tolist() == [1.0]


def _belief() -> Belief:
    rng = np.random.default_rng(2)
    counts = np.array([[1, 2], [0, 3], [2, 0], [1, 1]])
    return Belief(
        np.array([0, 0, 1, 1]), np.array([12, 9, 8, 15]), np.array([3, 1, 2, 4]),
        counts.sum(axis=1), rng.uniform(0.5, 3, (4, 2)), rng.uniform(0.5, 3, (4, 2)), 2,
        node=np.array([0.4, 0.6]), metric=Metric("difference"),
        errors=Errors(counts, rng.uniform(0.3, 2, (4, 2))),
    )  # fmt: skip


def test_law_moments_and_draws_agree():
    b = _belief()
    drawn = draw(b, np.random.default_rng(3), 40_000)
    for g in range(2):
        x, p = marginal(b, g).atoms()
        mean = x @ p
        assert moments(b).mean[g] == pytest.approx(mean, abs=1e-12)
        assert moments(b).variance[g] == pytest.approx((x - mean) ** 2 @ p, rel=1e-9)
        assert drawn[:, g].mean() == pytest.approx(mean, abs=0.005)
        assert drawn[:, g].var() == pytest.approx((x - mean) ** 2 @ p, rel=0.05)


def test_the_expected_drop_is_that_of_the_three_answers():
    b = _belief()
    known = moments(b)
    for cell in range(4):
        errors = b.errors
        kinds = errors.counts[cell] + errors.prior[cell]
        p = [known.rate[cell], *(1 - known.rate[cell]) * kinds / kinds.sum()]
        g = int(b.group[cell])
        after = [moments(labelled(b, cell, y)).variance[g] for y in range(3)]
        assert known.drop[cell] == pytest.approx(known.variance[g] - np.dot(p, after), rel=1e-9)
