"""The empirical prior: what scores say of accuracy is learnt from the labels of all groups.

Errors sit where the score is low. How steeply accuracy rises with the score, how much groups differ
beyond it, and how far cells stray from both, is fitted to the labels; groups share strength, and an
overconfident or underconfident classifier is corrected after some tens of labels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]

# The nodes of the group effect: a standard normal on 13 points.
GRID = np.linspace(-3.0, 3.0, 13)
NODE = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()

LEAST_RATE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What the classifier's scores say of the cells, before any label.

    cell: (C,) mean logit score of each cell's items. group: (C,) mean logit score of the items of
    its group, less that of the pool. Both 0 where there are no scores.
    """

    cell: Floats
    group: Floats


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """theta_c | u ~ Beta(s mu, s (1 - mu)), u ~ N(0, 1), and
    mu = (1 - lapse) expit(a + b cell + d group + tau u).

    The lapse is the share of items that are wrong however sure the classifier is: wrong labels,
    and confident mistakes. Without it the curve promises that the surest items hold no error at
    all, and a group with a handful of them is told apart wrongly, and with confidence.
    """

    a: float = 0.0
    b: float = 0.7
    d: float = 0.0
    log_s: float = 2.5
    log_tau: float = -1.0
    log_lapse: float = -6.0


# Weak normal priors (mean, standard deviation) on the six, in their order: enough to hold the fit
# while labels are few, to be overruled by some tens of them.
WEAK = np.array([[0.0, 1.5], [0.7, 0.5], [0.0, 0.5], [2.5, 1.0], [-1.0, 0.7], [-6.0, 1.0]])


def prior_of(h: Hyperparameters, scores: Scores) -> tuple[Floats, Floats, Floats]:
    """alpha (C, U), beta (C, U) and node (U,) of the prior that the hyperparameters describe."""
    centre = h.a + h.b * scores.cell + h.d * scores.group
    curve = special.expit(centre[:, None] + np.exp(h.log_tau) * GRID)
    mu = np.clip((1 - np.exp(h.log_lapse)) * curve, LEAST_RATE, 1 - LEAST_RATE)
    s = np.exp(h.log_s)
    return s * mu, s * (1 - mu), NODE


def fit(
    right: NDArray[np.int64], wrong: NDArray[np.int64], group: NDArray[np.int64], scores: Scores
) -> Hyperparameters:
    """The hyperparameters of largest marginal posterior density, given the labels of all groups.

    Args:
        right, wrong: (C,) labelled items. group: (C,) ascending.

    Source:
        Empirical Bayes by the beta-binomial marginal likelihood; the group effect is integrated
        over its 13 nodes.
    """
    at = np.flatnonzero(right + wrong)
    if not at.size:
        return Hyperparameters()
    of = group[at]
    begin = np.flatnonzero(np.diff(of, prepend=-1))
    local = np.cumsum(np.diff(of, prepend=of[0]) > 0)
    x = np.stack([np.ones(at.size), scores.cell[at], scores.group[at]])
    r, w = right[at, None].astype(np.float64), wrong[at, None].astype(np.float64)

    def loss(p: Floats) -> tuple[float, Floats]:
        s, tau = np.exp(p[3]), np.exp(p[4])
        centre = p[0] * x[0] + p[1] * x[1] + p[2] * x[2]
        curve, lapse = special.expit(centre[:, None] + tau * GRID), np.exp(p[5])
        mu = np.clip((1 - lapse) * curve, LEAST_RATE, 1 - LEAST_RATE)
        alpha, beta = s * mu, s * (1 - mu)
        n = r + w
        logs = (
            special.gammaln(alpha + r) - special.gammaln(alpha)
            + special.gammaln(beta + w) - special.gammaln(beta)
            - special.gammaln(s + n) + special.gammaln(s)
        )  # fmt: skip
        by_node = np.add.reduceat(logs, begin, axis=0) + np.log(NODE)
        top = by_node.max(axis=1, keepdims=True)
        weight = np.exp(by_node - top)
        total = weight.sum(axis=1, keepdims=True)
        weight = (weight / total)[local]
        log_likelihood = float((top + np.log(total)).sum())
        up = special.psi(alpha + r) - special.psi(alpha)
        down = special.psi(beta + w) - special.psi(beta)
        change = weight * s * (up - down)  # of the log likelihood with mu
        slope = change * mu * (1 - curve)
        per_cell = slope.sum(axis=1)
        strength = (
            s * (weight * (mu * up + (1 - mu) * down - special.psi(s + n) + special.psi(s))).sum()
        )
        group_effect = tau * (slope * GRID).sum()
        lapsing = -lapse * (change * curve).sum()
        gradient = np.array([*(x @ per_cell), strength, group_effect, lapsing])
        off = (p - WEAK[:, 0]) / WEAK[:, 1]
        value = log_likelihood - 0.5 * float(off @ off)
        return -value, -(gradient - off / WEAK[:, 1])

    found = optimize.minimize(loss, WEAK[:, 0], jac=True, method="L-BFGS-B", options={"gtol": 1e-3})
    return Hyperparameters(*(float(value) for value in found.x))
