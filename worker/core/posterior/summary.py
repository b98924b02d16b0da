"""What is known of every group's value: tally and prior, and what follows from them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, by_group, group_share, group_size, unlabelled
from worker.core.posterior.calibration import not_calibrated
from worker.core.posterior.distributions import (
    N_DRAWS,
    distribution_of_group,
    distributions_of_groups,
    joint_draws,
)
from worker.core.posterior.drawing import calibration_errors
from worker.core.posterior.joint import joint_loadings
from worker.core.posterior.marginals import Marginal, SampledMarginal
from worker.core.posterior.mixing import mixed
from worker.core.posterior.moments import moments
from worker.core.prior.shared import joined, spread_evenly

Floats = NDArray[np.float64]

_DRAWN_AT_ONCE = 256  # groups: what they take stays in the processor's own memory


def mean(b: Belief) -> Floats:
    """(G,) posterior mean of every group's value; nan for groups without items."""
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
    if b.metric.kind == "tpr":
        return _of_ratio(b)[0]
    return np.where(group_size(b) > 0, moments(b).mean, np.nan)


def variance(b: Belief) -> Floats:
    """(G,) posterior variance of the value; 0 for labelled, nan for empty groups."""
    if b.metric.kind == "tpr":
        return _of_ratio(b)[1]
    return np.where(group_size(b) > 0, moments(b).variance, np.nan)


def _of_ratio(b: Belief) -> tuple[Floats, Floats]:
    """(G,) each: mean and variance of the groups' draws; nan for groups without items.

    While few positive items are known a ratio is far from linear: where some hundred may have been
    missed and ten found, it would be taken for ten times as certain as it is.
    """
    if "of_ratio" not in b._memo:
        expected, spread = np.full((2, b.n_groups), np.nan)
        if b.variants:
            expected = mixed(b, lambda of: _of_ratio(of)[0])
            spread = mixed(b, lambda of: _of_ratio(of)[1] + (_of_ratio(of)[0] - expected) ** 2)
        else:
            for g, distribution in enumerate(marginals(b)):
                if distribution is not None:
                    values, mass = distribution.atoms()
                    expected[g] = values @ mass
                    spread[g] = (values - expected[g]) ** 2 @ mass
        b._memo["of_ratio"] = expected, spread
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


def atoms_of(b: Belief, g: int) -> tuple[Floats, Floats]:
    """The possible values of group `g`, ascending (K,), and their probabilities (K,).

    Exact, a fine quadrature, or a sample: see `marginals`. The probabilities sum to 1.

    Raises:
        ValueError: the group is unknown or has no items.
    """
    return marginal(b, g).atoms()


def interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) credible interval of each group's value; nan for empty groups.

    Equal-tailed; of an ECE that and the narrowest one (HPDI) together: it cannot be negative, an
    equal-tailed interval never reaches down to where it is most likely, and the narrowest one
    leaves all that is improbable on the other side. Nor would one of accuracy (or bias, or of the
    accuracy behind a confusion matrix) reach 1: so it does where no error was seen, and 0 where
    nothing else was; that of a cost reaches that of no error, that of an ECE either. Holds at least
    `level`: more, where the possible values are few.

    Raises:
        ValueError: `level` is not inside (0, 1).

    Source:
        The ends as Brown, Cai & DasGupta, "Interval estimation for a binomial proportion" (2001),
        section 3.1.2, have them.
    """
    tails = _tails(level)
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, distribution in enumerate(marginals(b)):
        if distribution is not None:
            is_sum = b.metric.kind == "ece"
            bounds[g] = _either(distribution, level) if is_sum else distribution.quantiles(tails)
    right, wrong = (np.bincount(b.group, of, b.n_groups) for of in (b.right, b.wrong))
    return _up_to_ends(bounds, _ends(b), right, wrong)


def _ends(b: Belief) -> Floats:
    """(G, 2) each group's value if all answers were right, and if none was; nan if unknown."""
    if b.metric.kind == "ece":
        return calibration_errors(b, np.stack([b.size, np.zeros_like(b.size)])).T
    if b.metric.kind == "bias":
        score = by_group(b, b.size * b.metric.score) / np.maximum(group_size(b), 1)
        return np.column_stack([score - 1.0, score])
    if b.metric.kind == "cost":
        least = by_group(b, b.size * b.metric.values[:, 0]) / np.maximum(group_size(b), 1)
        return np.column_stack([least, np.full(b.n_groups, np.nan)])
    is_share = b.metric.kind in ("accuracy", "confusion")
    return np.tile([1.0, 0.0] if is_share else [np.nan, np.nan], (b.n_groups, 1))


def _up_to_ends(bounds: Floats, ends: Floats, right: Any, wrong: Any) -> Floats:
    """(G, 2) bounds that hold an end if no label so far speaks against it.

    Args:
        ends: (G, 2). right, wrong: (G,) labels; a group without any may be all right.
    """
    held = np.where(np.stack([wrong == 0, (right == 0) & (wrong > 0)], axis=1), ends, np.nan)
    both = np.concatenate([bounds, held], axis=1)
    reached = np.column_stack([np.fmin.reduce(both, axis=1), np.fmax.reduce(both, axis=1)])
    return np.where(np.isnan(bounds), np.nan, reached)


def highest_density_interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) the narrowest interval of each group's value that holds `level`; nan for empty groups.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    _checked(level)
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, distribution in enumerate(marginals(b)):
        if distribution is not None:
            bounds[g] = _narrowest(distribution, level)
    return bounds


def _narrowest(distribution: Marginal, level: float) -> tuple[float, float]:
    x, mass = distribution.atoms()
    upto = np.concatenate([[0.0], np.cumsum(mass)])
    # for every first value the last one needed: the first where the mass suffices
    last = np.searchsorted(upto, upto[:-1] + level - 1e-12) - 1
    fits = last < x.size
    first = np.flatnonzero(fits)
    width = x[last[fits]] - x[first]
    at = int(width.argmin())
    return float(x[first[at]]), float(x[last[fits][at]])


def draws(b: Belief) -> Floats:
    """(2,000, G) draws of all groups' values, always the same for the same tally; nan where empty.

    Independent groups are drawn from their distributions, in as many equal parts as there are
    draws, each hit once and in random order (a Latin hypercube). What is shared joins them (a
    Gaussian copula); where more than rates is shared (calibration, kinds of errors, a component,
    doubtful labels) they are drawn together.
    """
    if b.metric.kind in ("ece", "cost", "tpr") or b.metric.pooled or b.variants:
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


def _either(distribution: Marginal, level: float) -> tuple[float, float]:
    """What the narrowest interval or the equal-tailed one holds."""
    low, high = _narrowest(distribution, level)
    first, last = distribution.quantiles(_tails(level)).tolist()
    return min(low, first), max(high, last)


def whole(b: Belief, level: float | None = None) -> tuple[float, float, float]:
    """Mean and interval of the sum of the groups' values, weighted by their shares.

    What is asked if the metric is pooled: the ECE of a pool whose groups are its bins, or the mean
    measure. Of a pool's ECE the first number is the median, which errs least on average: where the
    classifier is calibrated with some probability, and else off by far, the mean is neither.

    The interval is that of 2,000 draws, always the same ones for the same tally: as of `interval`,
    or of a measure the narrowest (HPDI). Of a pool's ECE it holds that of a classifier that is not
    calibrated, too: how probable a calibrated one is beforehand nobody knows, and by the posterior
    alone an ECE of .04 after few labels passes for that of one.

    Args:
        level: None for the metric's own.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    filled = np.flatnonzero(group_size(b))
    share = group_share(b)[filled]
    level = b.metric.level if level is None else level
    summed = SampledMarginal(draws_of_whole(b))
    if b.metric.kind == "measure":
        low, high = _narrowest(summed, _checked(level))
    else:
        is_ece, ends = b.metric.kind == "ece", share @ _ends(b)[filled]
        bounds = _either(summed, level) if is_ece else summed.quantiles(_tails(level))
        if is_ece and b.metric.pooled:
            off = SampledMarginal(np.sort(draws(not_calibrated(b))[:, filled] @ share))
            low, high = _either(off, level)
            bounds = min(bounds[0], low), max(bounds[1], high)
        right, wrong = (np.array([of.sum()]) for of in (b.right, b.wrong))
        low, high = _up_to_ends(np.array([bounds]), ends[None], right, wrong)[0].tolist()
    if b.metric.kind == "ece" and b.metric.pooled:
        return float(summed.quantiles(np.array([0.5]))[0]), low, high
    return float(mean(b)[filled] @ share), low, high


def draws_of_whole(b: Belief) -> Floats:
    """(2,000,) ascending draws of the sum of the groups' values, weighted by their shares."""
    filled = np.flatnonzero(group_size(b))
    return np.sort(draws(b)[:, filled] @ group_share(b)[filled])


def _tails(level: float) -> Floats:
    tail = (1 - _checked(level)) / 2
    return np.array([tail, 1 - tail])


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability inside (0, 1), such as 0.95.")
    return level
