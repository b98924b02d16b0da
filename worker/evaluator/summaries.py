"""What is reported of samples: plain numbers that go into JSON, tables and pictures as they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.density import density
from worker.evaluator.intervals import Piece, Sample, density_region, hpdi, right_tailed

Floats = NDArray[np.float64]

_POINTS = 160  # of the outline of a density
MOST_PAIRS = 20


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of a measure.

    n: how many numbers it is made of. low, high: the HPDI, one interval. right_tailed: the level's
    quantile. region: where the density is highest; more than one piece: several modes apart.
    at, density: the outline of the density, for pictures.
    """

    n: int
    mean: float
    median: float
    low: float
    high: float
    right_tailed: float
    region: tuple[Piece, ...]
    at: tuple[float, ...]
    density: tuple[float, ...]

    @property
    def width(self) -> float:
        """Of the HPDI: how uncertain the measure is."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval at the level that was asked for."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Confused:
    """What a predictor makes of the items for which most people chose `human`.

    items: how many these are. probability: what it gives to the class `predicted` on average, by
    the evaluator's draws. share: of the items, for which it is the likeliest class in a draw.
    people: what people give to the class, on average. seen, seen_share: the same two of the
    predictions themselves.
    """

    human: str
    predicted: str
    items: int
    probability: Estimate
    share: Estimate
    people: float
    seen: float
    seen_share: float


def distribution(
    sample: Sample, level: float, low: float | None = None, high: float | None = None
) -> Distribution:
    """Sum up a sample.

    Args:
        sample: (n,), n >= 2.
        level: of the intervals.
        low, high: bounds of what is measured; None: unknown.
    """
    ordered = np.sort(sample)
    of = density(ordered, low, high)
    region = density_region(ordered, of, level)
    narrowest = hpdi(ordered, level)
    at, outline = of.outline(_POINTS)
    return Distribution(
        n=int(ordered.size),
        mean=_rounded(float(ordered.mean(dtype=np.float64))),
        median=_rounded(float(np.median(ordered))),
        low=_rounded(narrowest[0]),
        high=_rounded(narrowest[1]),
        right_tailed=_rounded(right_tailed(ordered, level)),
        region=tuple(Piece(_rounded(p.low), _rounded(p.high), _rounded(p.share)) for p in region),
        at=tuple(map(_rounded, at.tolist())),
        density=tuple(_rounded(y, 5) for y in outline.tolist()),
    )


def estimate(draws: Floats, level: float) -> Estimate:
    """The mean of draws and their HPDI."""
    low, high = hpdi(draws, level)
    return Estimate(_rounded(draws.mean()), _rounded(low), _rounded(high))


def confused(
    drawn: tuple[Floats, Floats],
    human: Floats,
    predicted: Floats,
    classes: Sequence[str],
    level: float,
) -> tuple[Confused, ...]:
    """The pairs of classes that are confused the most, by the mean probability, at most 20.

    By probability and not by likeliest class, because draws of conditional means (the network's,
    without its noise) hardly ever turn the likeliest class over, even where predictions do.

    Args:
        drawn: (C, K, K) mean probabilities and shares, as in `Drawn`.
        human: (N, K).
        predicted: (N, R, K), what the evaluator was fitted to.
    """
    means, shares = drawn
    k = human.shape[1]
    majority = np.eye(k)[human.argmax(axis=1)]
    items = majority.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        people, seen, seen_share = (
            majority.T @ table / items[:, None]
            for table in (
                human,
                predicted.mean(axis=1),
                np.eye(k)[predicted.argmax(axis=2)].mean(axis=1),
            )
        )
    mean = np.where(np.eye(k, dtype=np.bool_), np.nan, means.mean(axis=0))
    order = [divmod(int(cell), k) for cell in np.argsort(-np.nan_to_num(mean, nan=-1.0).ravel())]
    pairs = [(a, b) for a, b in order if np.isfinite(mean[a, b])][:MOST_PAIRS]
    return tuple(
        Confused(
            classes[a], classes[b], int(items[a]),
            estimate(means[:, a, b], level), estimate(shares[:, a, b], level),
            _rounded(people[a, b]), _rounded(seen[a, b]), _rounded(seen_share[a, b]),
        )
        for a, b in pairs
    )  # fmt: skip


def _rounded(number: float, digits: int = 7) -> float:
    """To so many significant digits: what comes after is noise, and fills files."""
    return float(f"{number:.{digits}g}")
