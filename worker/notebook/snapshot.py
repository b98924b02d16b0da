"""An assessment as it was at one moment, whole; reading it changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pandas as pd

from worker.assessment import Assessment, reopen
from worker.assessment.verdicts import seen_in
from worker.core.posterior.belief import Belief
from worker.findings.wording import headline
from worker.notebook.frames import (
    annotators_frame,
    choices_frame,
    decisions_frame,
    groups_frame,
    judgements_frame,
)
from worker.report.templating import template
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import NoServer
from worker.store import Header, Ledger
from worker.store.settings import Settings, read_settings
from worker.store.snapshots import taken_together

if TYPE_CHECKING:
    from worker.report.contents import Report


_SHOWN = ("size", "labelled", "mean", "low", "high")
_AT_EACH_END = 6  # of more groups than a screen holds, those with the lowest and highest values


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """An assessment as it was when it was opened.

    groups: one row a group, by its name: `size`, `share` of the pool, `labelled`, `right`; of the
        metric's value `mean`, `low` and `high` (95%); `rank` with its 95% interval (1: the
        lowest value); `p_lowest`, `p_highest` where lowest or highest groups are looked for;
        `band_low`, `band_high` with `guarantee: anytime`; `confusion.<class>` and its intervals
        with `metric: confusion`. NaN for groups without items. No rows where several models are
        compared: `report().models` has their differences.
    judgements: one row an annotation: `label`, `author` (a number of Label Studio), `at` (UTC),
        `seconds` it took, `status` (valid, skipped, rejected), `reason` of a rejection; of its item
        `group`, `predicted`, `score`, `outcome` (the class that counts; the likeliest one where
        votes leave doubt) and `is_right`. Gold items are of the group `gold`.
    choices: one row a claim, by its number: `item`, `cell`, `group`, `strategy`, `revision` of the
        tally that it rests on, `pending` items by cell, and the strategy's `numbers`.
    annotators: one row a person, by their number in Label Studio, in the order of their first
        answers: `labels` (items of the pool that they answered), `skips`, `per_hour`, `median_s`,
        `last_at`;
        `shared` items and the `agreement` with their classes; `gold` items and how many of them
        `gold_right`; `quality` (the chance to be right, as `worker.report.contents_people` says
        under which rule) with its 95% interval, `quality_low` to `quality_high`. NaN: not known.
    decisions: one row a published decision, the oldest first.
    belief: the posterior itself, for `worker.core`.
    """

    assessment: str
    title: str
    status: str
    text: str  # what is known, how surely: the headline, or the published stop
    revision: int
    labels: int
    pool_items: int
    confidence: float | None
    groups: pd.DataFrame = field(repr=False)
    judgements: pd.DataFrame = field(repr=False)
    choices: pd.DataFrame = field(repr=False)
    decisions: pd.DataFrame = field(repr=False)
    annotators: pd.DataFrame = field(repr=False)
    belief: Belief = field(repr=False)
    settings: Settings = field(repr=False)  # where it was read

    def report(self) -> Report:
        """Everything that is known by now, as `assay report` says it; reads the state again."""
        from worker.report.gathering import gather

        with _at(self.assessment, self.settings) as (work, header, ledger):
            return gather(work, header, ledger)

    def _repr_html_(self) -> str:
        known = self.groups.reindex(columns=_SHOWN).dropna().sort_values("mean")
        rows = known.reset_index().to_dict("records")
        more = len(rows) > 2 * _AT_EACH_END
        return template("snapshot.html.j2").render(
            seen=self,
            first=rows[:_AT_EACH_END] if more else rows,
            between=rows[_AT_EACH_END:-_AT_EACH_END] if more else (),
            last=rows[-_AT_EACH_END:] if more else (),
        )


def open_assessment(assessment: str, url: str | None = None) -> Snapshot:
    """Read an assessment; Label Studio is not asked.

    Args:
        url: the server that keeps its state; None for REDIS_URL or ASSAY_STATE_URL, or else the
            embedded server of ASSAY_HOME.

    Raises:
        NoSuchAssessment, PoolChanged, NoServer, UnfitServer.
    """
    settings = read_settings()
    if url is not None:
        settings = replace(settings, redis_url=url, state_url=None)
    if settings.redis_url is None and not (settings.home / "valkey").exists():
        raise NoServer(
            f"There is no state in {settings.home}. Set ASSAY_HOME to the folder that `assay up` "
            "works in (by default .assay where it was started), or name the server: "
            'assay.open(id, url="redis://host:6379/0").'
        )
    with _at(assessment, settings) as (work, header, ledger):
        return snapshot(work, header, ledger, settings)


@contextmanager
def _at(assessment: str, settings: Settings) -> Iterator[tuple[Assessment, Header, Ledger]]:
    with server(settings.home, settings.redis_url) as url:
        context = Context(settings, url)
        try:
            header = context.header(assessment)
            yield reopen(header, settings.pools), header, context.ledger(assessment)
        finally:
            context.close()


def snapshot(work: Assessment, header: Header, ledger: Ledger, settings: Settings) -> Snapshot:
    """Read all of a ledger as of one revision."""
    state, records = taken_together(ledger)
    belief, verdict = seen_in(work, state)
    choices, decisions = ledger.choices(), [json.loads(text) for text in ledger.decisions()]
    stops = [d["text"] for d in decisions if d["kind"] == "stop"]
    is_over = state.status == "stopped" and bool(stops)
    return Snapshot(
        assessment=header.assessment,
        title=work.plan.label_studio.title or header.assessment,
        status=state.status,
        text=stops[-1] if is_over else headline(work, belief, verdict),
        revision=state.revision,
        labels=verdict.labels,
        pool_items=work.pool.n_items,
        confidence=verdict.confidence,
        groups=groups_frame(work, belief, state),
        judgements=judgements_frame(work, state.tally, records),
        choices=choices_frame(work.pool, choices),
        decisions=decisions_frame(decisions),
        annotators=annotators_frame(work, state, records),
        belief=belief,
        settings=settings,
    )
