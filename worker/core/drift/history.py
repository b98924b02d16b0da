"""What labels of an earlier pool are still worth: a power prior whose discount is inferred.

An earlier label counts as delta labels, 0 <= delta <= 1. How much is still believed may differ
between groups: every group draws its delta as it draws its group effect, so that the components of
a belief are pairs of the two, and the new labels weigh the pairs exactly. How often groups draw
which delta (the rate of drift) is learnt from all groups.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, Ints
from worker.core.posterior.moments import moments

Floats = NDArray[np.float64]

# What an earlier label may be worth. The steps between 0 and 1 are for small drifts, where many old
# labels are worth some tens of new ones.
DISCOUNTS = np.array([0.0, 0.03, 0.1, 0.3, 1.0])

_LEAST_WEIGHT = 1e-250  # so that no component is ruled out for ever by underflow
_N_POINTS = 2000
_BLOCK = 1 << 21  # numbers held at once


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """A prior as `Belief` takes it: alpha, beta (C, V), mixture (V,) or (G, V)."""

    alpha: Floats
    beta: Floats
    mixture: Floats


def no_rate() -> Floats:
    """(D,) how often groups draw each discount before anything is known of it: all alike."""
    rate: Floats = np.full(DISCOUNTS.size, 1 / DISCOUNTS.size)
    return rate


def with_history(
    prior: Prior, group: Ints, n_groups: int, history: Ints, rate: Floats, is_pooled: bool = False
) -> Prior:
    """The prior that earlier labels make of a prior, under every discount.

    Given the discount d and the component u of its group, a cell's rate is Beta(alpha_u + d right,
    beta_u + d wrong); the component's probability is mixture_u times the mean, over the rates that
    the component expects, of the d-th power of the likelihood of the group's earlier labels,
    normalised for each d. So the earlier labels are used once, and a discount is weighed by the new
    labels alone.

    Args:
        prior: before any label; mixture (U,).
        group: (C,) ascending.
        history: (C, 2) earlier labels in each cell, right and wrong, >= 0.
        rate: (D,) probabilities of `DISCOUNTS`, >= 0, that sum to 1; those of 0 are left out.
        is_pooled: all groups share one component and one discount.

    Returns:
        V = D U components, those of the first discount first; mixture (G, V), or (V,) if pooled.

    Raises:
        ValueError: the rate, or the history, does not fit.

    Source:
        Ibrahim & Chen, "Power prior distributions for regression models" (2000), normalised as by
        Duan, Ye & Smith, "Evaluating water quality using power priors" (2006), eq. 5; here on a
        grid, with a discount for every group, and a rate that the groups share.
    """
    if history.shape != (group.size, 2) or (history < 0).any():
        raise ValueError(
            f"history has shape {history.shape} and a least entry of {history.min(initial=0)}, for "
            f"{group.size} cells; pass the earlier right and wrong labels of every cell, (C, 2)."
        )
    if rate.shape != DISCOUNTS.shape or not (rate >= 0).all() or abs(rate.sum() - 1) > 1e-9:
        raise ValueError(
            f"rate is {rate}; pass a probability for each of the {DISCOUNTS.size} discounts; they "
            "sum to 1."
        )
    right, wrong = history[:, :1], history[:, 1:]
    some = np.flatnonzero(rate)
    alphas = [prior.alpha + d * right for d in DISCOUNTS[some]]
    betas = [prior.beta + d * wrong for d in DISCOUNTS[some]]
    seen = np.flatnonzero(history.sum(axis=1))
    before = special.betaln(prior.alpha[seen], prior.beta[seen])
    weights = []
    for p, a, b in zip(rate[some], alphas, betas, strict=True):
        told = np.zeros((n_groups, prior.mixture.size))
        np.add.at(told, group[seen], special.betaln(a[seen], b[seen]) - before)
        if is_pooled:
            told = told.sum(axis=0)
        logs = np.log(prior.mixture) + told
        weight = np.exp(logs - logs.max(axis=-1, keepdims=True))
        weight = np.maximum(weight / weight.sum(axis=-1, keepdims=True), _LEAST_WEIGHT)
        weights.append(p * weight / weight.sum(axis=-1, keepdims=True))
    return Prior(
        np.concatenate(alphas, axis=1),
        np.concatenate(betas, axis=1),
        np.concatenate(weights, axis=-1),
    )


def full_worth() -> Floats:
    """(D,) the rate by which every earlier label counts as one."""
    rate: Floats = (DISCOUNTS == 1.0).astype(np.float64)
    return rate


def weight_of_discounts(b: Belief) -> Floats:
    """(G, D) posterior probabilities of each group's discount, of a belief made `with_history`."""
    weight = moments(b).weight
    by_discount: Floats = weight.reshape(len(weight), DISCOUNTS.size, -1).sum(axis=2)
    return by_discount


def believed_share(b: Belief) -> Floats:
    """(G,) how much of an earlier label is still believed: the mean discount, in [0, 1]."""
    share: Floats = weight_of_discounts(b) @ DISCOUNTS
    return share


def drift(b: Belief, rate: Floats) -> Floats:
    """(D,) how often groups draw each discount, judged by all of them: the posterior mean.

    The mode will not do: while labels are few the likelihood is nearly flat, and its peak lies in a
    corner of the simplex, where all groups are sure of one discount.

    Args:
        b: made `with_history` under `rate`, with the new labels.

    Source:
        Importance sampling from Dirichlet(1/2, ..., 1/2) by the marginal likelihood of the new
        labels, at 2,000 points that are always the same.
    """
    if b.metric.pooled:  # one discount for all
        weight = weight_of_discounts(b)[:1] / rate
    else:
        told = np.unique(b.group[(b.right + b.wrong) > 0])
        weight = weight_of_discounts(b)[told] / rate
    points = np.random.default_rng(_N_POINTS).dirichlet(np.full(rate.size, 0.5), _N_POINTS)
    points = np.maximum(points, 1e-4)
    points /= points.sum(axis=1, keepdims=True)
    fits = np.zeros(len(points))
    for some in np.array_split(weight, 1 + weight.shape[0] * len(points) // _BLOCK):
        fits += np.log(points @ some.T).sum(axis=1)
    chance = np.exp(fits - fits.max())
    mean = chance @ points
    found: Floats = mean / mean.sum()
    return found
