"""What the second opinions of a pool were worth, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its 95% interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Side:
    """The items of some strata, and the classifier's accuracy there.

    where: it agrees, or it does not. labelled, right: labels, and how many of them found the
    classifier right. accuracy: of its items; None where labels are too few, there are no items, or
    labels lie where a decision is open.
    """

    where: str
    items: int
    labelled: int
    right: int
    accuracy: Estimate | None


@dataclass(frozen=True, slots=True)
class Worth:
    """One opinion.

    silent: items of which it says nothing. agrees: on which share of the others. sides: the
    strata in which it agrees on at least half of the items, and the others on which it says
    something. None and empty of what is no classifier.
    """

    name: str
    kind: str
    silent: int
    agrees: float | None
    sides: tuple[Side, ...]
    text: str
    warning: str


@dataclass(frozen=True, slots=True)
class Weight:
    """What one of an opinion's terms says of accuracy, as the fitted prior has it.

    weight: in logits of accuracy, for one standard deviation of what it says (of a category: for
    being of it). times: how many times as high the odds of being right are then, at like scores.
    """

    opinion: str
    term: str
    weight: float
    times: float


@dataclass(frozen=True, slots=True)
class Opinions:
    """All opinions of a pool.

    ratio: how many times as many labels the same standard error would have taken without them
        (`worker.findings.opinions_strata.labels_ratio`), its median. saved: so many more labels,
        at least 0 and at most all items. Of all opinions together: there is no split, as each tells
        in part what the others tell. None: too few labels to tell.
    text: all of it in some sentences. warnings: those of single ones.
    """

    of: tuple[Worth, ...]
    weights: tuple[Weight, ...]
    ratio: Estimate | None
    saved: Estimate | None
    text: str
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)
