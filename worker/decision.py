"""Verdict -> decision: the finding in words and numbers, with the evidence that it rests on."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.anytime.guarantee import ends, misses
from worker.core.belief import Belief, group_labelled, group_right, group_size, unlabelled
from worker.core.confusion import confusion_mean
from worker.core.entries import confusion_interval
from worker.core.posterior import highest_density_interval, interval, mean
from worker.core.stopping import Verdict
from worker.filling import unclaimed_cells
from worker.ledger import Header, Standing
from worker.plan import Plan
from worker.standings import Standings, standings
from worker.wording import finding, guarantee_means, headline, headline_by_hand

VERSION = 1
Since = Literal["confirmed", "weakened", "overturned"]


def decision(
    assessment: Assessment,
    header: Header,
    standing: Standing,
    belief: Belief,
    verdict: Verdict,
    *,
    kind: Literal["stop", "review"],
    reason: str,
    since: Since | None = None,
) -> str:
    """Return the decision as JSON.

    Args:
        kind: `stop` ends the labelling; `review` says how a later label changed the finding.
        reason: answered, budget, exhausted, or `by hand`.
        since: for a review, what became of the finding that was published.
    """
    plan = assessment.plan
    say = headline_by_hand if reason == "by hand" else headline
    text = say(assessment, belief, verdict)
    if since is not None:
        text = f"Later labels: the finding is {since}. {text}"
    found = standings(belief)
    states = [u.state for u in standing.unsettled.values()]
    body: dict[str, Any] = {
        "version": VERSION,
        "assessment": header.assessment,
        "kind": kind,
        "reason": reason,
        "is_conclusive": reason == "answered" or verdict.certain,
        "since": since,
        "text": text,
        "finding": finding(assessment, belief, verdict),
        "chosen": [assessment.pool.group_names[g] for g in verdict.chosen],
        "confidence": verdict.confidence,
        "value": verdict.value,
        "is_certain": verdict.certain,
        "pairs": _pairs(assessment, verdict),
        "question": _question(plan),
        "rule": {
            "kind": assessment.rule.kind,
            "target": assessment.rule.target,
            "confidence": assessment.rule.confidence,
            "budget": assessment.rule.budget,
            "min_per_group": plan.stop.min_per_group,
            "looks": plan.stop.looks,
        },
        "guarantee": plan.stop.guarantee,
        "guarantee_means": guarantee_means(assessment),
        "labels": verdict.labels,
        "pool_items": assessment.pool.n_items,
        "claims": standing.claims,
        "annotators": len(standing.authors),
        "rejected": standing.n_rejected,
        "skipped_items": states.count("skipped"),
        "deleted_items": states.count("deleted"),
        "groups": [
            row | place | band
            for row, place, band in zip(
                groups(assessment, belief),
                _places(found),
                _bands(assessment, belief, standing),
                strict=True,
            )
        ],
        "overall": dict(zip(("mean", "low", "high"), map(_rounded, found.overall), strict=True)),
        "revision": standing.revision,
        "seed": plan.seed,
        "strategy": plan.strategy,
        "prior": plan.prior.model_dump(mode="json"),
        "population": plan.population,
        "plan_hash": header.plan_hash,
        "pool_hash": header.pool_hash,
        "project": header.project,
        "versions": {
            "assay": version("assay"),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "python": platform.python_version(),
        },
        "decided_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(body, ensure_ascii=False)


def groups(assessment: Assessment, belief: Belief) -> list[dict[str, Any]]:
    """The posterior of every group's value, in the pool's order; an empty group has no numbers.

    mean, low to high: of the metric's value, with the equal-tailed 95% interval; hpdi_low to
    hpdi_high: the narrowest one. For the metric confusion these are of the accuracy, and
    `confusion`, `confusion_low` and `confusion_high` have the share of every true class among the
    group's items: mean and 95% interval.
    """
    size, labelled, right = group_size(belief), group_labelled(belief), group_right(belief)
    bounds = np.column_stack([mean(belief), interval(belief), highest_density_interval(belief)])
    names = ("mean", "low", "high", "hpdi_low", "hpdi_high")
    of_classes: dict[str, NDArray[np.float64]] = {}
    if belief.metric.kind == "confusion":
        low, high = np.moveaxis(confusion_interval(belief), 2, 0)
        means = confusion_mean(belief)
        of_classes = {"confusion": means, "confusion_low": low, "confusion_high": high}
    rows = []
    for g, name in enumerate(assessment.pool.group_names):
        row: dict[str, Any] = {"group": name, "size": int(size[g])}
        row |= {"labelled": int(labelled[g]), "right": int(right[g])}
        row |= dict(zip(names, map(_rounded, bounds[g]), strict=True))
        for key, shares in of_classes.items():
            row[key] = _by_class(assessment, g, shares[g]) if size[g] else None
        rows.append(row)
    return rows


def _by_class(assessment: Assessment, g: int, shares: NDArray[np.float64]) -> dict[str, float]:
    """True class -> share: the first is that of the right answers, the rest of each kind of error.

    The metric confusion has one group for each predicted class.
    """
    return {
        name: float(round(shares[0] if k == g else shares[1 + k], 6))
        for k, name in enumerate(assessment.pool.classes)
    }


def _places(found: Standings) -> list[dict[str, float | None]]:
    names = ("p_lowest", "p_highest", "rank", "rank_low", "rank_high")
    columns = [getattr(found, name) for name in names]
    return [dict(zip(names, map(_rounded, row), strict=True)) for row in np.column_stack(columns)]


def _bands(
    assessment: Assessment, belief: Belief, standing: Standing
) -> list[dict[str, float | None]]:
    """What holds of each group's value at any time, if that is what the plan asks for."""
    guard = assessment.guard
    if guard is None:
        return [{} for _ in assessment.pool.group_names]
    unknown = unlabelled(belief) - unclaimed_cells(assessment, standing)
    band = ends(belief, unknown, guard, *misses(belief, assessment.question, guard.miss))
    return [
        {"band_low": _rounded(low), "band_high": _rounded(high)}
        for low, high in zip(band.low, band.high, strict=True)
    ]


def _rounded(number: float) -> float | None:
    return None if np.isnan(number) else round(float(number), 6)


def _question(plan: Plan) -> dict[str, Any]:
    """The question as the plan has it; of its files the names only."""
    names = {key.removeprefix("question."): path.name for key, path in plan.question.paths.items()}
    return plan.question.model_dump(mode="json") | names


def compared(published: dict[str, Any], assessment: Assessment, verdict: Verdict) -> Since:
    """Say what became of a published finding, now that labels changed.

    `overturned`: the finding is another one. `weakened`: it is the same, but was conclusive and
    would not be published today. Else `confirmed`.
    """
    chosen = [assessment.pool.group_names[g] for g in verdict.chosen]
    regions = [pair["region"] for pair in _pairs(assessment, verdict)]
    was = [pair["region"] for pair in published["pairs"]]
    if set(chosen) != set(published["chosen"]) or regions != was:
        return "overturned"
    holds = verdict.reason == "answered" or verdict.certain
    return "weakened" if published["is_conclusive"] and not holds else "confirmed"


def _pairs(assessment: Assessment, verdict: Verdict) -> list[dict[str, Any]]:
    names = assessment.pool.group_names
    return [
        {
            "groups": [names[p.g1], names[p.g2]],
            "region": p.region,
            "below": p.p_below,
            "within": p.p_within,
            "above": p.p_above,
        }
        for p in verdict.pairs
    ]
