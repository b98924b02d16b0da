"""How much the value of each group tells of the answer that is asked for."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.joint import joint_loadings
from worker.core.posterior.moments import Moments
from worker.core.posterior.summary import correlations
from worker.core.prior.copula import own_part
from worker.core.questions.question import Question
from worker.core.strategies.picking import Floats, Rng

_N_DRAWS = 16  # and their mirror images
_MOST = 1000  # groups that are looked at: those nearest to the boundary
_LEAST = 1e-300  # of a probability
_NARROWEST = 1e-9  # of a standard deviation


def telling(belief: Belief, known: Moments, question: Question, rng: Rng) -> Floats:
    """(G,) what a drop of each group's variance by 1 tells of the answer.

    For an event A that depends on a value V, and a label y that tells of A by V only, the squared
    correlations multiply: corr(y, A)^2 = corr(y, V)^2 corr(V, A)^2, and the first one is the share
    of Var(V) that y is expected to take away. Half of the product is, to second order, the mutual
    information of y and A, in nats. So the worth of a label is drop * corr(V, A)^2 / Var(V).

    Identify: A is that the group lies on the wrong side of the boundary of the reported set; of a
    list with room to spare, that it does where too few of the others are on the right one.
    Compare: A is the region of each pair's difference; what the pairs of a group tell is added up.
    A group's values are normal given its component, with their exact means and variances, and move
    together by what groups share: of groups with few labels most of what may still be wrong lies in
    components far out, which one normal would not have. The boundary is normal.

    Source:
        Maximum mutual information of label and answer, as in entropy search (Hennig & Schuler
        2012) and information-directed selection for top-two algorithms (You, Qin, Wang & Yang
        2023), in a closed form that needs no look ahead.
    """
    if question.task == "compare":
        return _of_pairs(belief, known, question)
    return _of_set(belief, known, question, rng)


def _of_set(belief: Belief, known: Moments, question: Question, rng: Rng) -> Floats:
    """The boundary is drawn: the set's worst group for others, the best of these for the set's."""
    worth: Floats = np.zeros(belief.n_groups)
    groups = np.flatnonzero(group_size(belief))
    if question.n_named >= groups.size:
        return worth
    groups, is_in = _near(known, groups, question)
    sign = 1.0 if question.which == "lowest" else -1.0
    mean, load = sign * known.mean[groups], sign * joint_loadings(belief)[groups]
    sd = np.sqrt(np.maximum(known.variance[groups], _NARROWEST**2))
    z, own = rng.standard_normal((_N_DRAWS, groups.size + load.shape[1])), own_part(load)
    by_shared, by_own = sd * (z[:, groups.size :] @ load.T), sd * own * z[:, : groups.size]
    expected = mean + np.concatenate([by_shared, -by_shared])  # given what is shared
    drawn = expected + np.concatenate([by_own, -by_own])
    rival = drawn.compress(~is_in, axis=1).min(axis=1, keepdims=True)
    in_set, room = drawn.compress(is_in, axis=1), question.tolerance
    last = np.partition(in_set, question.top - 1, axis=1)[:, [question.top - 1]]
    boundary = np.where(is_in, rival + room, last - room)
    # How far the boundary is from what is expected of the group: normal, over the draws that matter
    gap, share = boundary - expected, np.ones(groups.size)
    away = gap.sum(axis=0) / len(gap)
    spread = ((gap - away) ** 2).sum(axis=0) / len(gap)
    if question.n_named > question.top:
        matters = _matters(drawn, boundary, is_in, question.top)
        share = matters.mean(axis=0)
        times = matters / np.maximum(matters.sum(axis=0), 1)
        away = (times * gap).sum(axis=0)
        spread = (times * (gap - away) ** 2).sum(axis=0)
    of_component = own[:, None] * (sign * known.given[0, groups] - mean[:, None])
    within = own[:, None] ** 2 * np.maximum(known.given[1, groups], 0.0)
    # wrong is a value below the boundary; above it, for a group of the set
    side = np.where(is_in, -1.0, 1.0)
    wrong, moved = _beyond(known.weight[groups], of_component, within, side, away, spread)
    wrong, moved = share * wrong, share * moved
    worth[groups] = (moved / (own * sd**2)) ** 2 / np.maximum(wrong * (1 - wrong), _LEAST)
    return worth


def _beyond(
    weight: Floats, mean: Floats, variance: Floats, side: Floats, away: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """(g,) P(a group's value lies beyond its boundary), and the covariance of value and that.

    Args:
        weight, mean, variance: (g, U) of the components, and of the value given each. side: (g,)
            1 if beyond is below, -1 if it is above. away, spread: (g,) mean and variance of the
            boundary, on the scale of `mean`.
    """
    side = side[:, None]
    reach = np.sqrt(variance + np.maximum(spread, _NARROWEST**2)[:, None])
    at = side * (away[:, None] - mean) / reach
    beyond, density = special.ndtr(at), np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)
    moved = mean * beyond - side * variance * density / reach
    return np.vecdot(weight, beyond), np.vecdot(weight, moved)


def _matters(
    drawn: Floats, boundary: Floats, is_in: NDArray[np.bool_], top: int
) -> NDArray[np.bool_]:
    """(S, g) whether the side of a named group matters: fewer than `top` others are right."""
    is_right = (drawn < boundary) & is_in
    others: NDArray[np.bool_] = is_right.sum(axis=1, keepdims=True) - is_right < top
    return others | ~is_in


def _near(
    known: Moments, groups: NDArray[np.intp], question: Question
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The groups nearest to the boundary, and which of them are in the set.

    Of more than 1,000: what the others tell is next to nothing, and would take most of the time.
    """
    mean = known.mean[groups] if question.which == "lowest" else -known.mean[groups]
    n = question.n_named
    at = np.argpartition(mean, [n - 1, n])
    is_in = np.zeros(groups.size, dtype=bool)
    is_in[at[:n]] = True
    if groups.size <= _MOST:
        return groups, is_in
    boundary = (mean[at[n - 1]] + mean[at[n]]) / 2
    away = np.abs(mean - boundary) / np.sqrt(known.variance[groups] + _NARROWEST)
    # the `top` first ones, of which one is the boundary of the others, and one of these
    away[np.argpartition(mean, question.top - 1)[: question.top]] = away[at[[n - 1, n]]] = 0.0
    near = np.sort(np.argpartition(away, _MOST)[:_MOST])
    return groups[near], is_in[near]


def _of_pairs(belief: Belief, known: Moments, question: Question) -> Floats:
    if question.pairs:
        pairs = np.array(question.pairs)
    else:  # all of them, without a list of thousands of tuples
        filled = np.flatnonzero(group_size(belief))
        pairs = filled[np.column_stack(np.triu_indices(filled.size, 1))]
    first, second = pairs.T
    variance = known.variance[first] + known.variance[second]
    if (rho := correlations(belief, pairs)) is not None:
        variance = variance - 2 * rho * np.sqrt(known.variance[first] * known.variance[second])
    sd = np.sqrt(np.maximum(variance, _NARROWEST**2))
    # turned so that both ends lie in the lower tail, where small probabilities do not cancel
    delta = np.abs(known.mean[first] - known.mean[second])
    ends = (np.array([[-question.epsilon], [question.epsilon]]) - delta) / sd
    upto = special.ndtr(ends)
    density = np.exp(-(ends**2) / 2) / np.sqrt(2 * np.pi)
    inside = np.array([upto[0], upto[1] - upto[0], special.ndtr(-ends[1])])
    moved = np.array([density[0], density[1] - density[0], density[1]])
    told = (moved**2 / np.maximum(inside, _LEAST)).sum(axis=0) / sd**2
    return np.bincount(pairs.ravel(), np.repeat(told, 2), belief.n_groups).astype(np.float64)
