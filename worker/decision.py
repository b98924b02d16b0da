"""Verdict -> decision: the finding in words and numbers, with the evidence that it rests on."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal

from worker.assessment import Assessment
from worker.core.belief import Belief, group_labelled, group_right, group_size
from worker.core.posterior import interval, mean
from worker.core.stopping import Verdict
from worker.ledger import Header, Standing

VERSION = 1
Since = Literal["confirmed", "weakened", "overturned"]

_REGION = {
    "below": "{0} is less accurate than {1} by more than {2:g}",
    "within": "{0} and {1} are equally accurate to within {2:g}",
    "above": "{0} is more accurate than {1} by more than {2:g}",
}


def finding(assessment: Assessment, verdict: Verdict) -> str:
    """Say what was found out, in one sentence that holds whether or not the rule is met."""
    names, question = assessment.pool.group_names, assessment.question
    if question.task == "identify":
        chosen = [names[g] for g in verdict.chosen]
        degree = "least" if question.which == "lowest" else "most"
        verb = "is the" if len(chosen) == 1 else "are the"
        word = "class" if assessment.plan.pool.groups == "predicted_class" else "group"
        plural = {"class": "classes", "group": "groups"}[word]
        count = "" if len(chosen) == 1 else f"{len(chosen)} "
        noun = word if len(chosen) == 1 else plural
        return f"{_listed(chosen)} {verb} {count}{degree} accurate {noun}{_sure(verdict)}"
    if question.task == "compare":
        said = [
            _REGION[p.region].format(names[p.g1], names[p.g2], question.epsilon)
            for p in verdict.pairs[:3]
        ]
        more = f", and {len(verdict.pairs) - 3} more pairs" if len(verdict.pairs) > 3 else ""
        return "; ".join(said) + more + _sure(verdict)
    value = verdict.value if verdict.value is not None else float("nan")
    what = (
        "the expected root mean squared error of the groups' accuracies"
        if assessment.rule.kind == "rmse"
        else "the widest 95% interval of a group's accuracy"
    )
    return f"{what} is {value:.4f} (asked for: {assessment.rule.target:g})"


def headline(assessment: Assessment, verdict: Verdict) -> str:
    """The one line for people: is enough known, what, how sure, after how many labels."""
    pool = assessment.pool.n_items
    labels = f"{verdict.labels:,} of {pool:,} items labelled"
    start = {
        "open": "Not yet: at present",
        "answered": "Enough is known:",
        "exhausted": "All that can be labelled is:"
        if not verdict.certain
        else "Everything is labelled:",
        "budget": "The budget is spent, and the question is not answered: at present",
    }[verdict.reason]
    return f"{start} {finding(assessment, verdict)}; {labels}."


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
    text = (
        headline(assessment, verdict)
        if reason != "by hand"
        else (
            f"Stopped by hand: at present {finding(assessment, verdict)}; "
            f"{verdict.labels:,} of {assessment.pool.n_items:,} items labelled."
        )
    )
    if since is not None:
        text = f"Later labels: the finding is {since}. {text}"
    states = [u.state for u in standing.unsettled.values()]
    body: dict[str, Any] = {
        "version": VERSION,
        "assessment": header.assessment,
        "kind": kind,
        "reason": reason,
        "is_conclusive": reason == "answered" or verdict.certain,
        "since": since,
        "text": text,
        "finding": finding(assessment, verdict),
        "chosen": [assessment.pool.group_names[g] for g in verdict.chosen],
        "confidence": verdict.confidence,
        "value": verdict.value,
        "is_certain": verdict.certain,
        "pairs": _pairs(assessment, verdict),
        "question": plan.question.model_dump(mode="json"),
        "rule": {
            "kind": assessment.rule.kind,
            "target": assessment.rule.target,
            "confidence": assessment.rule.confidence,
            "budget": assessment.rule.budget,
        },
        "guarantee": plan.stop.guarantee,
        "guarantee_means": (
            "the posterior probability, under the plan's prior and model, that the finding holds;"
            " looked at after every label, it is no bound on the error rate of a single assessment"
        ),
        "labels": verdict.labels,
        "pool_items": assessment.pool.n_items,
        "claims": standing.claims,
        "annotators": len(standing.authors),
        "rejected": standing.n_rejected,
        "skipped_items": states.count("skipped"),
        "deleted_items": states.count("deleted"),
        "groups": groups(assessment, belief),
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
    """The posterior of every group, in the pool's order; an empty group has no numbers."""
    size, labelled, right = group_size(belief), group_labelled(belief), group_right(belief)
    means, bounds = mean(belief), interval(belief)
    return [
        {
            "group": name,
            "size": int(size[g]),
            "labelled": int(labelled[g]),
            "right": int(right[g]),
            "mean": round(float(means[g]), 6) if size[g] else None,
            "low": round(float(bounds[g, 0]), 6) if size[g] else None,
            "high": round(float(bounds[g, 1]), 6) if size[g] else None,
        }
        for g, name in enumerate(assessment.pool.group_names)
    ]


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


def _sure(verdict: Verdict) -> str:
    if verdict.certain:
        return ", for certain"
    return "" if verdict.confidence is None else f", {percent(verdict.confidence)} sure"


def percent(share: float) -> str:
    """A probability for people; never rounded up to 100%."""
    return f"{min(share * 100, 99.9):.3g}%" if share < 1 else "100%"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
