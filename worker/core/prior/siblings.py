"""Partial pooling across siblings: what labels of the other groups of a parent say of a group.

A group's effect is that of its parent and one of its own,

    tau (sqrt(rho) v_parent + sqrt(1 - rho) u_group),    u, v ~ N(0, 1),

where tau is that of `prior.empirical`, fitted without parents. rho, the share of the variance
that siblings have in common, is averaged over a grid: where parents are few, labels hardly tell it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.hyperparameters import Hyperparameters, Level, Scores, closeness, rate_of
from worker.core.prior.rising import log_rising, rising

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Half of the prior is for siblings that have nothing in common: groups are left nearly alone where
# labels do not tell.
SHARES = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])
_PRIOR = np.array([7.0, 1, 1, 1, 1, 1, 1, 1]) / 14
_PARENT = np.linspace(-3.0, 3.0, 13)  # the nodes of a parent's effect, and their probabilities
_NODE = special.softmax(-(_PARENT**2) / 2)
_EFFECT = np.linspace(-4.0, 4.0, 33)  # of a group, in standard deviations


def levels(
    h: Hyperparameters, scores: Scores, right: Ints, wrong: Ints, group: Ints, parent: Ints
) -> Level:
    """How far siblings' labels shift each group's effect, and what is left of its variance.

    A group's own labels say nothing here: they are counted when its posterior is worked out.

    Args:
        right, wrong: (C,) labelled items. group: (C,) ascending.
        parent: (G,) of each group, 0..P-1; -1 for a group that has none.

    Returns:
        What they say of each cell. What is left is above 1 where their labels leave open whether
        the group is like them or not.

    Source:
        Leave-one-out conditional posteriors of a nested normal random effect (Gelman & Hill, "Data
        Analysis Using Regression and Multilevel/Hierarchical Models", 2007, ch. 12), matched by
        mean and variance; its integrals by quadrature.
    """
    tau = float(np.exp(h.log_tau))
    told = _likelihoods(h, tau, scores, right, wrong, group, parent.size)
    own = np.exp(told - told.max(axis=1, keepdims=True))
    has_parent = np.flatnonzero(parent >= 0)
    of, n_parents = parent[has_parent], int(parent.max(initial=-1)) + 1
    evidence, mean, square = [], [], []
    for rho in SHARES.tolist():
        away = (_EFFECT - np.sqrt(rho) * _PARENT[:, None]) ** 2
        density = np.exp(-away / (2 * (1 - rho)))
        density /= density.sum(axis=1, keepdims=True)
        given = np.log(own @ density.T)[has_parent]  # of each group's labels, by node of v
        summed = np.zeros((n_parents, _PARENT.size))
        np.add.at(summed, of, given)
        evidence.append(special.logsumexp(summed + np.log(_NODE), axis=1).sum())
        node = special.softmax(summed[of] - given + np.log(_NODE), axis=1)
        of_v = node @ _PARENT
        mean.append(np.sqrt(rho) * of_v)
        square.append(rho * (node @ _PARENT**2) + 1 - rho)
    weight = special.softmax(np.array(evidence) + np.log(_PRIOR))
    shift, left = np.zeros(parent.size), np.ones(parent.size)
    shift[has_parent] = weight @ np.array(mean)
    left[has_parent] = weight @ np.array(square) - shift[has_parent] ** 2
    return Level(tau * shift[group], left[group], np.zeros(group.size))


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
