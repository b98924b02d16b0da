"""What a report says of the annotators and of their votes.

People stand in the order of their first answers and are never ranked: items differ in difficulty.
"""

from __future__ import annotations

from dataclasses import dataclass

# Of chains that agree (Brooks & Gelman, J. Comput. Graph. Stat. 1998); real crowds: 1.02 to 1.13.
MOST_R_HAT = 1.2


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator, in the order of their first answers; never ranked, nameless by default.

    labels: items of the pool that they answered. skips: answers that were skips. last_at: None if
    all of their answers were deleted. per_hour: answers, on gold items too, an hour over the
    hours in which there were any. median_s: median seconds that Label Studio measured for one.
    agreement: share of the items of the pool judged by others too (`shared` of them) on which they
    gave the class that counts; None if there are none.
    gold, gold_right: votes on gold items, and how many named the known class; None if the plan has
    no gold items.
    quality, quality_low, quality_high: the chance to name the class of an item right, mean and
    equal-tailed 95% interval. Under the rule `dawid-skene` the posterior of `crowd.quality`, from
    all votes and gold items; under any other the Beta(1/2, 1/2) posterior (Jeffreys) of the votes
    on gold items alone. None if nothing is known.
    """

    name: str
    labels: int
    skips: int
    per_hour: float | None
    median_s: float | None
    agreement: float | None
    last_at: str | None
    shared: int = 0
    gold: int | None = None
    gold_right: int | None = None
    quality: float | None = None
    quality_low: float | None = None
    quality_high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of the votes on the pool's items, and its 95% bootstrap interval.

    alpha: 1 is perfect, 0 what chance gives; None if all votes name the same class. low, high:
    None where hardly any resample has an alpha, or items and classes are too many to resample.
    items: those with two votes or more, on which it rests; votes: on these. level: how far apart
    two classes are, `nominal` or `ordinal`.
    """

    alpha: float | None
    low: float | None
    high: float | None
    items: int
    votes: int
    level: str


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item on which annotators disagree; it does not say who gave which vote.

    votes: class -> votes, the most first. likeliest, sure: the likeliest class and its probability,
    where classes are inferred (`dawid-skene`).
    """

    item: str
    group: str
    votes: dict[str, int]
    likeliest: str | None
    sure: float | None


@dataclass(frozen=True, slots=True)
class Mistake:
    """How often somebody says `given` of items that are `true`: mean and 95% interval."""

    true: str
    given: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OwnConfusion:
    """What one annotator says of the items of each class.

    mean, sd: (K, K) [true][given] posterior mean and deviation; empty with more than 12 classes.
    mistakes: at most ten, the most frequent among these items first.
    """

    annotator: str
    mean: tuple[tuple[float, ...], ...]
    sd: tuple[tuple[float, ...], ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Confusions:
    """The annotators' confusions, in the order of their first answers (rule `dawid-skene`)."""

    classes: tuple[str, ...]
    of: tuple[OwnConfusion, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """An annotation that could not be read, and why."""

    annotation: int
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A wrong choice of a verdict: labelled outputs, and its share of the whole pool (95%)."""

    name: str
    labelled: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class JudgeRate:
    """Of outputs that people call right (TPR), or wrong (TNR), the share that the judge does."""

    name: str
    mean: float
    low: float
    high: float
