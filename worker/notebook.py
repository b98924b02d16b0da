"""For notebooks: an assessment as frames, read whole and at once; nothing is changed by it.

`import worker; worker.open("digits-worst-class").groups` is where one begins; `samples/notebook.py`
goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from worker.assessment import Assessment, reopen
from worker.core.posterior.belief import Belief, group_share
from worker.findings.evidence import group_rows
from worker.findings.item_classes import likeliest_classes
from worker.findings.ranks import group_ranks
from worker.findings.wording import headline
from worker.pool import Pool
from worker.report.people import annotators, called
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import NoServer
from worker.store import Header, Ledger, State
from worker.store.records import Record
from worker.store.settings import Settings, read_settings
from worker.store.snapshots import taken_together
from worker.turn.loop import seen_in

if TYPE_CHECKING:
    from worker.report.contents import Report

# The group of items that are outside the pool.
GOLD = "gold"

_JUDGEMENTS = (
    "annotation", "task", "item", "label", "author", "at", "seconds", "status", "reason",
    "group", "predicted", "score", "outcome", "is_right",
)  # fmt: skip
_ANNOTATORS = (
    "labels", "skips", "shared", "agreement", "gold", "gold_right", "quality", "quality_low",
    "quality_high", "per_hour", "median_s", "last_at",
)  # fmt: skip
_CHOICES = (
    "claim", "item", "cell", "group", "strategy", "revision", "pending", "numbers",
)  # fmt: skip
_DECISIONS = (
    "kind", "decided_at", "reason", "since", "is_conclusive", "confidence", "value", "labels",
    "revision", "chosen", "text",
)  # fmt: skip


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
            'worker.open(id, url="redis://host:6379/0").'
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
        groups=_groups(work, belief, state),
        judgements=_judgements(work, state.tally, records),
        choices=_choices(work.pool, choices),
        decisions=_decisions(decisions),
        annotators=_annotators(work, state, records),
        belief=belief,
        settings=settings,
    )


def _groups(work: Assessment, belief: Belief, state: State) -> pd.DataFrame:
    if work.several is not None and work.several.asked:
        # differences of models are no groups; the report has them
        return pd.DataFrame(columns=["size", "share"], index=pd.Index([], name="group"))
    # What is None becomes NaN in its column, also in the columns of a table of shares.
    rows = [
        {"group": row["group"], "size": row["size"], "share": share}
        | {key: value for key, value in row.items() if value is not None}
        for row, share in zip(
            group_rows(work, belief, state, group_ranks(belief)),
            group_share(belief).tolist(),
            strict=True,
        )
    ]
    return pd.json_normalize(rows).set_index("group")


def _judgements(
    work: Assessment, tally: Mapping[str, int], records: Sequence[Record]
) -> pd.DataFrame:
    pool, rows = work.pool, list[tuple[object, ...]]()
    classes = likeliest_classes(work, tally, records)
    for record in records:
        outcome = classes.get(record.item)
        of_item: tuple[object, ...] = (GOLD, None, np.nan, outcome, None)
        if record.cell >= 0:
            predicted = predicted_name(pool, record.predicted)
            of_item = (
                pool.group_names[int(pool.cell_group[record.cell])],
                predicted,
                float(pool.score[record.row]),
                outcome,
                None if outcome is None or pool.models else outcome == predicted,
            )
        for task, seen in record.tasks:
            for j in seen.judgements:
                said = (j.label, j.author, j.at_us, j.seconds, j.status, j.reason)
                rows.append((j.annotation, task, record.item, *said, *of_item))
    frame = pd.DataFrame(rows, columns=list(_JUDGEMENTS)).sort_values("annotation")
    return frame.assign(
        at=pd.to_datetime(frame["at"].astype("int64"), unit="us", utc=True),
        author=frame["author"].astype("Int64"),
        seconds=frame["seconds"].astype("float64"),
        score=frame["score"].astype("float64"),
        is_right=frame["is_right"].astype("boolean"),
    ).reset_index(drop=True)


def _annotators(work: Assessment, state: State, records: Sequence[Record]) -> pd.DataFrame:
    people = called(records, map(int, state.authors))
    rows = [asdict(one) for one in annotators(work, state.tally, records, people)]
    authors = pd.Index(list(people), name="author", dtype="int64")
    frame = pd.DataFrame(rows, columns=list(_ANNOTATORS), index=authors)
    whole = dict.fromkeys(("labels", "skips", "shared"), "int64")
    maybe = dict.fromkeys(("gold", "gold_right"), "Int64")
    others = set(_ANNOTATORS) - {*whole, *maybe, "last_at"}
    frame = frame.astype(whole | maybe | dict.fromkeys(others, "float64"))
    return frame.assign(last_at=pd.to_datetime(frame["last_at"], utc=True))


def predicted_name(pool: Pool, code: int) -> str:
    """The predicted class; of several models what each says."""
    if pool.models is None:
        return pool.classes[code]
    said = zip(pool.models.names, pool.models.said[code].tolist(), strict=True)
    return "; ".join(f"{name}: {pool.classes[k]}" for name, k in said)


def _choices(pool: Pool, log: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    def name(choice: Mapping[str, Any]) -> str:
        return GOLD if choice["strategy"] == GOLD else pool.group_names[choice["group"]]

    rows = [{**choice, "group": name(choice)} for choice in log]
    return pd.DataFrame(rows, columns=list(_CHOICES)).set_index("claim")


def _decisions(published: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(published, columns=list(_DECISIONS))
    return frame.assign(
        decided_at=pd.to_datetime(frame["decided_at"], utc=True),
        confidence=frame["confidence"].astype("float64"),
        value=frame["value"].astype("float64"),
    )
