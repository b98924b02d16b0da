"""What is known of every group's value: tally and prior, and what follows from them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, by_group, group_size, unlabelled
from worker.core.posterior.distributions import distribution_of_group, distributions_of_groups
from worker.core.posterior.drawing import N_DRAWS, joint_draws
from worker.core.posterior.joint import joint_loadings
from worker.core.posterior.marginals import Marginal
from worker.core.posterior.metrics import RATIOS
from worker.core.posterior.moments import moments
from worker.core.prior.copula import joined, spread_evenly

Floats = NDArray[np.float64]

_DRAWN_AT_ONCE = 256  # groups: what they take stays in the processor's own memory


def mean(b: Belief) -> Floats:
    """(G,) posterior mean of every group's value; nan for groups without items.

    Of recall, precision and F1 the median, which errs least on average.
    """
    if b.accuracies is not None:
        return b.accuracies.mean
    is_plain = (
        not b.variants
        and b.mixture.size == 1
        and b.metric.kind == "accuracy"
        and b.population == "finite"
    )
    if is_plain and "moments" not in b._memo:  # asked for by every ranking of a simulation
        a = b.alpha[:, 0] + b.right
        rate = a / (a + b.beta[:, 0] + b.wrong)
        size = group_size(b)
        right = by_group(b, b.right + unlabelled(b) * rate)
        return np.where(size > 0, right / np.maximum(size, 1), np.nan)
    if b.metric.kind in RATIOS:
        return _of_ratio(b)[0]
    return np.where(group_size(b) > 0, moments(b).mean, np.nan)


def variance(b: Belief) -> Floats:
    """(G,) posterior variance of the value; 0 for labelled, nan for empty groups.

    The squared error that is expected of `mean`, also where that is the median.
    """
    if b.accuracies is not None:
        return b.accuracies.variance
    if b.metric.kind in RATIOS:
        return _of_ratio(b)[1]
    return np.where(group_size(b) > 0, moments(b).variance, np.nan)


def _of_ratio(b: Belief) -> tuple[Floats, Floats]:
    """(G,) each: medians of the groups' draws, and squared errors expected of these; nan if empty.

    While few positive items are known a ratio is far from linear: where some hundred may have been
    missed and ten found, it would be taken for ten times as certain as it is. And it is skew: where
    none is missed most probably, but perhaps some, the mean is neither.
    """
    if "of_ratio" not in b._memo:
        middle, spread = np.full((2, b.n_groups), np.nan)
        for g, distribution in enumerate(marginals(b)):
            if distribution is not None:
                middle[g] = distribution.quantiles(np.array([0.5]))[0]
                values, mass = distribution.atoms()
                spread[g] = (values - middle[g]) ** 2 @ mass
        b._memo["of_ratio"] = middle, spread
    known: tuple[Floats, Floats] = b._memo["of_ratio"]
    return known


def marginals(b: Belief) -> list[Marginal | None]:
    """The distribution of each group's value, in the order of the groups; None for empty groups.

    Exact for accuracy (also that of a confusion matrix) and bias: beta-binomials for the finite
    population, the Beta for the infinite one with one cell and one component a group. Otherwise
    2,000 posterior draws, always the same ones for the same tally.
    """
    if b.parts:
        return [d for part in b.parts for d in marginals(part)]
    if "marginals" not in b._memo:
        before, stale = b._memo.pop("stale_marginals", (None, range(b.n_groups)))
        distributions: list[Marginal | None]
        distributions = [None] * b.n_groups if before is None else before.copy()
        sizes = group_size(b)
        filled = [g for g in stale if sizes[g]]
        for g, distribution in zip(filled, distributions_of_groups(b, filled), strict=True):
            distributions[g] = distribution
        b._memo["marginals"] = distributions
    known: list[Marginal | None] = b._memo["marginals"]
    return known


def marginal(b: Belief, g: int) -> Marginal:
    """The distribution of the value of group `g`.

    Raises:
        ValueError: there is no such group, or it has no items.
    """
    if not 0 <= g < b.n_groups:
        raise ValueError(
            f"group {g} is unknown: the belief covers groups 0 to {b.n_groups - 1}; "
            "pass one of these."
        )
    if not group_size(b)[g]:
        raise ValueError(
            f"group {g} has no items, so nothing can be said of its accuracy; leave it out."
        )
    return distribution_of_group(b, g)


def draws(b: Belief) -> Floats:
    """(2,000, G) draws of all groups' values, always the same for the same tally; nan where empty.

    Independent groups are drawn from their distributions, in as many equal parts as there are
    draws, each hit once and in random order (a Latin hypercube). What is shared joins them (a
    Gaussian copula); where more than rates is shared (calibration, kinds of errors, a component,
    doubtful labels) they are drawn together.
    """
    is_joint = b.metric.kind in ("ece", "cost", *RATIOS) or b.metric.pooled
    if is_joint or b.variants or b.accuracies:
        return joint_draws(b)
    if "draws" not in b._memo:
        rng, parts = np.random.default_rng(N_DRAWS), (np.arange(N_DRAWS) + 0.5) / N_DRAWS
        load = joint_loadings(b)
        common = spread_evenly(parts, load.shape[1], rng)
        drawn = np.empty((N_DRAWS, b.n_groups))
        for start in range(0, b.n_groups, _DRAWN_AT_ONCE):
            distributions = marginals(b)[start : start + _DRAWN_AT_ONCE]
            at = joined(parts, load[start : start + len(distributions)], common, rng)
            for row, distribution in zip(at, distributions, strict=True):
                row[:] = np.nan if distribution is None else distribution.quantiles(row)
            drawn[:, start : start + len(distributions)] = at.T
        b._memo["draws"] = drawn
    values: Floats = b._memo["draws"]
    return values


def correlations(b: Belief, pairs: Sequence[tuple[int, int]] | NDArray[np.intp]) -> Floats | None:
    """(P,) correlation of the normal scores of the groups of every pair; None if all are 0."""
    first, second = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
    if b.metric.classes == "each":  # an error of one class is a miss of another
        score = _normal_scores(joint_draws(b))
        of_draws: Floats = np.vecdot(score.T[first], score.T[second]) / len(score)
        return of_draws
    load = joint_loadings(b)
    if not load.any():
        return None
    rho: Floats = np.vecdot(load[first], load[second])
    return rho


def _normal_scores(drawn: Floats) -> Floats:
    """(n, G) normal scores, of variance 1, of each column's draws."""
    # Every report imports this module, and scipy.stats takes a quarter of a second.
    from scipy.stats import rankdata

    at = special.ndtri((rankdata(drawn, axis=0) - 0.5) / len(drawn))
    scores: Floats = at / np.sqrt((at**2).mean(axis=0))
    return scores
