"""What a metric is made of: its words, what it needs, and what labels mean for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.metrics import Metric
from worker.metrics.words import Words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Asked(Protocol):
    """The keys of a plan's question that metrics look at."""

    @property
    def task(self) -> str: ...
    @property
    def which(self) -> str: ...
    @property
    def positive(self) -> str | None: ...
    @property
    def costs(self) -> str | None: ...
    @property
    def cost_ratio(self) -> float | None: ...
    @property
    def superclasses(self) -> Path | None: ...
    @property
    def people(self) -> tuple[str, ...] | None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What is known of a pool's C cells and K classes before any label.

    group, unit: (C,). mean_score: (C,) in [0, 1]; NaN without scores. mean_probability: (C, K).
    costs: (K, K) [true, predicted]. pooled: the groups are score bins of one value for the whole
    pool.
    """

    classes: tuple[str, ...]
    group: Ints
    unit: Ints
    mean_score: Floats
    mean_probability: NDArray[np.float32] | None
    costs: Floats | None
    pooled: bool


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What labels mean for a metric; L kinds of errors.

    metric: what a belief is about. kind: (K, K + 1) [predicted, label] the kind of an error; the
    last label stands for all that are no class of the pool. n_classes: (C, L) how many classes a
    kind stands for. share: (C, L) the classifier's probabilities of the kinds; None without any.
    """

    metric: Metric
    kind: Ints
    n_classes: Ints
    share: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOfPlan:
    """One metric of the plan.

    meaning: what labels mean, given what is known of the pool's cells.
    keys: of the question, that it alone has.
    mistakes: keys of the question and sentences, for what it cannot do.
    worst_is_highest: the worst groups have the highest values.
    best_is_open: of which group is the best of all, labels tell little: values end where no error
        is, and may all lie there.
    needs_scores: it holds scores against labels.
    of_true_classes: it asks for more of a label than right or wrong.
    has_entries: it needs to know which class a label is.
    judge_says: of outputs that people judge: it is the recall of what the judge says, and of which
        of both. None if it is of what is assessed.
    groups: by what groups may be made; see `worker.plan.fitting`.
    range: the values that it can have; None if there is no end. is_share: of a group's items.
    is_summed: the whole pool's value is the groups' mean, weighted by their shares.
    bins: how many score bins inside every group it looks at by default; 0: it has none.
    strata: of a cell by default, if other than usual: a cell learns its kinds of errors from its
        own labels alone, and bins are cells already.
    has_classes_apart: inside every group it looks at the items of each predicted class apart.
    strength: how many labels a prior is worth by default, as in the paper: 2 for Beta priors, 1 for
        Dirichlet priors.
    """

    name: str
    words: Words
    meaning: Callable[[Cells], Meaning]
    keys: tuple[str, ...] = ()
    mistakes: Callable[[Asked], list[tuple[str, str]]] = field(default=lambda asked: [])
    worst_is_highest: bool = False
    best_is_open: bool = False
    needs_scores: bool = False
    of_true_classes: bool = False
    has_entries: bool = False
    judge_says: Literal["right", "wrong"] | None = None
    groups: Literal["any", "predicted_class", "attribute"] = "any"
    range: tuple[float, float] | None = (0.0, 1.0)
    is_share: bool = False
    is_summed: bool = True
    bins: int = 0
    strata: int | None = None
    has_classes_apart: bool = False
    strength: float = 2.0


def right_or_wrong(cells: Cells, metric: Metric) -> Meaning:
    """The meaning where labels say right or wrong, and no more."""
    nothing = np.zeros((cells.group.size, 0), dtype=np.int64)
    return Meaning(metric, whatever_predicted(len(cells.classes), 0), nothing)


def by_true_class(cells: Cells, predicted: Ints, metric: Metric) -> Meaning:
    """The meaning where each true class is a kind of errors.

    Args:
        predicted: (C,) the class that the items of each cell are predicted as.
    """
    k = len(cells.classes)
    kind = np.tile(np.arange(k + 1), (k, 1))
    np.fill_diagonal(kind, -1)
    classes = np.stack([(kind[:, :k] == j).sum(axis=1) for j in range(k)], axis=1)
    share = summed(cells.mean_probability, kind[predicted, :k], k)
    return Meaning(metric, kind, classes[predicted], share)


def whatever_predicted(k: int, of_label: Ints | int) -> Ints:
    """(K, K + 1) kinds of errors that are the same whatever was predicted, in the room of one."""
    row = np.broadcast_to(np.asarray(of_label, dtype=np.int64), k + 1)
    return np.broadcast_to(row, (k, k + 1))


def summed(probability: NDArray[np.float32] | None, kind: Ints, n_kinds: int) -> Floats | None:
    """(C, L) the classifier's probabilities (C, K) summed over the classes of each kind (C, K)."""
    if probability is None:
        return None
    share = np.zeros((len(probability), n_kinds))
    for j in range(n_kinds):
        share[:, j] = np.where(kind == j, probability, 0.0).sum(axis=1)
    return share
