"""What is known of an assessment now, as a value; the command prints it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from worker.assessment import reopen
from worker.decision import groups
from worker.ledger import Header
from worker.loop import look
from worker.office import Office
from worker.wording import headline


@dataclass(frozen=True, slots=True)
class Status:
    """One assessment at a glance."""

    header: Header
    status: str
    text: str  # the headline, or the published decision
    labels: int
    pool_items: int
    confidence: float | None
    value: float | None
    claims: int
    open_items: int  # before the annotators now
    retired: dict[str, int]  # given up: state -> items
    rejected: dict[int, dict[str, Any]]
    annotators: int
    revision: int
    metric: str
    which: str  # the groups of interest: lowest or highest
    groups: list[dict[str, Any]]
    decision: dict[str, Any] | None
    review: dict[str, Any] | None  # the latest word on the decision, if labels changed since
    foreign_tasks: int
    polled_at: float | None
    error: str

    def as_json(self) -> dict[str, Any]:
        """For scripts; every value is JSON."""
        return {
            "assessment": self.header.assessment,
            "status": self.status,
            "text": self.text,
            "labels": self.labels,
            "pool_items": self.pool_items,
            "confidence": self.confidence,
            "value": self.value,
            "claims": self.claims,
            "open_items": self.open_items,
            "retired": self.retired,
            "rejected": {str(k): v for k, v in self.rejected.items()},
            "annotators": self.annotators,
            "revision": self.revision,
            "metric": self.metric,
            "groups": self.groups,
            "decision": self.decision,
            "review": self.review,
            "foreign_tasks": self.foreign_tasks,
            "project": self.header.project,
            "url": self.header.url,
            "polled_at": self.polled_at,
            "error": self.error,
        }


def status_of(office: Office, assessment: str) -> Status:
    """Read where an assessment stands; Label Studio is not asked.

    Raises:
        NoSuchAssessment, PoolChanged.
    """
    header = office.header(assessment)
    ledger = office.ledger(assessment)
    work = reopen(header, office.settings.pools)
    standing, belief, verdict = look(work, ledger)
    decisions = ledger.decisions()
    published = [json.loads(text) for text in decisions] if standing.status == "stopped" else []
    stop = next((d for d in reversed(published) if d["kind"] == "stop"), None)
    review = published[-1] if published and published[-1]["kind"] == "review" else None
    retired: dict[str, int] = {}
    for u in standing.unsettled.values():
        if u.state in ("skipped", "rejected", "deleted"):
            retired[u.state] = retired.get(u.state, 0) + 1
    return Status(
        header=header,
        status=standing.status,
        text=stop["text"] if stop else headline(work, belief, verdict),
        labels=verdict.labels,
        pool_items=work.pool.n_items,
        confidence=verdict.confidence,
        value=verdict.value,
        claims=standing.claims,
        open_items=sum(
            bool(u.open_tasks) for u in standing.unsettled.values() if u.state == "open"
        ),
        retired=retired,
        rejected=ledger.rejected(),
        annotators=len(standing.authors),
        revision=standing.revision,
        metric=work.plan.question.metric,
        which=work.question.which,
        groups=groups(work, belief),
        decision=stop,
        review=review,
        foreign_tasks=sum(not item for *_, item in ledger.tasks().values()),
        polled_at=float(standing.notes["polled_at"]) if "polled_at" in standing.notes else None,
        error=standing.notes.get("error", ""),
    )
