"""The cells of some groups with all that their moments are made of: rates, spreads, nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, group_size, starts, unlabelled

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Part:
    """The cells of some neighbouring groups (c cells, g groups) and their posterior nodes."""

    size: Floats  # (g,) items
    of: NDArray[np.intp]  # (c,) which of the groups
    begin: NDArray[np.intp]  # (g,)
    left: Floats  # (c, 1)
    mass: Floats  # (c, 1) items that the rate stands for
    rho: Floats  # (c, U) mean rate of right answers
    spread: Floats  # (c, U) variance of the number of right answers to come
    gain: Floats  # (c, U) how far the expected number of right answers moves with a label
    total: Floats  # (c, U) pseudo-counts and labels
    weight: Floats  # (g, U)
    known: Any  # (c,) labels that count as they are: all of them, or none


def part_of(b: Belief, groups: NDArray[np.intp], cells: slice) -> Part:
    right, wrong = b.right[cells, None], b.wrong[cells, None]
    a = b.alpha[cells] + right
    total = a + (b.beta[cells] + wrong)
    rho = a / total
    left = unlabelled(b)[cells, None].astype(np.float64)
    if b.population == "finite":
        mass, gain = left, (total + left) / (total + 1)
        spread = left * rho * (1 - rho) * gain
    else:
        mass = b.size[cells, None].astype(np.float64)
        gain = mass / (total + 1)
        spread = mass * rho * (1 - rho) * gain
    begins = starts(b)
    begin = (begins[groups] - cells.start).astype(np.intp)
    counts = begins[groups + 1] - begins[groups]
    of = np.repeat(np.arange(groups.size), counts)
    size = np.maximum(group_size(b)[groups], 1).astype(np.float64)
    weight = _weights(b, groups, cells, begin, a, total)
    known = b.right[cells] if b.population == "finite" else np.zeros(left.shape[0])
    return Part(size, of, begin, left, mass, rho, spread, gain, total, weight, known)


def _log_norm(b: Belief) -> Floats:
    """(C, U) log Gamma(alpha) Gamma(beta): the prior's part of the likelihoods, worked out once."""
    if "log_norm" not in b._memo:
        b._memo["log_norm"] = special.gammaln(b.alpha) + special.gammaln(b.beta)
    kept: Floats = b._memo["log_norm"]
    return kept


def _has_even_strength(b: Belief) -> bool:
    """Whether alpha + beta is the same at all nodes; its part of the likelihoods then cancels."""
    if "even_strength" not in b._memo:
        strength = b.alpha + b.beta
        b._memo["even_strength"] = bool(np.allclose(strength, strength[:, :1], rtol=1e-12))
    return bool(b._memo["even_strength"])


def _weights(
    b: Belief,
    groups: NDArray[np.intp],
    cells: slice,
    begin: NDArray[np.intp],
    a: Floats,
    total: Floats,
) -> Floats:
    """(g, U) posterior probabilities of the nodes: their beta-binomial likelihoods, normalised."""
    if b.node.size == 1:
        return np.ones((groups.size, 1))
    likelihood = special.gammaln(a) + special.gammaln(total - a) - _log_norm(b)[cells]
    if not _has_even_strength(b):
        likelihood += special.gammaln(b.alpha[cells] + b.beta[cells]) - special.gammaln(total)
    by_group = np.add.reduceat(likelihood, begin, axis=0)
    if b.metric.pooled:
        by_group = np.tile(by_group.sum(axis=0), (groups.size, 1))
    logs = np.log(b.node if b.node.ndim == 1 else b.node[groups]) + by_group
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    normalised: Floats = weight / weight.sum(axis=1, keepdims=True)
    return normalised


def sums(part: Part, cells: Floats) -> Floats:
    """Sums over the cells of each group."""
    total: Floats = np.add.reduceat(cells, part.begin, axis=0)
    return total


def mixed(part: Part, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(g,) mean and variance over the nodes, of those (g, U) given each node."""
    expected = (part.weight * mean).sum(axis=1)
    spread = variance + (mean - expected[:, None]) ** 2
    return expected, (part.weight * spread).sum(axis=1)


def centred_means(part: Part, mean: Floats) -> Floats:
    """(c, U) how far each node's mean of the cell's group lies from the group's mean."""
    centred: Floats = (mean - (part.weight * mean).sum(axis=1, keepdims=True))[part.of]
    return centred
