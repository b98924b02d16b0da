"""How far annotators agree beyond chance."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from worker.core.crowd.votes import Ints

Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]
_BLOCK = 1 << 22  # numbers held at once while resampling


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha: 1 is perfect, 0 what chance gives; nan where all votes are equal.

    low, high: the bootstrap interval over items; nan if hardly any resample has an alpha.
    n_items: items with two votes or more, on which it rests.
    """

    alpha: float
    low: float
    high: float
    n_items: int


def agreement(
    counts: Ints,
    level: Level = "nominal",
    values: Floats | None = None,
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int,
) -> Agreement:
    """Krippendorff's alpha of the votes, with a percentile bootstrap interval over items.

    Missing votes are no matter; items with one vote or none are left out.

    Args:
        counts: (I, K) how often each of K values was given to each item.
        level: how far apart two values are: equal or not; the votes that lie between them; the
            squared difference of `values`.
        values: (K,) for `interval`; 0, 1, ... if None. Ordinal values ascend.

    Raises:
        ValueError: an argument has the wrong shape or lies outside its range.

    Source:
        Krippendorff, Content Analysis (2004), chapter 11. His bootstrap resamples pairs of votes;
        items, as here, keep the votes of an item together.
    """
    _check(counts, level, values, confidence, n_resamples)
    pairable = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    n_items, k = pairable.shape
    points = np.arange(k, dtype=np.float64) if values is None else np.asarray(values, np.float64)
    if not n_items:
        return Agreement(np.nan, np.nan, np.nan, 0)
    # Items with the same votes are one row: a resample draws how often it comes.
    kinds, often = np.unique(pairable, axis=0, return_counts=True)
    alpha = float(_alphas(often[None].astype(np.float64), kinds, level, points)[0])
    rng, step = np.random.default_rng([seed, n_items]), max(1, _BLOCK // (len(kinds) + k * k))
    found = []
    for done in range(0, n_resamples, step):
        drawn = rng.multinomial(n_items, often / n_items, min(step, n_resamples - done))
        found.append(_alphas(drawn.astype(np.float64), kinds, level, points))
    drawn_alphas = np.concatenate(found)
    known = drawn_alphas[~np.isnan(drawn_alphas)]
    if known.size < n_resamples / 2:
        return Agreement(alpha, np.nan, np.nan, n_items)
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail]).tolist()
    return Agreement(alpha, low, high, n_items)


def _alphas(often: Floats, kinds: Floats, level: Level, values: Floats) -> Floats:
    """(B,) alpha of each resample; often: (B, J) how often each of the J kinds of items comes."""
    votes = kinds.sum(axis=1, keepdims=True)
    total = often @ kinds  # (B, K) how often each value was given
    n = total.sum(axis=1)
    if level == "ordinal":
        observed, expected = _ordinal(often, kinds, votes, total)
    elif level == "interval":
        centred = values - values.mean()  # differences are all that matters
        squares = kinds @ centred**2 - (kinds @ centred) ** 2 / votes[:, 0]
        observed = often @ (2 * squares * votes[:, 0] / (votes[:, 0] - 1))
        expected = 2 * (n * (total @ centred**2) - (total @ centred) ** 2)
    else:
        apart = (votes[:, 0] ** 2 - (kinds**2).sum(axis=1)) / (votes[:, 0] - 1)
        observed = often @ apart
        expected = n**2 - (total**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)


def _ordinal(often: Floats, kinds: Floats, votes: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Two values are as far apart as the votes from the middle of one to the middle of the other.

    So each value has a place on a line, half-way through its own votes, and the distance is that of
    the interval level, with places that change with the resample.
    """
    place = np.cumsum(total, axis=1) - total / 2
    place -= (place * total).sum(axis=1, keepdims=True) / total.sum(axis=1, keepdims=True)
    k = kinds.shape[1]
    # (B, K K) sums over items of n_ic n_ik / (m_i - 1); on the diagonal nothing is apart
    pairs = (kinds[:, :, None] * kinds[:, None, :] / (votes[:, :, None] - 1)).reshape(-1, k * k)
    coincident = (often @ pairs).reshape(-1, k, k)
    distance = (place[:, :, None] - place[:, None, :]) ** 2
    expected = total[:, :, None] * total[:, None, :]
    return (coincident * distance).sum(axis=(1, 2)), (expected * distance).sum(axis=(1, 2))


def _check(
    counts: Ints, level: Level, values: Floats | None, confidence: float, n_resamples: int
) -> None:
    if counts.ndim != 2 or not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
        raise ValueError(
            f"counts is {counts.dtype} of shape {counts.shape}; pass whole numbers >= 0, one row "
            "an item and one column a value."
        )
    if level not in get_args(Level):
        raise ValueError(f"level is {level!r}, expected one of {', '.join(get_args(Level))}.")
    if values is not None and np.shape(values) != counts.shape[1:]:
        raise ValueError(
            f"values has shape {np.shape(values)} for {counts.shape[1]} columns of counts; pass "
            "the value of each column."
        )
    if not 0 < confidence < 1 or n_resamples < 1:
        raise ValueError(
            f"confidence is {confidence} and n_resamples {n_resamples}; expected a probability "
            "inside (0, 1) and one resample or more."
        )
