"""What is known of an assessment now, as a value; the command prints it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from worker.assessment import Assessment, reopen
from worker.assessment.verdicts import assess_now
from worker.findings.annotating import annotation_of, waiting_votes
from worker.findings.best_model import told_of_models
from worker.findings.decision import continues_of
from worker.findings.evidence import among_rows, groups
from worker.findings.fates import fates, open_tasks
from worker.findings.foreseen import to_be_had
from worker.findings.opinions import opinions_of
from worker.findings.opinions_values import Opinions
from worker.findings.wording import headline
from worker.metrics import Words
from worker.notices.outbox import given_up
from worker.report.contents_progress import Forecast
from worker.report.progress import forecast
from worker.service.context import Context
from worker.service.readable import readable
from worker.store import Header
from worker.turn.shown import labelling_text


@dataclass(frozen=True, slots=True)
class Status:
    """One assessment at a glance."""

    header: Header
    status: str
    text: str  # the headline, or the published decision
    forecast: Forecast | None  # about how many labels more; None when it is over
    labels: int
    pool_items: int
    confidence: float | None
    value: float | None
    shortlist: dict[str, Any] | None  # of identify: `evidence.among_row`
    claims: int
    open_items: int  # `fates.open_tasks`: before the annotators now
    retired: dict[str, int]  # `Fates.given_up`: state -> items
    rejected: dict[int, dict[str, Any]]
    annotators: int
    revision: int
    metric: str
    words: Words
    which: str  # the groups of interest: lowest or highest
    groups: list[dict[str, Any]]  # none where models are compared: `models` has the differences
    models: dict[str, Any] | None  # of several models: `model_comparison.models_of`
    decision: dict[str, Any] | None
    review: dict[str, Any] | None  # the latest word on the decision, if labels changed since
    foreign_tasks: int
    labelling: str  # why labels do not count and nothing is decided now; empty: they do
    polled_at: float | None
    error: str
    report_error: str
    undelivered: tuple[str, ...]  # notices that were given up, with the reason
    annotation: dict[str, Any]  # how votes become labels: `annotating.annotation_of`
    waiting: dict[int, int]  # number of the next vote -> items that wait for it
    continues: dict[str, Any] | None  # as of the decision: the assessment that it continues
    opinions: Opinions | None

    @property
    def ahead(self) -> str:
        """The forecast in words; empty when it is over."""
        return "" if self.forecast is None else self.forecast.text

    def as_json(self) -> dict[str, Any]:
        """For scripts; every value is JSON."""
        return {
            "assessment": self.header.assessment,
            "status": self.status,
            "text": self.text,
            "ahead": self.ahead,
            "labels": self.labels,
            "pool_items": self.pool_items,
            "confidence": self.confidence,
            "value": self.value,
            "shortlist": self.shortlist,
            "claims": self.claims,
            "open_items": self.open_items,
            "retired": self.retired,
            "rejected": {str(k): v for k, v in self.rejected.items()},
            "annotators": self.annotators,
            "revision": self.revision,
            "metric": self.metric,
            "groups": self.groups,
            "models": self.models,
            "decision": self.decision,
            "review": self.review,
            "foreign_tasks": self.foreign_tasks,
            "labelling": self.labelling,
            "project": self.header.project,
            "url": self.header.url,
            "polled_at": self.polled_at,
            "error": self.error,
            "report_error": self.report_error,
            "undelivered": list(self.undelivered),
            "annotation": self.annotation,
            "continues": self.continues,
            "opinions": None if self.opinions is None else self.opinions.as_json(),
            "waiting_votes": {str(k): n for k, n in self.waiting.items()},
        }


def status_of(context: Context, assessment: str, work: Assessment | None = None) -> Status:
    """Read where an assessment stands; Label Studio is not asked.

    Args:
        work: the assessment, if it is open already.

    Raises:
        NoSuchAssessment, PoolChanged, Unreadable.
    """
    with readable(assessment):
        return _status_of(context, assessment, work)


def _status_of(context: Context, assessment: str, work: Assessment | None) -> Status:
    header = context.header(assessment)
    ledger = context.ledger(assessment)
    work = work or reopen(header, context.settings.pools)
    state, belief, verdict = assess_now(work, ledger)
    among, listed, of_models = among_rows(work, belief, state)
    decisions = ledger.decisions()
    published = [json.loads(text) for text in decisions] if state.status == "stopped" else []
    stop = next((d for d in reversed(published) if d["kind"] == "stop"), None)
    review = published[-1] if published and published[-1]["kind"] == "review" else None
    ahead = None
    if stop is None and verdict.reason == "open":
        left = to_be_had(work, state)
        ahead = forecast(work, belief, verdict, left, (), datetime.now(UTC))
    return Status(
        header=header,
        status=state.status,
        text=stop["text"] if stop else headline(work, belief, verdict, among),
        forecast=ahead,
        labels=verdict.labels,
        pool_items=work.pool.n_items,
        confidence=verdict.confidence,
        value=verdict.value,
        shortlist=listed,
        claims=state.claims,
        open_items=len(open_tasks(state)),
        retired=fates(work, state).given_up,
        rejected=ledger.rejected(),
        annotators=len(state.authors),
        revision=state.revision,
        metric=work.plan.metric,
        words=work.plan.words,
        which=work.question.which,
        groups=groups(work, belief),
        models=told_of_models(work, belief, verdict, of_models),
        decision=stop,
        review=review,
        foreign_tasks=sum(not item for *_, item in ledger.tasks().values()),
        labelling=labelling_text(state.metadata),
        polled_at=state.metadata.get("polled_at"),
        error=state.metadata.get("error", ""),
        report_error=state.metadata.get("report_error", ""),
        undelivered=tuple(f"{n.event.id}: {n.error}" for n in given_up(ledger)),
        annotation=annotation_of(work, state),
        waiting=waiting_votes(work, ledger, state),
        continues=continues_of(work, belief, state.tally),
        opinions=opinions_of(work, belief),
    )
