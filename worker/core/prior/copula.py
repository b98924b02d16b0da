"""The Gaussian copula that joins the groups' values: their normal scores, given what they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

# Standard deviation of a group's own part. On the axis (`prior.shared`), whose components are 0.5
# apart: narrower, a group would jump between them.
LEAST_OWN = 0.3
# Of a group's variance no more than this share is common: by so much its labels weigh its own part,
# and were less of it said to be its own, one label would tell it apart.
_MOST = 1 - LEAST_OWN**2
_INSIDE = 1e-12  # probabilities are kept off 0 and 1, where a normal score is infinite


def held_inside(rows: Floats, most: Floats | float = _MOST) -> Floats:
    """(G, R) loadings, those too long shortened: something of every group is its own.

    Args:
        most: (G,) or for all groups, the largest share of the variance that may be common.
    """
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    longest = np.sqrt(np.minimum(most, _MOST)).reshape(-1, 1)
    held: Floats = rows * np.minimum(1.0, longest / np.maximum(length, 1e-12))
    return held


def own_part(load: Floats) -> Floats:
    """(G,) the standard deviation of what is a group's own in its normal score."""
    own: Floats = np.sqrt(1 - (load**2).sum(axis=1))
    return own


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The normal scores of g groups, given each of K equally likely points of what they share.

    shift: (g, K) expected score. own: (g,) standard deviation of the rest, in (0, 1].
    """

    shift: Floats
    own: Floats

    @classmethod
    def nothing(cls, n_groups: int) -> "Given":
        """Nothing is shared: one point that says nothing."""
        return cls(np.zeros((n_groups, 1)), np.ones(n_groups))

    @classmethod
    def at(cls, load: Floats, n_points: int) -> "Given":
        """The loadings at some points of what is shared.

        Along the principal axes of the loadings; those on which no group moves by a hundredth are
        left out, and the least ones beyond half as many as points, which span no more: a group's
        part along them is taken to be its own.
        """
        axes = np.linalg.svd(load, full_matrices=False)[2]
        along = load @ axes.T
        along = along[:, np.abs(along).max(axis=0) > 0.01][:, : n_points // 2]
        if not along.shape[1]:
            return cls.nothing(len(load))
        return cls(along @ points(along.shape[1], n_points).T, own_part(along))

    @property
    def n_points(self) -> int:
        """How many points of what is shared are averaged over."""
        return self.shift.shape[1]

    def of(self, groups: Sequence[int] | NDArray[np.intp]) -> "Given":
        """Some of the groups."""
        at = np.asarray(groups, dtype=np.intp)
        return Given(self.shift[at], self.own[at])

    def tail(self, at: int, probability: Floats) -> Floats:
        """(K, J) what probabilities (J,) that a value is above something are, given each point."""
        if self.n_points == 1:
            alone: Floats = probability[None]
            return alone
        z = scores(probability)
        given: Floats = special.ndtr((z + self.shift[at][:, None]) / self.own[at])
        return given


@cache
def points(n_directions: int, n: int) -> Floats:
    """(n, R) points of a standard normal, of mean 0 and covariance 1, the same ones every time.

    Every point has its mirror image among them; n is even, and at least 2 R.

    Source: the Kronecker sequence of the powers of 1 / phi_R, phi_R^(R + 1) = phi_R + 1 (Roberts
    2018), through the normal quantiles.
    """
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (n_directions + 1))
    steps = root ** -np.arange(1.0, n_directions + 1)
    half = special.ndtri((0.5 + np.arange(1, n // 2 + 1)[:, None] * steps) % 1)
    even = np.concatenate([half, -half])
    left = np.linalg.cholesky(even.T @ even / n)
    normal: Floats = np.linalg.solve(left, even.T).T
    return normal


def scores(probability: Floats) -> Floats:
    """Normal scores of probabilities, finite."""
    z: Floats = special.ndtri(np.clip(probability, _INSIDE, 1 - _INSIDE))
    return z


def spread_evenly(parts: Floats, n: int, rng: np.random.Generator) -> Floats:
    """(n, D) independent rows of the same D normal scores, each in a random order."""
    rows: Floats = rng.permuted(np.tile(special.ndtri(parts), (n, 1)), axis=1)
    return rows


def joined(parts: Floats, load: Floats, common: Floats, rng: np.random.Generator) -> Floats:
    """(G, D) uniform numbers whose rows are correlated as the groups are.

    Every row holds the same D equally spaced numbers, in another order: a distribution is drawn
    from in as many equal parts as there are draws, each hit once.

    Args:
        parts: (D,) ascending, inside (0, 1). load: (G, R). common: (R, D), of `spread_evenly`.

    Source:
        Iman & Conover, "A distribution-free approach to inducing rank correlation among input
        variables" (1982), with normal scores: a Gaussian copula.
    """
    own = own_part(load)[:, None] * spread_evenly(parts, len(load), rng)
    drawn: Floats = np.empty_like(own)
    np.put_along_axis(drawn, (load @ common + own).argsort(axis=1), parts[None], axis=1)
    return drawn
