"""Beliefs whose labels are in doubt say the mean of what their whole tallies say."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.enumeration import beliefs
from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.drawing import draw
from worker.core.posterior.entries import confusion_interval
from worker.core.posterior.intervals import interval
from worker.core.posterior.metrics import RATIOS
from worker.core.posterior.mixing import likeliest, mixed, weighed, with_variants
from worker.core.posterior.summary import draws, marginal, marginals, mean, variance
from worker.core.questions.comparison import region, regions
from worker.core.questions.question import Question, StopRule
from worker.core.questions.ranking import ranking, set_confidence
from worker.core.questions.reciprocal_rank import mrr_confidence
from worker.core.stopping.rule import decide

KINDS = ("accuracy", "bias", "ece", "cost", "confusion", *RATIOS)


def tallies_of(b: Belief, moves: list[tuple[int, bool]]) -> list[np.ndarray]:
    """The belief's own tally, and some in which single items have the other outcome."""
    errors = b.wrong[:, None] if b.errors is None else b.errors.counts
    own = np.concatenate([b.right[:, None], errors], axis=1)
    found = [own]
    for cell, to_wrong in moves:
        other = own.copy()
        source, target = (0, 1) if to_wrong else (1, 0)
        if other[cell % len(own), source]:
            other[cell % len(own), source] -= 1
            other[cell % len(own), target] += 1
        found.append(other)
    return found


def in_doubt(data: st.DataObject, kind: str) -> Belief:
    b = data.draw(beliefs(kind, "finite"))
    assume(group_size(b).any())
    moves = data.draw(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4))
    mixture = with_variants(b, tallies_of(b, moves))
    assume(mixture.variants)
    return mixture


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in RATIOS])
@given(data=st.data())
def test_mean_and_variance_are_those_of_the_mixture(kind: str, data: st.DataObject) -> None:
    b = in_doubt(data, kind)
    filled = group_size(b) > 0
    means = np.array([mean(v) for v in b.variants])[:, filled]
    variances = np.array([variance(v) for v in b.variants])[:, filled]

    np.testing.assert_allclose(mean(b)[filled], means.mean(axis=0), atol=1e-9)
    expected = variances.mean(axis=0) + means.var(axis=0)
    if kind == "confusion":  # the variance is of all entries
        expected = variance(b)[filled]
    np.testing.assert_allclose(variance(b)[filled], expected, atol=1e-9)


@pytest.mark.parametrize("kind", RATIOS)
@given(data=st.data())
def test_recall_precision_and_f1_are_the_medians_of_the_mixture(
    kind: str, data: st.DataObject
) -> None:
    b = in_doubt(data, kind)
    for g in np.flatnonzero(group_size(b)):
        middle = mean(b)[g]
        values, mass = marginal(b, int(g)).atoms()
        assert mass[values < middle - 1e-9].sum() <= 0.5 + 1e-9
        assert mass[values > middle + 1e-9].sum() <= 0.5 + 1e-9
        assert variance(b)[g] == pytest.approx((values - middle) ** 2 @ mass)


@pytest.mark.parametrize("kind", ["accuracy", "bias"])
@given(data=st.data())
def test_the_distribution_of_a_group_is_the_mean_of_the_distributions(
    kind: str, data: st.DataObject
) -> None:
    b = in_doubt(data, kind)
    for g in np.flatnonzero(group_size(b)):
        values, masses = marginal(b, int(g)).atoms()
        assert masses.sum() == pytest.approx(1)
        at = np.unique(values.round(9))
        got = np.array([masses[np.isclose(values, x)].sum() for x in at])
        expected = np.zeros(at.size)
        for weight, variant in weighed(b):
            own, mass = marginal(variant, int(g)).atoms()
            expected += weight * np.array([mass[np.isclose(own, x)].sum() for x in at])
        np.testing.assert_allclose(got, expected, atol=1e-9)


@given(data=st.data())
def test_claims_are_as_sure_as_the_tallies_are_on_average(data: st.DataObject) -> None:
    b = in_doubt(data, "accuracy")
    order = ranking(b)
    assume(order.size >= 2)
    chosen = [int(order[0])]
    each = [set_confidence(v, chosen) for v in b.variants]
    found = mrr_confidence(b, order, 1, "lowest", 0.99, 0.0, np.random.default_rng(0))
    assert found == pytest.approx(np.mean(each))
    pair = (int(order[0]), int(order[1]))
    expected = np.mean([region(v, *pair, 0.1) for v in b.variants], axis=0)
    np.testing.assert_allclose(region(b, *pair, 0.1), expected, atol=1e-9)
    np.testing.assert_allclose(regions(b, (pair,), 0.1), [expected], atol=1e-9)


@given(data=st.data())
def test_draws_are_of_all_tallies(data: st.DataObject) -> None:
    b = in_doubt(data, "accuracy")
    filled = group_size(b) > 0
    drawn = draw(b, np.random.default_rng(0), 4000)[:, filled]
    error = 5 * np.sqrt(variance(b)[filled] / 4000) + 1e-9
    assert (np.abs(drawn.mean(axis=0) - mean(b)[filled]) < error).all()
    assert draws(b).shape == (2000, b.n_groups)
    assert all((d is None) == (not full) for d, full in zip(marginals(b), filled, strict=True))


@given(data=st.data())
def test_the_entries_of_a_confusion_matrix_hold_their_means(data: st.DataObject) -> None:
    b = in_doubt(data, "confusion")
    filled = np.flatnonzero(group_size(b))
    bounds, means = confusion_interval(b, 0.999)[filled], mixed(b, confusion_mean)[filled]
    assert ((bounds[..., 0] <= means + 1e-9) & (means - 1e-9 <= bounds[..., 1])).all()


def plain(right: list[int], wrong: list[int], size: int = 20) -> Belief:
    n = len(right)
    return Belief(
        np.arange(n), np.full(n, size), np.array(right), np.array(wrong), np.ones(n), np.ones(n), n
    )


def test_equal_tallies_are_no_doubt() -> None:
    b = plain([3, 1], [0, 2])
    same = with_variants(b, [np.array([[3, 0], [1, 2]])] * 5)
    assert not same.variants
    np.testing.assert_array_equal(mean(same), mean(b))


def test_doubt_widens_the_intervals_and_lowers_the_confidence() -> None:
    b = plain([15, 5], [5, 15])
    doubtful = with_variants(
        b, [np.array([[15 - k, 5 + k], [5 + k, 15 - k]]) for k in range(-5, 11)]
    )
    assert np.diff(interval(b)).max() == 0  # all is labelled
    assert (np.diff(interval(doubtful)) > 0.2).all()
    rule = StopRule("mrr", 0.99, 0.95, None, 0)
    surely = decide(b, Question("identify"), rule, 40, 0)
    hardly = decide(doubtful, Question("identify"), rule, 40, 0)
    assert (surely.confidence, surely.certain) == (1, True)
    assert (hardly.reason, hardly.certain) == ("exhausted", False)
    assert hardly.confidence is not None
    assert hardly.confidence < 0.95


@pytest.mark.parametrize("more", [3, 4, 12, 13])
def test_labels_in_doubt_in_a_group_of_many_items_keep_the_mean(more: int) -> None:
    b = plain([60, 3], [40, 0], size=30_000)
    other = np.array([[60 + more, 40 - more], [3, 0]])
    doubtful = with_variants(b, [np.array([[60, 40], [3, 0]]), other])
    for g in range(2):
        values, masses = marginal(doubtful, g).atoms()
        apart = [np.dot(*marginal(v, g).atoms()) for v in doubtful.variants]
        assert values @ masses == pytest.approx(np.mean(apart), abs=1e-9)


def test_the_likeliest_tally_is_what_is_chosen_by() -> None:
    b = with_variants(
        plain([3, 1], [0, 2]), [np.array([[3, 0], [1, 2]]), np.array([[2, 1], [1, 2]])]
    )
    assert b.variants
    chosen_by = likeliest(b)
    assert not chosen_by.variants
    np.testing.assert_array_equal(chosen_by.right, [3, 1])
    np.testing.assert_allclose(mean(chosen_by), mean(plain([3, 1], [0, 2])))
