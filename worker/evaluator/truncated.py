"""Draws from a normal distribution that is cut off at the faces of the probability simplex.

Proposing and rejecting, as the paper does, never ends where the simplex holds little of the
distribution: at its vertices, where human labels are. There a Markov chain moves along lines within
the simplex.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.inputs import Floats

LEAST_ACCEPTED = 0.1  # with fewer proposals accepted, a chain is faster
WARMUP, APART = 100, 6  # sweeps before a chain's first draw, and from one draw to the next
N_CHAINS = 40  # of an item; more are less dependent, and each has its warm-up
_PROBES, _ROUNDS, _PROPOSED = 100, 50, 500_000  # an item; rounds; numbers at a time
_BLOCK = 4_000  # chains that move together, so that their state stays in the processor's cache
_ILL = 10.0  # ratio of standard deviations above which the axes are walked along too
_TAIL = -35.0  # below, float64 cannot tell the normal's tail from 0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A direction to move in, one standard deviation long.

    along: (K,), what the probabilities change by, sums to 0.
    push: (K,), what the gradient changes by.
    ends: the only two classes that change, the first upwards; None if more do.
    """

    along: Floats
    push: Floats
    ends: tuple[int, int] | None


def truncated_normal(
    centre: Floats,
    factor: Floats,
    n_draws: int,
    rng: Generator,
    least_accepted: float = LEAST_ACCEPTED,
) -> Floats:
    """Draw from N(centre_i, F F') given that no coordinate is negative, for every item i.

    Independent draws by rejection where a tenth of the proposals or more is accepted; elsewhere
    draws of 40 chains an item, each one kept `APART` sweeps after the one before.

    Args:
        centre: (N, K), rows sum to 1; may lie outside the simplex.
        factor: (K, r), F: orthogonal columns that sum to 0, 0 <= r <= K - 1.
        n_draws: D >= 1.
        least_accepted: the share of accepted proposals below which an item gets chains.

    Returns:
        (N, D, K), probabilities.

    Raises:
        EvaluatorError: r < K - 1, and some distribution has nothing in the simplex.

    Source:
        Gibbs steps for a truncated normal (Geweke 1991; Robert, Statistics and Computing 1995).
        Along the simplex's own edges: two classes exchange probability, so that a chain leaves any
        vertex, where steps along the axes of the normal are stuck for ever.
    """
    n_items, k = centre.shape
    drawn = np.empty((n_items, n_draws, k))
    left = np.flatnonzero(_reject(centre, factor, drawn, rng, least_accepted))
    if not left.size:
        return drawn
    inverse: Floats = np.linalg.pinv(factor).astype(np.float64)  # (r, K)
    precision = inverse.T @ inverse
    n_chains = min(n_draws, N_CHAINS)
    block = max(1, _BLOCK // n_chains)
    start = _insides(centre[left], factor)
    edges = _edges(factor, precision)
    for first in range(0, left.size, block):
        items = left[first : first + block]
        p = np.repeat(start[first : first + block], n_chains, axis=0).T.copy()
        g = precision @ (p - np.repeat(centre[items], n_chains, axis=0).T)
        kept = np.empty((-(-n_draws // n_chains), *p.shape))
        for n in range(kept.shape[0]):
            for _ in range(APART if n else WARMUP):
                for line in _sweep(edges, factor, inverse, rng):
                    _move(p, g, line, rng)
            kept[n] = p
        walked = kept.reshape(-1, k, items.size, n_chains).transpose(2, 0, 3, 1)
        drawn[items] = walked.reshape(items.size, -1, k)[:, :n_draws]
    drawn[left] /= drawn[left].sum(axis=2, keepdims=True)  # rounding of some hundred steps
    return drawn


def _reject(
    centre: Floats, factor: Floats, drawn: Floats, rng: Generator, least_accepted: float
) -> NDArray[np.bool_]:
    """Fill the items of `drawn` whose proposals are often accepted; return which are not full."""
    n_items, n_draws, k = drawn.shape
    n_done, share = np.zeros(n_items, np.int64), np.ones(n_items)
    for n in range(_ROUNDS):
        open_items = np.flatnonzero((n_done < n_draws) & (share >= least_accepted))
        size = _PROBES if n == 0 else max(_PROBES, n_draws // 2)
        block = max(1, _PROPOSED // (size * k))
        for first in range(0, open_items.size, block):
            items = open_items[first : first + block]
            proposed = rng.standard_normal((items.size, size, factor.shape[1])) @ factor.T
            proposed += centre[items, None]
            is_inside = (proposed >= -_ROUNDING).all(axis=2)
            rank = n_done[items, None] + is_inside.cumsum(axis=1) - 1
            is_kept = is_inside & (rank < n_draws)
            which = np.broadcast_to(items[:, None], rank.shape)[is_kept]
            drawn[which, rank[is_kept]] = np.maximum(proposed[is_kept], 0.0)
            n_done[items] += is_inside.sum(axis=1)
            if n == 0:
                share[items] = is_inside.mean(axis=1)
    return n_done < n_draws


def _edges(factor: Floats, precision: Floats) -> dict[tuple[int, int], _Line]:
    """The simplex's edges along which there is any width: all, unless F lacks dimensions."""
    k = factor.shape[0]
    found = {}
    for i in range(k):
        for j in range(k):
            edge = np.zeros(k)
            edge[i] += 1.0
            edge[j] -= 1.0
            push = precision @ edge
            covariance = factor @ (factor.T @ push)
            if i != j and np.abs(covariance - edge).max() < 1e-6:
                scale = 1 / np.sqrt(edge @ push)
                found[i, j] = _Line(scale * edge, scale * push, (i, j))
    return found


def _sweep(
    edges: dict[tuple[int, int], _Line], factor: Floats, inverse: Floats, rng: Generator
) -> Sequence[_Line]:
    """The edges of a random round trip through the classes; more lines where these do not do."""
    k, r = factor.shape
    order = rng.permutation(k).tolist()
    pairs = zip(order, order[1:] + order[:1], strict=True)
    lines = [edges[pair] for pair in pairs if pair in edges]
    size = np.linalg.norm(factor, axis=0)
    if r and (r < k - 1 or size.max() > _ILL * size.min()):
        random = rng.standard_normal((r, r))
        random /= np.linalg.norm(random, axis=0)
        for u in np.hstack([np.eye(r), random]).T:
            lines.append(_Line(factor @ u, inverse.T @ u, None))
    return lines


def _move(p: Floats, g: Floats, line: _Line, rng: Generator) -> None:
    """Draw all chains' places on their parallels to `line`, given that they stay on them.

    p: (K, M), probabilities; g: (K, M), the precision matrix times what p lies off the centre.
    """
    v = line.along
    if line.ends is not None:
        i, j = line.ends
        low, high = p[i] / -v[i], p[j] / v[i]
        at = v[i] * (g[i] - g[j])
    else:
        ups, downs = v > _ROUNDING, v < -_ROUNDING
        low = (p[ups] / -v[ups, None]).max(axis=0, initial=-np.inf)
        high = (p[downs] / -v[downs, None]).min(axis=0, initial=np.inf)
        at = v @ g
    step = _between(low + at, high + at, rng)
    step -= at
    if line.ends is not None:
        p[i] = np.maximum(p[i] + v[i] * step, 0.0)
        p[j] = np.maximum(p[j] - v[i] * step, 0.0)
    else:
        p += np.multiply.outer(v, step)
        np.maximum(p, 0.0, out=p)
    g += np.multiply.outer(line.push, step)


def _between(low: Floats, high: Floats, rng: Generator) -> Floats:
    """Draw standard normals between `low` and `high` by inversion, in the lower tail."""
    is_upper = low + high > 0
    a, b = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
    below = ndtr(a)
    uniform = rng.random(a.shape)
    drawn = ndtri(below + (ndtr(b) - below) * uniform)
    far = np.flatnonzero(b < _TAIL)
    if far.size:
        log_a, log_b, u = log_ndtr(a[far]), log_ndtr(b[far]), uniform[far]
        drawn[far] = ndtri_exp(log_b + np.log(u + (1 - u) * np.exp(log_a - log_b)))
    np.clip(drawn, a, b, out=drawn)
    placed: Floats = np.where(is_upper, -drawn, drawn)
    return placed


def _insides(centre: Floats, factor: Floats) -> Floats:
    """(N, K), a point where every item's chains begin: in the simplex, and in the distribution."""
    k = centre.shape[1]
    if factor.shape[1] == k - 1:  # any point will do
        clipped = np.maximum(centre, 0.0)
        nearby: Floats = clipped / clipped.sum(axis=1, keepdims=True)
        return nearby
    return np.stack([_inside(c, factor) for c in centre])


def _inside(centre: Floats, factor: Floats) -> Floats:
    """A point centre + F z of the simplex with as few zeros as there must be.

    The linear program makes the sum of min(p, 1 / (10 K)) as large as possible.
    """
    k, r = factor.shape
    scale = np.linalg.norm(factor, axis=0).max(initial=1e-300)
    columns = np.hstack([factor / scale, -np.eye(k)])  # p - t, for t >= 0
    solved = linprog(
        np.r_[np.zeros(r), -np.ones(k)],
        A_ub=-columns,
        b_ub=centre + _ROUNDING,
        bounds=[(None, None)] * r + [(0, 0.1 / k)] * k,
    )
    if solved.x is None:
        raise EvaluatorError(
            "the differences between predictions and human labels leave some directions no width, "
            f"and moved by their mean the label {np.round(centre, 3)} lies outside the simplex; "
            "fit to more items, or choose `zero-mean-ndod` or `bnn`."
        )
    inside: Floats = np.maximum(centre + factor @ (solved.x[:r] / scale), 0.0)
    return inside
