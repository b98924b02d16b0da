"""What a group's value is: its accuracy, or another number that its items' outcomes give."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RatioKind = Literal["recall", "precision", "f1"]
MetricKind = Literal[
    "accuracy", "bias", "ece", "cost", "confusion", RatioKind, "measure", "difference"
]

# Metrics that are affine in the number of right answers: the exact distribution is known.
AFFINE: tuple[MetricKind, ...] = ("accuracy", "bias")
# Metrics that are hits / (w predicted positive + (1 - w) truly positive), with their w: recall,
# their harmonic mean, and precision (van Rijsbergen, "Information Retrieval", 1979).
RATIOS: dict[str, float] = {"recall": 0.0, "f1": 0.5, "precision": 1.0}


def _nothing() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """What is asked of every group, with what it takes from the pool; C cells.

    With theta_g the share of right answers among all items of the group, s the mean score:

    accuracy   theta_g
    bias       s_g - theta_g: positive where the classifier is overconfident
    ece        sum_b p_b|g |s_b - theta_b| over the group's bins b: its calibration error
    cost       the mean cost of its items, by predicted and true class
    confusion  theta_g and the shares of its kinds of errors; a vector, so it can only be estimated
    recall     of its items that are truly positive, the share that is predicted so
    precision  of its items that are predicted positive, the share that is truly so
    f1         the harmonic mean of both
               These three of one class, the positive one, or averaged over all classes.
    measure    the mean distance of its items' predictions from what people say of them
    difference the accuracy of one model less that of another, on the same items

    score: (C,) mean score of each cell's items, in [0, 1]; bias and ece.
    unit: (C,) whole, ascending within a group: the bin of each cell (ece), whether its items are
        predicted positive, 0 or 1, or the class that they are predicted as (`RATIOS`), or whether
        the two models agree on them (difference).
    values: (C, 1 + L) cost of a right answer and of each kind of error (cost).
    common: (G, 3) pseudo-counts of the Dirichlet of what all cells of a group have in common, where
        models disagree: the first is right, the second, neither (difference).
    pooled: the sum over the groups, weighted by their shares of the pool, is what is asked (the
        ECE of a pool whose groups are its bins, and every measure).
    level: of the interval of that sum; the narrowest one for a measure.
    classes: whose ratio it is: `one` class's, the positive one, or the mean over `all` of them; or
        the groups are the predicted classes, and `each` has its own, by the errors in all groups.

    In the ratios of one class an answer is right if it says rightly whether the item is positive:
    of one that is predicted otherwise, whichever other class it is. In a difference an item is
    right if the first model alone is right; else 0: the second alone is, 1: both or neither.

    Source:
        Ji, Logan, Smyth & Steyvers, "Active Bayesian Assessment for Black-Box Classifiers"
        (AAAI 2021) and its supplement; here each is the value on the whole pool.
    """

    kind: MetricKind = "accuracy"
    score: Floats = field(default_factory=_nothing)
    unit: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    values: Floats = field(default_factory=_nothing)
    common: Floats = field(default_factory=_nothing)
    pooled: bool = False
    level: float = 0.95
    classes: Literal["one", "all", "each"] = "one"

    def __post_init__(self) -> None:
        if self.kind not in get_args(MetricKind):
            raise ValueError(
                f"metric is {self.kind!r}, expected one of {', '.join(get_args(MetricKind))}."
            )

        if self.pooled and self.kind not in ("ece", "measure"):
            raise ValueError(
                f"the metric {self.kind} is pooled, but only of an ece or a measure the groups' "
                "sum is asked; leave `pooled` out."
            )

    @property
    def counts_errors(self) -> bool:
        """Whether the kinds of errors matter, and not only right and wrong."""
        return self.kind in ("cost", "confusion", "difference") or self.classes != "one"


ACCURACY = Metric()


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """What the wrong items of each cell were: the kinds of its errors are Dirichlet-multinomial.

    counts: (C, L) labelled errors of each kind, whole, >= 0.
    prior: (C, L) pseudo-counts, >= 0, with a positive sum in every cell.
    common: (L,) errors, > 0, that tell how frequent each kind is in all cells together, if the
        prior is learnt from them; none if it is not.

    With Beta(a, b) for right answers and prior @ 1 = b this is the Dirichlet of the paper: a
    Dirichlet is a Beta for one of its shares times a Dirichlet for the rest.
    """

    counts: Any
    prior: Floats
    common: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.counts.ndim != 2 or self.counts.shape != self.prior.shape:
            raise ValueError(
                f"the errors' counts have shape {self.counts.shape} and their prior "
                f"{self.prior.shape}; pass two arrays of one row a cell and one column a kind."
            )
        if not (self.counts >= 0).all() or not (self.prior >= 0).all():
            raise ValueError("the errors' counts and prior must be >= 0; correct the tally.")
        if not (np.isfinite(self.prior).all() and (self.prior.sum(axis=1) > 0).all()):
            raise ValueError(
                "the errors' prior must be finite with a positive sum in every cell; "
                "spread some of it over all kinds."
            )


def check_fit(metric: Metric, n_cells: int, errors: Errors | None) -> None:
    """Check that the metric has what it takes, with one entry a cell.

    Raises:
        ValueError: an array is missing or has another length.
    """
    needed = {
        "score": metric.kind in ("bias", "ece"),
        "unit": metric.kind in ("ece", "difference", *RATIOS),
        "values": metric.kind == "cost",
    }
    for name, is_needed in needed.items():
        array = getattr(metric, name)
        if is_needed and (array.shape[:1] != (n_cells,)):
            raise ValueError(
                f"the metric {metric.kind} has {name} of shape {array.shape} for {n_cells} cells; "
                "pass one entry a cell."
            )
    if not metric.counts_errors:
        return
    if errors is None or len(errors.counts) != n_cells:
        raise ValueError(
            f"the metric {metric.kind} needs the counts of every kind of error, one row for each "
            f"of the {n_cells} cells; pass `errors`."
        )
    n_kinds = errors.counts.shape[1]
    of_kind = {"cost": metric.values.shape[-1] - 1, "difference": 2}
    expected = of_kind.get(metric.kind, n_kinds)
    if expected != n_kinds:
        raise ValueError(
            f"the metric {metric.kind} knows {expected} kinds of errors, the counts have "
            f"{n_kinds}; derive both from the same classes."
        )
