"""What a report says of the way to the answer: so far, ahead, and since the report before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Forecast:
    """What it would take at the present pace; None where it cannot be said.

    labels_low to labels_high: in which the number will probably lie (it did in two thirds of
    simulated assessments).
    """

    labels_more: int | None
    at: str | None  # ISO 8601, UTC
    pace_per_hour: float | None
    text: str
    labels_low: int | None = None
    labels_high: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """Where the assessment stood after its first `labels` labels.

    reached: what the rule asks about: a confidence, or for `estimate` the error or width.
    """

    labels: int
    reached: float | None
    finding: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A group whose posterior mean moved since the last report."""

    name: str
    was: float
    now: float


@dataclass(frozen=True, slots=True)
class Changes:
    """What is new since the report before."""

    made_at: str  # of the report before
    labels: int  # new ones; negative if more were deleted than given
    confidence_was: float | None
    text_was: str
    moved: tuple[Moved, ...]  # the most first
