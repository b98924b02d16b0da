"""Verdict -> decision: the finding in words and numbers, with the evidence that it rests on."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.stopping.verdict import Verdict
from worker.findings.annotating import annotation_of
from worker.findings.best_model import told_of_models
from worker.findings.changing import continuation
from worker.findings.evidence import among_rows, group_rows, overall_row, pair_rows
from worker.findings.fates import fates
from worker.findings.opinions import opinions_of
from worker.findings.ranks import group_ranks
from worker.findings.wording import finding, guarantee_means, headline, headline_by_hand
from worker.plan import Plan
from worker.store import Header, Ledger, State

VERSION = 1
Since = Literal["confirmed", "weakened", "overturned"]


def decision(
    assessment: Assessment,
    header: Header,
    state: State,
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
    among, listed, of_models = among_rows(assessment, belief, state)
    text = say(assessment, belief, verdict, among)
    if since is not None:
        text = f"Later labels: the finding is {since}. {text}"
    found = group_ranks(belief)
    items = fates(assessment, state)
    body: dict[str, Any] = {
        "version": VERSION,
        "assessment": header.assessment,
        "kind": kind,
        "reason": reason,
        "is_conclusive": reason == "answered" or verdict.certain,
        "since": since,
        "text": text,
        "finding": finding(assessment, belief, verdict),
        "chosen": [assessment.group_names[g] for g in verdict.chosen],
        "confidence": verdict.confidence,
        "shortlist": listed,
        "value": verdict.value,
        "is_certain": verdict.certain,
        "pairs": pair_rows(assessment, verdict),
        "question": question_of(plan),
        "rule": rule_of(assessment),
        "guarantee": plan.stop.guarantee,
        "guarantee_means": guarantee_means(assessment),
        "labels": verdict.labels,
        "pool_items": assessment.pool.n_items,
        "known": known_of(assessment),
        "claims": state.claims,
        "annotators": len(state.authors),
        "annotation": annotation_of(assessment, state),
        "rejected": state.n_rejected,
        "skipped_items": items.skipped,
        "rejected_items": items.rejected,
        "deleted_items": items.deleted,
        "groups": group_rows(assessment, belief, state, found),
        "evaluation": evaluation_of(assessment, belief),
        "continues": continues_of(assessment, belief, state.tally),
        "overall": overall_row(assessment, belief),
        "revision": state.revision,
        "seed": plan.seed,
        "strategy": plan.strategy,
        "prior": plan.prior.model_dump(mode="json"),
        "population": plan.population,
        "plan_hash": header.plan_hash,
        "pool_hash": header.pool_hash,
        "project": header.project,
        "versions": versions(),
        "decided_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if (models := told_of_models(assessment, belief, verdict, of_models)) is not None:
        body["models"] = models
    if (worth := opinions_of(assessment, belief)) is not None:
        body["opinions"] = worth.as_json()
    return json.dumps(body, ensure_ascii=False)


def evaluation_of(assessment: Assessment, belief: Belief) -> dict[str, Any] | None:
    """What the task evaluate measures, on what; `overall` is then the mean and its HPDI."""
    plan = assessment.plan
    if belief.soft_labels is None or plan.evaluate is None:
        return None
    return {
        "measure": plan.evaluate.measure,
        "level": plan.evaluate.level,
        "interval": "hpdi",
        "votes": belief.soft_labels.n_votes,
        "per_item": plan.annotation.per_item,
    }


def continues_of(
    assessment: Assessment, belief: Belief, tally: Mapping[str, int]
) -> dict[str, Any] | None:
    """What changed since the assessment that this one continues, in short; None if it is none."""
    told = continuation(assessment, belief, tally)
    if told is None:
        return None
    return {
        "assessment": told.assessment,
        "labels": told.labels,
        "left_out": told.left_out,
        "believed": told.whole.believed,
        "changed": list(told.changed),
        "is_pool_changed": told.whole.is_changed,
        "text": list(told.text),
    }


def known_of(assessment: Assessment) -> dict[str, Any] | None:
    """The items whose class was known before the first label: how many, and how they are used."""
    known = assessment.pool.known
    return None if known is None else {"items": assessment.pool.n_known, "use": known.use}


def question_of(plan: Plan) -> dict[str, Any]:
    """The question as the plan has it; of its files the names only."""
    names = {key.removeprefix("question."): path.name for key, path in plan.question.paths.items()}
    return plan.question.model_dump(mode="json") | names


def rule_of(assessment: Assessment) -> dict[str, Any]:
    """The stop rule as plain values."""
    rule, stop = assessment.rule, assessment.plan.stop
    return {
        "kind": rule.kind,
        "target": rule.target,
        "confidence": rule.confidence,
        "budget": rule.budget,
        "min_per_group": stop.min_per_group,
        "looks": stop.looks,
    }


def versions() -> dict[str, str]:
    """What computed the numbers."""
    ours = {name: version(name) for name in ("assay", "numpy", "scipy")}
    return ours | {"python": platform.python_version()}


def is_decided(ledger: Ledger, revision: int) -> bool:
    """Whether a decision of this revision was published, so that none can be any more."""
    return any(json.loads(text)["revision"] == revision for text in ledger.decisions())


def compared(published: dict[str, Any], assessment: Assessment, verdict: Verdict) -> Since:
    """Say what became of a published finding, now that labels changed.

    `overturned`: the finding is another one. `weakened`: it is the same, but was conclusive and
    would not be published today. Else `confirmed`.
    """
    chosen = [assessment.group_names[g] for g in verdict.chosen]
    regions = [pair["region"] for pair in pair_rows(assessment, verdict)]
    was = [pair["region"] for pair in published["pairs"]]
    if set(chosen) != set(published["chosen"]) or regions != was:
        return "overturned"
    holds = verdict.reason == "answered" or verdict.certain
    return "weakened" if published["is_conclusive"] and not holds else "confirmed"
