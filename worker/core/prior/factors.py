"""Partial pooling across factors: what labels of other groups say of one that has levels with them.

Groups that are products (topics by models, classes by sites), or that lie within parents, have
levels of factors in common. A group's effect is the sum of those of its levels, and one of its own,

    tau (sum_f sqrt(r_f) v_f + sqrt(1 - sum_f r_f) u_group),    u, v ~ N(0, 1),

where tau is that of `prior.empirical`, fitted without factors. The shares r of its variance are
averaged over a grid: where levels are few, labels hardly tell them.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.hyperparameters import Hyperparameters, Level, Scores, closeness, rate_of
from worker.core.prior.rising import log_rising, rising

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Half of the prior is for groups that have nothing in common: they are left nearly alone where
# labels do not tell.
_SHARES = (0.0, 0.1, 0.25, 0.45, 0.7, 0.9)
_LEAST_OWN = 0.1  # share of the variance
_EFFECT = np.linspace(-4.0, 4.0, 33)  # of a group, in standard deviations
_LEAST_VARIANCE = 0.25**2 / 12  # of what lies at one node
_NODE = special.softmax(-(_EFFECT**2) / 2)


def levels(
    h: Hyperparameters, scores: Scores, right: Ints, wrong: Ints, group: Ints, factors: Ints
) -> Level:
    """How far labels of other groups shift each group's effect, and what is left of its variance.

    A group's own labels say nothing here: they are counted when its posterior is worked out.

    Args:
        right, wrong: (C,) labelled items. group: (C,) ascending.
        factors: (F, G) the level of each group, from 0.

    Returns:
        What they say of each cell. What is left is above 1 where their labels leave open whether
        the group is like them or not.

    Source:
        Leave-one-out predictions of crossed normal random effects (Gelman & Hill, "Data Analysis
        Using Regression and Multilevel/Hierarchical Models", 2007, ch. 13), the likelihood of each
        group's labels matched by mean and variance (Minka, "Expectation propagation", 2001, once).
    """
    tau = float(np.exp(h.log_tau))
    told = _likelihoods(h, tau, scores, right, wrong, group, factors.shape[1])
    own = special.softmax(told + np.log(_NODE), axis=1)
    mean = own @ _EFFECT
    variance = np.maximum(own @ _EFFECT**2 - mean**2, _LEAST_VARIANCE)
    precision = np.maximum(1 / variance - 1, 0.0)
    grid = [
        shares
        for shares in product(_SHARES, repeat=len(factors))
        if sum(shares) <= 1 - _LEAST_OWN + 1e-9
    ]
    found = [_given(shares, mean / variance, precision, factors) for shares in grid]
    prior = np.where([any(shares) for shares in grid], 0.5 / (len(grid) - 1), 0.5)
    weight = special.softmax(np.array([one[0] for one in found]) + np.log(prior))
    means, variances = (np.array([one[at] for one in found]) for at in (1, 2))
    shift = weight @ means
    left = weight @ (variances + means**2) - shift**2
    return Level(tau * shift[group], left[group], np.zeros(group.size))


def _given(
    shares: tuple[float, ...], pulled: Floats, precision: Floats, factors: Ints
) -> tuple[float, Floats, Floats]:
    """The log marginal likelihood, and (G,) means and variances of the groups' effects.

    Args:
        pulled, precision: (G,) the natural parameters of what each group's labels say.
    """
    own = 1 - sum(shares)
    known = precision / (1 + own * precision)  # of the sum of the levels' effects
    toward = pulled / (1 + own * precision)
    evidence = float((pulled * own * toward - np.log1p(own * precision)).sum()) / 2
    if not any(shares):
        return evidence, np.zeros(pulled.size), np.full(pulled.size, own)
    # the factor of most levels first: among these the precision is diagonal
    told = [(share, of) for share, of in zip(shares, factors, strict=True) if share]
    (share, first), *others = sorted(told, key=lambda one: -one[1].max())
    sizes = [int(of.max()) + 1 for _, of in others]
    at = [of + begin for (_, of), begin in zip(others, np.cumsum([0, *sizes]), strict=False)]
    prior = np.repeat([share for share, _ in others], sizes)
    diagonal = 1 / share + np.bincount(first, known)
    crossed, rest = np.zeros((diagonal.size, prior.size)), np.diag(1 / prior)
    toward_first, toward_rest = np.bincount(first, toward), np.zeros(prior.size)
    for column in at:
        toward_rest += np.bincount(column, toward, prior.size)
        np.add.at(crossed, (first, column), known)
        for other in at:
            np.add.at(rest, (column, other), known)
    ratio = crossed / diagonal[:, None]
    schur = rest - crossed.T @ ratio
    covariance = np.linalg.inv(schur)
    of_rest = covariance @ (toward_rest - toward_first @ ratio)
    of_first = toward_first / diagonal - ratio @ of_rest
    evidence += float(toward_first @ of_first + toward_rest @ of_rest) / 2
    evidence -= float(np.log(share * diagonal).sum() + np.log(prior).sum()) / 2
    evidence -= float(np.linalg.slogdet(schur)[1]) / 2

    between = -ratio @ covariance
    mean = of_first[first]
    variance = (1 / diagonal - np.vecdot(between, ratio))[first]
    for column in at:
        mean = mean + of_rest[column]
        variance = variance + 2 * between[first, column]
        variance += sum(covariance[column, other] for other in at)
    left = np.maximum(1 / variance - known, 1e-12)
    return evidence, (mean / variance - toward) / left, own + 1 / left


def _likelihoods(
    h: Hyperparameters,
    tau: float,
    scores: Scores,
    right: Ints,
    wrong: Ints,
    group: Ints,
    n_groups: int,
) -> Floats:
    """(G, E) log likelihood of each group's labels, by its effect."""
    at = np.flatnonzero(right + wrong)
    centre = h.curve(scores.x[:, at])[:, None]
    lapse = scores.lapses(h.log_lapse)[at]
    mu = rate_of(special.expit(centre + tau * _EFFECT), lapse)
    s = np.exp(h.log_s) * closeness(rate_of(special.expit(centre), lapse))
    of_cell = log_rising(s * mu, rising(right[at]))[0]
    of_cell += log_rising(s * (1 - mu), rising(wrong[at]))[0]
    of_cell -= log_rising(s, rising((right + wrong)[at]))[0]
    of_group = np.zeros((n_groups, _EFFECT.size))
    np.add.at(of_group, group[at], of_cell)
    return of_group
