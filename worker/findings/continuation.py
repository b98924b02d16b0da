"""An assessment beside the one that it continues, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ThenAndNow:
    """A group, or the whole pool, in both assessments; intervals hold 95%.

    then_*: as it was known, of its own pool; None if it was not there. now_*: all that is known.
    What differs is told by the labels alone, for like items: difference: how much higher the new
    labels say that it is than the earlier ones did; p: how surprising the new ones are (adjusted
    for the number of groups, the pool, and any number of looks); lower, about_equal, higher:
    probabilities of a difference by more or less than what matters; None without labels of both.
    believed: what an earlier label still counts, 0 to 1. share_then: of its pool's items.
    """

    name: str
    then_mean: float | None
    then_low: float | None
    then_high: float | None
    now_mean: float | None
    now_low: float | None
    now_high: float | None
    labels_then: int
    labels_now: int
    share_then: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p: float | None
    lower: float | None
    about_equal: float | None
    higher: float | None
    believed: float | None
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Shift:
    """Three stories of the new labels, as probabilities if each is as likely beforehand.

    times: how many times as probable as the next one the best one makes them; None if the
    predictions do not allow to tell: `why`.
    """

    covariate: float | None
    label: float | None
    concept: float | None
    times: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Continuation:
    """An assessment beside the one that it continues; epsilon: what difference matters."""

    assessment: str
    text_then: str
    metric_then: str
    labels: int
    left_out: dict[str, int]
    epsilon: float
    whole: ThenAndNow
    groups: tuple[ThenAndNow, ...]
    changed: tuple[str, ...]
    class_p: float | None
    class_distance: float | None
    score_p: float | None
    score_distance: float | None
    shift: Shift
    text: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def three(name: str, numbers: Sequence[float] | Floats | None) -> dict[str, Any]:
    """Mean and ends of an interval, by their names."""
    ends = [None] * 3 if numbers is None else [rounded(x) for x in numbers]
    return dict(zip((f"{name}_mean", f"{name}_low", f"{name}_high"), ends, strict=True))


def difference_of(numbers: Sequence[float] | Floats | None) -> dict[str, Any]:
    named = three("difference", numbers)
    return {"difference": named.pop("difference_mean")} | named


def rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 6)
