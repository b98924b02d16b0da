"""The narrowest interval is ArviZ's; regions tell several modes apart; densities are densities."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from worker.evaluator.density import density
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.intervals import density_region, hpdi, right_tailed

DISTRIBUTIONS = {
    "normal": (stats.norm(), None, None),
    "exponential": (stats.expon(), 0.0, None),
    "beta": (stats.beta(0.7, 5), 0.0, 1.0),
    "gamma": (stats.gamma(3), 0.0, None),
}
samples = arrays(np.float64, st.integers(25, 200), elements=st.floats(-100, 100, width=32))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95])


@given(samples, levels)
def test_the_narrowest_interval_is_that_of_arviz(sample, level):
    assert hpdi(sample, level) == pytest.approx(tuple(array_stats.hdi(sample, level)))


@given(samples, levels)
def test_no_interval_between_two_numbers_of_the_sample_that_holds_as_many_is_narrower(
    sample, level
):
    low, high = hpdi(sample, level)
    ordered = np.sort(sample)
    n = int(np.floor(level * sample.size)) + 1
    narrowest = min(ordered[i + n - 1] - ordered[i] for i in range(sample.size - n + 1))
    assert high - low == narrowest
    assert ((sample >= low) & (sample <= high)).sum() >= n


@given(samples, levels)
def test_the_right_tailed_interval_leaves_its_tail_to_the_right(sample, level):
    end = right_tailed(sample, level)
    assert (sample <= end).mean() >= level - 1 / sample.size
    assert (sample < end).mean() <= level + 1 / sample.size


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_of_large_samples_they_come_to_the_intervals_of_the_distribution(name):
    distribution, low, high = DISTRIBUTIONS[name]
    sample = distribution.rvs(200_000, random_state=np.random.default_rng(5))
    starts = np.linspace(1e-9, 0.1 - 1e-9, 2001)
    ends = distribution.ppf(starts + 0.9)
    at = (ends - distribution.ppf(starts)).argmin()
    width = ends[at] - distribution.ppf(starts[at])
    found = hpdi(sample, 0.9)
    assert found[1] - found[0] == pytest.approx(width, rel=0.01)
    assert right_tailed(sample, 0.9) == pytest.approx(distribution.ppf(0.9), rel=0.02)
    of = density(sample, low, high)
    assert of.mass.sum() == pytest.approx(1)
    (piece,) = density_region(sample, of, 0.9)
    assert piece.high - piece.low == pytest.approx(width, rel=0.05)
    assert piece.share == pytest.approx(0.9, abs=0.02)
    between = np.diff(distribution.cdf([*(of.at - of.step / 2), of.at[-1] + of.step / 2]))
    assert np.abs(between - of.mass).sum() < 0.05


def test_two_modes_are_two_pieces_where_the_narrowest_interval_spans_the_gap():
    rng = np.random.default_rng(2)
    sample = np.concatenate([rng.normal(-4, 0.5, 30_000), rng.normal(4, 1, 20_000)])
    pieces = density_region(sample, density(sample), 0.9)
    expected = array_stats.hdi(sample, 0.9, method="multimodal")
    assert len(pieces) == 2
    for piece, one in zip(pieces, expected, strict=False):
        assert (piece.low, piece.high) == pytest.approx(tuple(one), abs=0.1)
    low, high = hpdi(sample, 0.9)
    assert sum(p.high - p.low for p in pieces) < (high - low) / 1.5
    assert sum(p.share for p in pieces) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_one_mode_is_one_piece_also_in_smaller_samples(name, seed):
    distribution, low, high = DISTRIBUTIONS[name]
    sample = distribution.rvs(500, random_state=np.random.default_rng(seed))
    assert len(density_region(sample, density(sample, low, high), 0.9)) == 1


def test_a_sample_of_one_or_two_values_has_pieces_of_no_width():
    same = np.full(50, 0.3)
    (piece,) = density_region(same, density(same, 0.0, 1.0))
    assert (piece.low, piece.high, piece.share) == (0.3, 0.3, 1.0)
    assert hpdi(same) == (0.3, 0.3)
    two = np.repeat([0.0, 1.0], 50)
    assert [round(p.share, 2) for p in density_region(two, density(two, 0.0, 1.0))] == [0.5, 0.5]


@pytest.mark.parametrize("apart", [1e-7, 5e-7, 5e-5])
def test_values_that_rounding_tells_apart_are_drawn_as_one(apart):
    sample = np.repeat(np.float32([0.97, 0.97 + apart]), 30)
    shape = density(sample)
    assert shape.mass.sum() == pytest.approx(1)
    assert hpdi(sample)[1] - hpdi(sample)[0] <= 1e-4


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95])
def test_levels_that_are_no_probabilities_are_refused(level):
    for of in (hpdi, right_tailed):
        with pytest.raises(EvaluatorError, match=r"expected a probability inside \(0, 1\)"):
            of(np.arange(10.0), level)


def test_a_single_number_has_no_interval():
    with pytest.raises(EvaluatorError, match="needs more than 1 numbers"):
        hpdi(np.array([1.0]))
