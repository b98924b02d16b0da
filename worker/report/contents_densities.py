"""What a report says of how sure its values are: the densities of ECEs and of differences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outline:
    """The density of a value at some places, ascending; both empty where it is known exactly."""

    at: tuple[float, ...]
    density: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ValueDensity:
    """What is believed of one group's value, or of the whole pool's: mean, 95% interval, density.

    Of the ECE of a pool the median, as `contents.Interval`.
    """

    name: str
    mean: float
    low: float
    high: float
    outline: Outline


@dataclass(frozen=True, slots=True)
class DifferenceDensity:
    """How the value of `first` differs from that of `second`: mean, 95% interval, density.

    below, within, above: probabilities that `first` is lower by more than epsilon, that both are
    practically equal, and that `first` is higher.
    """

    first: str
    second: str
    mean: float
    low: float
    high: float
    below: float
    within: float
    above: float
    outline: Outline


@dataclass(frozen=True, slots=True)
class Densities:
    """Values and differences of a few groups. ece_text, text: which these are, and of how many.

    epsilon: half the width of the region of practical equivalence; None without differences.
    """

    ece: tuple[ValueDensity, ...] = ()
    ece_text: str = ""
    differences: tuple[DifferenceDensity, ...] = ()
    text: str = ""
    epsilon: float | None = None
