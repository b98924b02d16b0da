"""Recall, precision and F1 of one class, the positive one."""

from __future__ import annotations

from worker.core.posterior.metrics import Metric, RatioKind
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, right_or_wrong
from worker.metrics.words import Words


def _meaning(cells: Cells, kind: RatioKind) -> Meaning:
    return right_or_wrong(cells, Metric(kind, unit=cells.unit))


def _mistakes(asked: Asked) -> list[tuple[str, str]]:
    if asked.positive is not None:
        return []
    return [("positive", "missing; name the class that is to be found")]


def _of_positives(kind: RatioKind, name: str, names: str, term: str, meaning: str) -> MetricOfPlan:
    return MetricOfPlan(
        name=kind,
        words=Words(
            name, names, f"{{}} with the lowest {name}", f"{{}} with the highest {name}",
            f"{{0}} has a lower {name} than {{1}} by more than {{2:g}}",
            f"{{0}} and {{1}} have the same {name} to within {{2:g}}",
            f"{{0}} has a higher {name} than {{1}} by more than {{2:g}}",
            term, meaning,
        ),
        meaning=lambda cells: _meaning(cells, kind),
        keys=("positive",),
        mistakes=_mistakes,
        best_is_open=True,
        groups="attribute",
        is_share=True,
        is_summed=False,
    )  # fmt: skip


RECALL = _of_positives(
    "recall", "recall", "recalls", "recall",
    "Of the items that truly are positive, the share that is predicted so: the true positive rate.",
)  # fmt: skip
PRECISION = _of_positives(
    "precision", "precision", "precisions", "precision",
    "Of the items that are predicted positive, the share that truly is.",
)  # fmt: skip
F1 = _of_positives(
    "f1", "F1", "F1 scores", "F1", "The harmonic mean of precision and recall.",
)  # fmt: skip
