"""What a report says of the file that its labels are from, and of other metrics that they tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worker.report.contents import Interval


@dataclass(frozen=True, slots=True)
class OtherMetric:
    """What the labels tell of one metric, whatever is asked.

    overall: of the whole pool; of calibration errors the pool's own, which is no mean of the
    groups'. groups: in the report's order, None of those without items; empty where they have none.
    """

    metric: str
    name: str
    overall: Interval | None
    groups: tuple[Interval | None, ...]


@dataclass(frozen=True, slots=True)
class LabelSource:
    """A file of labels, in place of annotators.

    labelled: items of the pool with a label. empty: rows without one. elsewhere: labels of items
    that are not in the pool. use: `random`, also where all are labelled, or `known`. text: what the
    labels tell and what they cannot, as sentences. metrics: none where labels tell only of their
    own items, nor of several models.
    """

    file: str
    column: str
    use: str
    labelled: int
    empty: int
    elsewhere: int
    text: tuple[str, ...]
    metrics: tuple[OtherMetric, ...] = ()
