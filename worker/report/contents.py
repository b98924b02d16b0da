"""The report as a value: everything that a page says, numbers and words, and no pixels.

Numbers are rounded once, when the report is made, to 6 digits after the point; pages, tables and
pictures show these, so nothing on a page is missing from, or different in, its JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from worker.report.contents_densities import Densities
from worker.report.contents_labels import LabelSource
from worker.report.contents_people import (
    Agreement,
    Annotator,
    Confusions,
    Disputed,
    Failure,
    JudgeRate,
    Rejected,
)
from worker.report.contents_progress import Changes, Forecast, Point

if TYPE_CHECKING:
    from worker.evaluator.experiments import PredictorExperiment
    from worker.findings.continuation import Continuation
    from worker.findings.opinions_values import Opinions

VERSION = 1


@dataclass(frozen=True, slots=True)
class Interval:
    """Posterior mean and 95% interval; of the ECE of a pool that is asked for, the median."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """One group. The numbers of an empty one are None; share: of the pool's items.

    mean, low to high: the metric's value (`confusion`: accuracy), 95% interval; rank 1 is lowest.
    band_low to band_high: what holds at any time, under that guarantee.
    """

    name: str
    size: int
    share: float
    labelled: int
    right: int
    mean: float | None
    low: float | None
    high: float | None
    p_lowest: float | None
    p_highest: float | None
    rank: float | None
    rank_low: float | None
    rank_high: float | None
    is_chosen: bool
    band_low: float | None = None
    band_high: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """How `first` stands to `second`: probabilities that the difference is below, within, above."""

    first: str
    second: str
    below: float
    within: float
    above: float
    region: str  # the likeliest of the three


@dataclass(frozen=True, slots=True)
class Bin:
    """Items of like scores: what the classifier says of them, and what is so (95% interval)."""

    score: float
    accuracy: float
    low: float
    high: float
    items: int
    labelled: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Accuracy of the items with scores about `score`: posterior mean and 95% band."""

    score: float
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Scores against accuracies, and the pool's expected calibration error.

    curve: smooth, ascending scores. ece: over the bins; curve_ece: the mean distance of score and
    curve over all items; None where labels do not tell it (`worker.report.reliability`).
    """

    bins: tuple[Bin, ...]
    ece: Interval | None
    curve: tuple[CurvePoint, ...] = ()
    curve_ece: Interval | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """A site or a parent, such as a superclass, that is asked about, and what is known of it.

    reliability: from its own labels; None of parents beyond a dozen, and without scores.
    """

    name: str
    items: int
    labelled: int
    accuracy: Interval
    reliability: Reliability | None


@dataclass(frozen=True, slots=True)
class Apart:
    """Accuracy's standard deviation between all parents like these, and that of a further one."""

    sd: Interval
    new: Interval


@dataclass(frozen=True, slots=True)
class Confusion:
    """The share of each true class among the items of a predicted one; rows are predicted classes.

    mean, low, high: (K, K) [predicted][true], 95% intervals; rows without items are all None.
    """

    classes: tuple[str, ...]
    mean: tuple[tuple[float | None, ...], ...]
    low: tuple[tuple[float | None, ...], ...]
    high: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """What became of the pool's items, as `worker.findings.fates.Fates` says.

    foreign_tasks: tasks of the project that are not ours.
    gold: answered gold items (by `majority`: those with one); they are outside the pool. None if
    the plan has no gold items.
    """

    labelled: int
    queued: int
    skipped: int
    rejected: int
    deleted: int
    withdrawn: int
    unclaimed: int
    foreign_tasks: int
    gold: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """One assessment at one moment."""

    version: int
    assessment: str
    title: str
    made_at: str  # ISO 8601, UTC
    started_at: str
    revision: int
    status: str
    text: str
    is_enough: bool
    is_certain: bool
    confidence: float | None
    value: float | None
    forecast: Forecast | None
    question: dict[str, Any]
    question_text: str
    rule: dict[str, Any]
    rule_text: str
    guarantee: str
    guarantee_means: str
    metric: str
    metric_name: str
    which: str
    top: int
    labels: int
    pool_items: int
    progress: tuple[Point, ...]
    progress_name: str
    progress_target: float
    progress_is_share: bool  # a confidence, done when reached >= target; else done when <=
    groups: tuple[Group, ...]
    overall: Interval | None  # None where labels do not tell of the whole pool
    boundary: float | None  # between the chosen groups and the others
    epsilon: float | None
    pairs: tuple[Pair, ...]  # at most 500, the least sure first
    n_pairs: int  # in question
    reliability: Reliability | None
    confusion: Confusion | None
    changes: Changes | None
    annotators: tuple[Annotator, ...]
    items: Items
    rejected: tuple[Rejected, ...]  # annotations; the latest 100
    n_rejected: int
    decisions: tuple[dict[str, Any], ...]
    reproduce: dict[str, Any]
    glossary: tuple[tuple[str, str], ...]
    progress_decides: bool = True  # else bands that hold at any time do, and it is told beside them
    chances_text: str = ""  # how single groups' probabilities differ from the answer's
    agreement: Agreement | None = None
    disputed: tuple[Disputed, ...] = ()  # at most 20, the most disputed first
    confusions: Confusions | None = None
    failures: tuple[Failure, ...] = ()  # where people judge outputs: each wrong choice
    judge: tuple[JudgeRate, ...] = ()  # of outputs: the judge's TPR and TNR
    r_hat: float | None = None  # of the draws of the items' classes, where they are inferred
    evaluation: PredictorExperiment | None = None  # of the task evaluate
    evaluation_text: tuple[str, ...] = ()  # what is confused with what
    models: dict[str, Any] | None = None  # of several: `model_comparison.models_of`
    shortlist: dict[str, Any] | None = None  # of identify: `evidence.among_row`
    parents: tuple[Family, ...] = ()
    parents_are: str = ""  # site, superclass, or the column's name
    apart: Apart | None = None
    opinions: Opinions | None = None  # what else was known of the items, and what that was worth
    then_and_now: Continuation | None = None  # beside the assessment that it continues
    left_out: str = ""  # rows of the predictions that are not in the pool, by why
    densities: Densities | None = None  # of a few ECEs and differences; None where all are exact
    source: LabelSource | None = None  # the file of labels; None where annotators give them

    def _repr_html_(self) -> str:
        """The page, in a frame of its own: a notebook has other styles and runs other scripts."""
        from worker.report.page import page  # what draws takes long to load

        return Markup(
            '<iframe srcdoc="{}" sandbox="allow-scripts" title="Report" width="100%" height="800">'
            "</iframe>"
        ).format(page(self))


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values, in the order of its fields."""
    return asdict(report)
