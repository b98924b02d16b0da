"""The expected cost of an answer, by its true and its predicted class."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Asked, Cells, Floats, Ints, Meaning, MetricOfPlan, summed
from worker.metrics.words import words

NAMED_COSTS = ("human", "superclass")


def _meaning(cells: Cells) -> Meaning:
    assert cells.costs is not None, "a pool for costs has them"
    k, predicted = len(cells.classes), cells.group  # the groups are the predicted classes
    kind, by_kind = _kinds_of_costs(cells.costs)
    right = np.diag(cells.costs)[predicted]
    values = np.concatenate([right[:, None], np.nan_to_num(by_kind[predicted])], axis=1)
    np.fill_diagonal(kind, -1)
    n_kinds = by_kind.shape[1]
    classes = np.stack([(kind[:, :k] == j).sum(axis=1) for j in range(n_kinds)], axis=1)
    share = summed(cells.mean_probability, kind[predicted, :k], n_kinds)
    return Meaning(Metric("cost", values=values), kind, classes[predicted], share)


def _kinds_of_costs(costs: Floats) -> tuple[Ints, Floats]:
    """The kind of every error (K, K + 1), and each kind's cost (K, L), nan where there is none.

    Errors that cost the same are one kind: a Dirichlet whose shares are summed is a Dirichlet.
    """
    k = len(costs)
    kind = np.zeros((k, k + 1), dtype=np.int64)
    levels = []
    for predicted in range(k):
        others = np.delete(np.arange(k), predicted)
        level, of = np.unique(costs[others, predicted], return_inverse=True)
        kind[predicted, others] = of
        levels.append(level)
    by_kind = np.full((k, max(level.size for level in levels)), np.nan)
    for predicted, level in enumerate(levels):
        by_kind[predicted, : level.size] = level
    return kind, by_kind


def _mistakes(asked: Asked) -> list[tuple[str, str]]:
    if asked.costs is None:
        return [("costs", "missing; expected the path of a CSV file, human, or superclass")]
    found: list[tuple[str, str]] = []
    if asked.costs not in NAMED_COSTS:
        found.extend(
            (key, "only the costs human and superclass have it; the file says it all")
            for key in ("cost_ratio", "superclasses")
            if getattr(asked, key) is not None
        )
    if asked.people is not None and asked.costs != "human":
        found.append(("people", f"only the costs human have it; the costs are {asked.costs}"))
    if asked.costs == "superclass" and asked.superclasses is None:
        text = "missing; give a CSV file with the columns class and superclass"
        found.append(("superclasses", text))
    return found


COST = MetricOfPlan(
    name="cost",
    words=words(
        "expected cost", "expected costs", ("least costly", "most costly"),
        ("less costly", "equally costly", "more costly"),
        "expected cost", "The mean cost of an answer, by its true and its predicted class.",
    ),
    meaning=_meaning,
    keys=("costs", "cost_ratio", "superclasses", "people"),
    mistakes=_mistakes,
    worst_is_highest=True,
    best_is_open=True,
    of_true_classes=True,
    has_entries=True,
    groups="predicted_class",
    range=None,
    # Of a class that is cut in 16 a cell has one or two errors, and the intervals of its entries,
    # and of its cost, held in .8 to .85.
    strata=1,
    strength=1.0,
)  # fmt: skip
