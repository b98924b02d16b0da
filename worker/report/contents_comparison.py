"""Two assessments side by side as a value: everything that the page of a comparison says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from worker.report.contents import Interval

VERSION = 1


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two assessments."""

    assessment: str
    title: str
    status: str
    text: str
    labels: int
    pool_items: int
    revision: int
    plan_hash: str
    pool_hash: str


@dataclass(frozen=True, slots=True)
class Difference:
    """How a value stands in both; `difference` is that of B minus that of A.

    p_higher, p_lower: probabilities that it is higher, or lower, in B; the rest is equality.
    labels_a, labels_b: how many it rests on.
    """

    name: str
    a: Interval
    b: Interval
    difference: Interval
    p_higher: float
    p_lower: float
    labels_a: int
    labels_b: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two assessments at one moment; intervals hold 95%.

    groups: those with items in both, by name, the greatest fall from A to B first.
    overall: the groups' values weighted by their shares of each pool; None where one side
        estimates none (`worker.findings.evidence.overall`).
    """

    version: int
    made_at: str  # ISO 8601, UTC
    metric: str
    metric_name: str
    a: Side
    b: Side
    overall: Difference | None
    groups: tuple[Difference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    remarks: tuple[str, ...]


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, in the order of its fields."""
    return asdict(comparison)
