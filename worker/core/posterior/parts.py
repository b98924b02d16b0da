"""The cells of some groups with all that their moments are made of: rates, spreads, components."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Cells, group_size, starts, unlabelled
from worker.core.prior.rising import log_rising, rising
from worker.core.prior.shared import given_points

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Part:
    """The cells of some groups (c cells, g groups) and their posterior components."""

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
    given: Floats  # (g, K, U) the weights given each point of what the groups share; none: K = 0
    # (2, s, U) how the log likelihoods of the s cells that have labels move with alpha and beta;
    # s = 0 if nothing is shared
    slopes: Floats
    known: Any  # (c,) labels that count as they are: all of them, or none


def part_of(b: Belief, groups: NDArray[np.intp], cells: Cells) -> Part:
    """The cells of some groups (ascending), `cells` are theirs."""
    return _parts(b, groups, cells, b.alpha[cells], b.beta[cells])[0]


def parts_of(
    b: Belief, groups: NDArray[np.intp], cells: Cells, alpha: Floats, beta: Floats
) -> tuple[Part, Part]:
    """`part_of`, and the same if the prior were known to be another one.

    Both are worked out side by side: arrays of one group are so small that each call counts.

    Args:
        alpha, beta: (c, U) of that prior.
    """
    a, c = (np.concatenate(of, axis=1) for of in ((b.alpha[cells], alpha), (b.beta[cells], beta)))
    own, other = _parts(b, groups, cells, a, c)
    return own, other


def _parts(
    b: Belief, groups: NDArray[np.intp], cells: Cells, alpha: Floats, beta: Floats
) -> list[Part]:
    """Of the belief's own prior, and of others that lie beside it: (c, U), (c, 2 U), ..."""
    right, wrong = b.right[cells, None], b.wrong[cells, None]
    a = alpha + right
    total = a + (beta + wrong)
    rho = a / total
    left = unlabelled(b)[cells, None].astype(np.float64)
    if b.population == "finite":
        mass, gain = left, (total + left) / (total + 1)
    else:
        mass = b.size[cells, None].astype(np.float64)
        gain = mass / (total + 1)
    spread = mass * rho * (1 - rho) * gain
    begins = starts(b)
    counts = begins[groups + 1] - begins[groups]
    begin = np.cumsum(counts) - counts
    of = np.repeat(np.arange(groups.size), counts)
    size = np.maximum(group_size(b)[groups], 1).astype(np.float64)
    known = b.right[cells] if b.population == "finite" else np.zeros(left.shape[0])
    told, slopes = _told(b, cells, begin, alpha, beta)
    prior = b.mixture if b.mixture.ndim == 1 else b.mixture[groups]
    parts, u = [], prior.shape[-1]
    for first in range(0, a.shape[1], u):
        own = slice(first, first + u)
        weight, given = _weights(b, groups, prior, told[:, own], is_known=first > 0)
        parts.append(
            Part(
                size, of, begin, left, mass, rho[:, own], spread[:, own], gain[:, own],
                total[:, own], weight, given, slopes[..., own], known,
            )
        )  # fmt: skip
    return parts


def _told(
    b: Belief, cells: Cells, begin: NDArray[np.intp], alpha: Floats, beta: Floats
) -> tuple[Floats, Floats]:
    """(g, U) log beta-binomial likelihoods of the groups' labels, but for a factor that is even.

    And the slopes of a `Part`.
    """
    likelihood = np.zeros(alpha.shape)
    slopes: Floats = np.zeros((2, 0, alpha.shape[1]))
    if b.mixture.size > 1 or b.shared is not None:
        right, wrong = b.right[cells], b.wrong[cells]
        # the others are as likely at all components
        seen = np.flatnonzero(right + wrong)
        right, wrong = right.take(seen), wrong.take(seen)
        alpha, beta = alpha.take(seen, axis=0), beta.take(seen, axis=0)
        counts = rising(np.concatenate([right, wrong]))
        told, *by = log_rising(np.concatenate([alpha, beta]), counts, int(b.shared is not None))
        likelihood[seen] = told[: seen.size] + told[seen.size :]
        if by:
            slopes = by[0].reshape(2, *alpha.shape)
        if not _has_even_strength(b):
            likelihood[seen] -= log_rising(alpha + beta, rising(right + wrong))[0]
    by_group: Floats = np.add.reduceat(likelihood, begin, axis=0)
    if b.metric.pooled:
        by_group = np.tile(by_group.sum(axis=0), (begin.size, 1))
    return by_group, slopes


def _has_even_strength(b: Belief) -> bool:
    """Whether alpha + beta is the same at all components: its part of the likelihoods cancels.

    Also under the likeliest hyperparameters of what is shared.
    """
    if "even_strength" not in b._memo:
        strength = b.alpha + b.beta
        is_even = bool(np.allclose(strength, strength[:, :1], rtol=1e-12))
        b._memo["even_strength"] = is_even and (b.shared is None or b.shared.slopes.s.shape[1] == 1)
    return bool(b._memo["even_strength"])


def _weights(
    b: Belief, groups: NDArray[np.intp], prior: Floats, told: Floats, is_known: bool
) -> tuple[Floats, Floats]:
    """(g, U) posterior probabilities of the components, by their likelihoods (g, U).

    And (g, K, U) given each point of what groups share. Given that, a group's labels weigh its own
    part only; what all labels say of what is shared is in `Shared` already, and is not used twice.

    Args:
        is_known: what is shared is; then, and where nothing is, K = 0.
    """
    if b.mixture.size == 1:
        return np.ones((groups.size, 1)), np.zeros((groups.size, 0, 1))
    if is_known or b.shared is None:
        return _normalised(np.log(prior) + told), np.zeros((groups.size, 0, told.shape[1]))
    given = np.exp(told - told.max(axis=1, keepdims=True))[:, None]
    given = given * _given_points(b)[groups]
    given /= given.sum(axis=2, keepdims=True)
    return given.sum(axis=1) / given.shape[1], given


def _normalised(logs: Floats) -> Floats:
    weight = np.exp(logs - logs.max(axis=-1, keepdims=True))
    normalised: Floats = weight / weight.sum(axis=-1, keepdims=True)
    return normalised


def _given_points(b: Belief) -> Floats:
    """(G, K, U) prior probabilities of the components given each point of what is shared.

    Where the components are pairs with an earlier label's discount, those of one discount keep
    their probability.
    """
    assert b.shared is not None, "asked of beliefs that share something"
    if "given_points" not in b._memo:
        b._memo["given_points"] = given_points(b.shared, np.atleast_2d(b.mixture))
    chances: Floats = b._memo["given_points"]
    return chances


def sums(part: Part, cells: Floats) -> Floats:
    """Sums over the cells of each group."""
    total: Floats = np.add.reduceat(cells, part.begin, axis=0)
    return total


def mixed(weight: Floats, mean: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """(g,) mean over the components, and variance between and within them, of (g, U) given each."""
    expected = np.vecdot(weight, mean)
    between = np.vecdot(weight, (mean - expected[:, None]) ** 2)
    return expected, between, np.vecdot(weight, variance)


def centred_means(part: Part, mean: Floats) -> Floats:
    """(c, U) how far each component's mean of the cell's group lies from the group's mean."""
    centred: Floats = mean - np.vecdot(part.weight, mean)[:, None]
    return centred.take(part.of, axis=0)
