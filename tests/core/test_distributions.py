"""The distribution of a group's value under every metric, its intervals and its draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.core.enumeration import beliefs, exact_atoms, made, mean_and_variance
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.counts import distribution_of
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import labelled, with_prior
from worker.core.posterior.intervals import interval, narrowest
from worker.core.posterior.marginals import BetaMarginal, FiniteMarginal, SampledMarginal
from worker.core.posterior.metrics import RATIOS, Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.rates import draw_cells
from worker.core.posterior.summary import marginal, marginals, mean, variance
from worker.core.questions.ranking import set_confidence
from worker.core.questions.rewards import squared_error

SAMPLED = ("cost", "ece", *RATIOS)
every_metric = pytest.mark.parametrize("kind", ["accuracy", "bias", *SAMPLED])
every_population = pytest.mark.parametrize("population", ["finite", "infinite"])
# A sample of 2,000 strays further than this from its distribution once in 20,000 times (DKW).
DKW = 0.0515


def summed(b, g):
    """The distinct values of a group, ascending, and their probabilities, over all completions."""
    x, p = exact_atoms(b, g)
    order = np.argsort(x)
    first = np.flatnonzero(np.diff(x[order], prepend=-np.inf) > 1e-9)
    return x[order][first], np.add.reduceat(p[order], first)


@pytest.mark.parametrize("kind", ["accuracy", "bias"])
@settings(max_examples=40)
@given(data=st.data())
def test_the_distribution_of_an_affine_metric_is_that_over_all_completions(kind, data):
    b = data.draw(beliefs(kind, population="finite"))
    for g in np.unique(b.group):
        x, p = marginal(b, int(g)).atoms()
        expected_x, expected_p = summed(b, g)
        assert x == pytest.approx(expected_x)
        assert p == pytest.approx(expected_p, abs=1e-10)


@pytest.mark.parametrize("kind", SAMPLED)
def test_a_sampled_distribution_is_near_that_over_all_completions(kind):
    rng = np.random.default_rng(7)
    for _ in range(4):
        b = made(rng, kind, 5)
        found = marginal(b, 0)
        assert isinstance(found, SampledMarginal)
        x, p = summed(b, 0)
        at_least = np.cumsum(p[::-1])[::-1]
        assert found.reaches(x) == pytest.approx(at_least, abs=DKW)
        assert found.exceeds(x) == pytest.approx(at_least - p, abs=DKW)


def test_a_sampled_distribution_is_the_same_for_the_same_tally_and_another_for_another_group():
    b = made(np.random.default_rng(8), "cost", 5, n_groups=2)
    again = Belief(
        b.group, b.size, b.right, b.wrong, b.alpha, b.beta, 2, mixture=b.mixture, metric=b.metric,
        errors=b.errors,
    )  # fmt: skip
    assert marginal(b, 0) is marginal(again, 0)
    assert marginal(b, 0) is not marginal(b, 1)


@pytest.mark.parametrize("field", ["size", "mixture", "unit"])
def test_beliefs_that_differ_in_one_array_have_different_sampled_distributions(field):
    none, ones = np.zeros(2, np.int64), np.ones((2, 2))

    def value(changed):
        size = np.array([6, 6 if changed != "size" else 60])
        mixture = np.array([0.5, 0.5]) if changed != "mixture" else np.array([0.001, 0.999])
        unit = np.array([0, int(changed != "unit")])
        metric = Metric("ece", score=np.array([0.2, 0.9]), unit=unit)
        b = Belief(none, size, none, none, ones, ones * [1, 50], 1, mixture=mixture, metric=metric)
        return interval(b).tolist()

    assert value(field) != value(None)


def marginals_of_each_kind():
    """A distribution of each kind."""
    b = made(np.random.default_rng(9), "accuracy", 6, n_components=(3,))
    sample = np.sort(np.random.default_rng(1).normal(size=500))
    return [
        marginal(b, 0),
        FiniteMarginal(distribution_of(((5, 1.0, 2.0), (3, 0.5, 0.5))), 4, 20, -0.3),
        BetaMarginal(2.0, 5.0, 0.1),
        SampledMarginal(sample),
    ]


@pytest.mark.parametrize(
    "one", marginals_of_each_kind(), ids=["components", "count", "beta", "sample"]
)
def test_mirroring_gives_the_distribution_of_minus_the_value(one):
    turned = one.mirrored()
    x, p = one.atoms()
    turned_x, turned_p = turned.atoms()
    assert turned_x == pytest.approx(-x[::-1])
    assert turned_p == pytest.approx(p[::-1], abs=1e-9)
    assert turned.low == pytest.approx(-one.high)
    assert turned.high == pytest.approx(-one.low)
    points = np.concatenate([x, x + 1e-4, x - 1e-4])
    assert turned.reaches(-points) == pytest.approx(1 - one.exceeds(points), abs=1e-12)
    assert turned.exceeds(-points) == pytest.approx(1 - one.reaches(points), abs=1e-12)
    back = turned.mirrored()
    assert back.reaches(points) == pytest.approx(one.reaches(points), abs=1e-12)


@every_metric
@settings(max_examples=40)
@given(data=st.data())
def test_once_all_is_labelled_mean_interval_and_draws_are_one_value(kind, data):
    """Also where a group has no item that the metric is about: then no positive was missed."""
    b = data.draw(beliefs(kind, population="finite"))
    while (left := unlabelled(b)).any():
        last = 1 if b.errors is None else b.errors.counts.shape[1]
        b = labelled(b, int(left.argmax()), data.draw(st.integers(0, last)))
    of_groups = mean(b)
    assert interval(b) == pytest.approx(of_groups[:, None].repeat(2, axis=1), nan_ok=True)
    drawn = draw(b, np.random.default_rng(1), 3)
    assert drawn == pytest.approx(of_groups[None].repeat(3, axis=0), nan_ok=True)


@every_population
@every_metric
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_every_interval_holds_its_level_of_the_completions(kind, population, level):
    rng = np.random.default_rng(11)
    b = made(rng, kind, 5, n_cells=(2, 2), population=population, n_groups=2)
    slack = 1e-9 if kind in ("accuracy", "bias") and population == "finite" else DKW
    if population == "infinite":
        slack += 0.1  # the quadrature that it is held against has few points
    tails, narrow = interval(b, level), np.array([narrowest(d, level) for d in marginals(b)])
    for g in range(2):
        x, p = exact_atoms(b, g, 24)
        for low, high in (tails[g], narrow[g]):
            assert p[(x >= low - 1e-9) & (x <= high + 1e-9)].sum() >= level - slack
        assert p[x < tails[g, 0] - 1e-9].sum() <= (1 - level) / 2 + slack
        assert p[x > tails[g, 1] + 1e-9].sum() <= (1 - level) / 2 + slack
        assert narrow[g, 1] - narrow[g, 0] <= tails[g, 1] - tails[g, 0] + 1e-6


@settings(max_examples=40)
@given(b=beliefs("accuracy", population="finite", max_size=6), level=st.sampled_from([0.5, 0.9]))
def test_no_narrower_interval_than_the_highest_density_one_holds_the_level(b, level):
    for g in np.unique(b.group):
        low, high = narrowest(marginal(b, int(g)), level)
        x, p = marginal(b, int(g)).atoms()
        holding = [
            x[j] - x[i]
            for i in range(x.size)
            for j in range(i, x.size)
            if p[i : j + 1].sum() >= level - 1e-10
        ]
        assert high - low == pytest.approx(min(holding))
        assert p[(x >= low - 1e-9) & (x <= high + 1e-9)].sum() >= level - 1e-9


def test_the_highest_density_interval_of_an_endless_group_is_that_of_its_beta():
    b = Belief(np.zeros(1, int), *(np.array([n]) for n in (50, 3, 17)), np.ones(1), np.ones(1), 1,
               "infinite")  # fmt: skip
    beta = stats.beta(4, 18)
    low = np.linspace(0, beta.ppf(0.05), 20_001)
    width = beta.ppf(beta.cdf(low) + 0.95) - low
    expected = low[width.argmin()], low[width.argmin()] + width.min()
    found = np.array(narrowest(marginal(b, 0), 0.95))  # its ends are middles of bins
    assert found == pytest.approx(expected, abs=0.01)
    assert found[1] - found[0] == pytest.approx(width.min(), abs=1e-3)


N_DRAWS = 40_000


@every_population
@every_metric
def test_draws_have_the_mean_and_the_variance_of_the_completions(kind, population):
    rng = np.random.default_rng(12)
    n_cells = (2, 2) if kind in RATIOS else (1, 2)  # one cell has positives only
    b = made(rng, kind, 5, n_cells=n_cells, population=population, n_groups=3)
    theta = draw(b, rng, N_DRAWS)
    for g in range(3):
        mean, variance = mean_and_variance(b, g, 24)
        kurtosis = ((theta[:, g] - mean) ** 4).mean() / variance**2
        # five standard errors, and what 24 points miss where the value has a kink
        off = 5 * np.sqrt(variance / N_DRAWS) + (1e-3 if kind == "ece" else 0)
        assert theta[:, g].mean() == pytest.approx(mean, abs=off)
        relative = 5 * np.sqrt((kurtosis - 1) / N_DRAWS) + (0.02 if kind == "ece" else 0)
        assert theta[:, g].var() == pytest.approx(variance, rel=relative)
    correlation = np.corrcoef(theta.T) - np.eye(3)
    assert abs(correlation).max() < 5 / np.sqrt(N_DRAWS)


@every_population
@pytest.mark.parametrize("kind", RATIOS)
def test_recall_precision_and_f1_are_medians_with_their_errors_over_the_completions(
    kind, population
):
    rng = np.random.default_rng(16)
    for _ in range(6):
        b = made(rng, kind, 5, n_cells=(2, 2), population=population)
        x, p = exact_atoms(b, 0, 24)
        middle = mean(b)[0]
        off = 5 / np.sqrt(2000)  # of a share of draws
        assert p[x < middle - 1e-9].sum() < 0.5 + off
        assert p[x > middle + 1e-9].sum() < 0.5 + off
        assert variance(b)[0] == pytest.approx(p @ (x - middle) ** 2, rel=0.2)
        assert squared_error(b) == variance(b)[0]


def test_where_hardly_a_positive_is_known_the_error_of_a_recall_is_no_small_one():
    none = np.zeros(2, np.int64)
    b = Belief(
        none, np.array([1000, 10]), none, none, np.ones(2), np.array([0.02, 1.0]), 1,
        metric=Metric("recall", unit=np.array([0, 1])),
    )  # fmt: skip
    drawn = draw(b, np.random.default_rng(17), N_DRAWS)[:, 0]
    assert drawn.std() > 0.2
    off = np.sqrt(((drawn - mean(b)[0]) ** 2).mean())
    assert np.sqrt(squared_error(b)) == pytest.approx(off, rel=0.1)
    assert (drawn < mean(b)[0]).mean() <= 0.55
    assert (drawn > mean(b)[0]).mean() <= 0.55
    again = with_prior(b, b.alpha, b.beta, b.mixture)
    assert (mean(again), variance(again)) == (mean(b), variance(b))


def test_the_accuracy_is_drawn_for_a_confusion_matrix():
    rng = np.random.default_rng(13)
    b = made(rng, "confusion", 6, n_components=(3,))
    theta = draw(b, rng, N_DRAWS)[:, 0]
    x, p = exact_atoms(b, 0)
    assert theta.mean() == pytest.approx(p @ x[:, 0], abs=5 * theta.std() / np.sqrt(N_DRAWS))


def test_cells_of_a_group_are_drawn_with_their_common_component():
    none, size = np.zeros(2, np.int64), np.full(2, 9)
    alpha, mixture = np.tile([1.0, 99.0], (2, 1)), np.array([0.4, 0.6])
    b = Belief(none, size, none, none, alpha, alpha[:, ::-1], 1, mixture=mixture)
    rng = np.random.default_rng(14)
    rates = np.array([draw_cells(b, rng) for _ in range(4000)])
    assert ((rates > 0.5).mean(axis=1) % 1 == 0).all()  # both high or both low
    assert (rates[:, 0] > 0.5).mean() == pytest.approx(0.6, abs=0.04)
    assert moments(b).weight[0] == pytest.approx(mixture)


@pytest.mark.parametrize("which", ["lowest", "highest"])
@pytest.mark.parametrize("chosen", [[1], [0, 2]])
def test_the_confidence_in_a_set_of_sampled_values_is_near_that_over_all_completions(which, chosen):
    b = made(np.random.default_rng(15), "cost", 4, n_cells=(1, 1), n_groups=3)
    sign = 1 if which == "lowest" else -1
    distributions = [summed(b, g) for g in range(3)]
    at = np.indices([p.size for _, p in distributions]).reshape(3, -1)
    theta, p = (np.stack([d[i][j] for d, j in zip(distributions, at, strict=True)]) for i in (0, 1))
    rest = [g for g in range(3) if g not in chosen]
    right = (sign * theta[chosen]).max(axis=0) <= (sign * theta[rest]).min(axis=0) + 1e-9
    expected = p.prod(axis=0) @ right
    assert set_confidence(b, chosen, which) == pytest.approx(expected, abs=2 * DKW)


def test_sampled_values_that_are_known_exactly_make_a_certain_set():
    b = made(np.random.default_rng(16), "cost", 4, n_cells=(1, 2), n_groups=4)
    while unlabelled(b).any():
        b = labelled(b, int(unlabelled(b).argmax()), 1)
    order = np.argsort(moments(b).mean)
    assert set_confidence(b, order[:2].tolist()) == 1.0
    assert set_confidence(b, order[2:].tolist(), "highest") == 1.0
    assert set_confidence(b, order[1:3].tolist()) == 0.0
