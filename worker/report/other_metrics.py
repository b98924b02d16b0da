"""What a file of labels tells besides what is asked: accuracy, bias, calibration, a judge's rates.

Each is asked of a plan of its own, as an estimate, so that its numbers are those that such a plan
publishes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from worker.assessment import Assessment, assess
from worker.core.posterior.belief import Belief
from worker.errors import PlanError
from worker.findings.evidence import groups, overall
from worker.metrics import WORDS, words_of_outputs
from worker.plan import Plan, load_plan
from worker.plan.annotation_part import AnnotationPlan
from worker.pool import Pool, compile_pool
from worker.pool.labels import Labels
from worker.report.contents import Confusion, Interval, Report
from worker.report.contents_densities import Densities
from worker.report.contents_labels import OtherMetric
from worker.report.densities import with_eces
from worker.report.reliability import reliability
from worker.store.tally import read_tally_key

_MOST_CLASSES = 30  # in a confusion matrix that nobody asked for: of more a picture shows a part
_WHOLE: dict[str, Any] = {"groups": "all_items", "parents": None}
# Metrics, and by what groups the whole pool's value is asked for, where not by the plan's own.
_OF_WHOLE: Mapping[str, Mapping[str, Any] | None] = {
    "accuracy": None,
    "bias": None,
    "ece": _WHOLE | {"groups": "score_bin(10)"},
    "judge_tpr": _WHOLE,
    "judge_tnr": _WHOLE,
}


def labels_alone(plan: Plan) -> Plan:
    """The plan without what is said of annotators, of looks at growing labels, and of a budget."""
    return plan.model_copy(
        update={
            "pool": plan.pool.model_copy(update={"data": {}}),
            "stop": plan.stop.model_copy(update={"looks": 1, "budget": None}),
            "annotation": AnnotationPlan(verdict=plan.annotation.verdict),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Estimate:
    work: Assessment
    belief: Belief

    @property
    def whole(self) -> Interval | None:
        told = overall(self.work, self.belief)
        return None if told is None else Interval(*(round(float(x), 6) for x in told))

    @property
    def of_groups(self) -> tuple[Interval | None, ...]:
        rows = groups(self.work, self.belief)
        return tuple(
            None if row["mean"] is None else Interval(row["mean"], row["low"], row["high"])
            for row in rows
        )


def with_other_metrics(report: Report, path: Path, labels: Labels, pools: Path) -> Report:
    """A report of one model, with every metric that labels of all items, or of a sample, tell.

    What a decision's labels do not tell, since they do not lie as items do, these do: the whole
    pool's value, and the calibration curve.

    Args:
        path: of the plan. pools: where compiled pools are kept.
    """
    plan = load_plan(path, for_simulation=True)
    level = {} if plan.question.level is None else {"level": plan.question.level}
    found, curve, matrix = [], report.reliability, report.confusion
    shown = report.densities or Densities()
    whole_is_known = report.labels == report.pool_items and report.models is None
    is_judged = plan.annotation.verdict is not None
    for metric, by in _OF_WHOLE.items():
        if metric == "ece" and any(factor.is_score_bin for factor in plan.pool.factors):
            one, of_groups = None, tuple[Interval | None, ...]()
        else:
            one = _estimate(path, labels, pools, {"metric": metric} | level)
            if one is None:
                continue
            of_groups = one.of_groups
            if metric == "accuracy" and curve is None:
                curve = reliability(one.work, one.belief, {}, [])
            if metric == "accuracy" and matrix is None and whole_is_known:
                matrix = confusion_counted(one.work.pool)
        if by is not None:
            by_group, one = one, _estimate(path, labels, pools, {"metric": metric}, by)
            if metric == "ece":
                shown = _with_eces(shown, by_group, one)
        whole = None if one is None else one.whole
        words = words_of_outputs(metric) if is_judged else WORDS[metric]
        found.append(OtherMetric(metric, words.name, whole, of_groups))
    assert report.source is not None, "asked of reports from labels"
    asked = next((one.overall for one in found if one.metric == report.metric), None)
    return replace(
        report,
        source=replace(report.source, metrics=tuple(found)),
        judge=(),  # they are among these
        overall=report.overall or (asked if report.metric != "ece" else None),
        reliability=curve,
        confusion=matrix,
        densities=shown if shown.ece or shown.differences else None,
    )


def _with_eces(told: Densities, by_group: _Estimate | None, pool: _Estimate | None) -> Densities:
    whole = None if pool is None or pool.whole is None else (pool.whole, pool.belief)
    if by_group is None:
        return with_eces(told, (), (), None, whole)
    return with_eces(told, by_group.work.group_names, by_group.of_groups, by_group.belief, whole)


def confusion_counted(pool: Pool) -> Confusion | None:
    """How the true classes share the predicted ones where all items are labelled; a count.

    None of other groups than the predicted classes, and of more classes than a page can show.
    """
    names, known = pool.classes, pool.known
    if known is None or len(names) > _MOST_CLASSES or pool.group_names != names:
        return None
    told = [(read_tally_key(key), n) for key, n in known.tally.items()]
    classes = (*names, *sorted({key.label for key, _ in told} - set(names)))
    place = {name: k for k, name in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)))
    for key, n in told:
        counts[key.predicted, place[key.label]] += n
    with np.errstate(invalid="ignore"):
        shares = (counts / counts.sum(axis=1, keepdims=True)).round(6)
    rows = tuple(tuple(None if x != x else x for x in row) for row in shares.tolist())
    return Confusion(classes, rows, rows, rows)


def _estimate(
    path: Path,
    labels: Labels,
    pools: Path,
    question: Mapping[str, Any],
    pool: Mapping[str, Any] | None = None,
) -> _Estimate | None:
    """An estimate of another metric; None where the plan's pool has none."""
    asking = {"question": {"task": "estimate", **question}, "pool": pool or {}}
    try:
        plan = labels_alone(load_plan(path, for_simulation=True, asking=asking))
    except PlanError:
        return None
    work = assess(plan, compile_pool(plan, pools, labels=labels))
    return _Estimate(work, work.believe({}))
