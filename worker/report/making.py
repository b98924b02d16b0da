"""Making reports: those that are due, once for every slot, and those that are asked for.

A slot counts as done only after its files are there, and their names carry it: whoever dies on the
way, the next one writes the same files again.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from connector.errors import ConnectorError
from worker.assessment import reopen
from worker.notices import outbox
from worker.notices.messages import Event
from worker.plan import stored_plan
from worker.report.contents import Report
from worker.report.gathering import gather
from worker.report.index import latest_before, prune, stem_of, write_index
from worker.report.scheduled import CLAIM_S, is_claimed, latest_done, reports_folder
from worker.report.slots import Slot
from worker.service.context import Context
from worker.service.desks import desk_of
from worker.store import Header, Ledger
from worker.store.metadata import Metadata

log = logging.getLogger(__name__)

# What made a report fail (a full disk) mostly lasts.
RETRY_S = 60.0


def make_scheduled(context: Context, assessment: str, number: int) -> Path | None:
    """Make the report of a slot; None if it is made already, or somebody is at it.

    Raises:
        NoSuchAssessment, PoolChanged, OSError.
    """
    ledger = context.ledger(assessment)
    metadata = ledger.metadata()
    if number <= latest_done(metadata, time.time()):
        return None
    mine = claim(ledger, metadata)
    if mine is None:
        return None
    with _claimed(ledger, mine):
        header = context.header(assessment)
        path, report = _make(context, header, Slot(number).at)
        outbox.put(ledger, stored_plan(header.plan), _made(number, path, report))
        _mark(ledger, number)
        if metadata.get("report_error"):
            ledger.set_metadata(report_error="")
    return path


def make_claimed(context: Context, assessment: str, mine: str) -> Path:
    """Make a report now, for somebody who has `claim`ed it.

    Raises:
        NoSuchAssessment, PoolChanged, OSError.
    """
    with _claimed(context.ledger(assessment), mine):
        return make_now(context, assessment)


def claim(ledger: Ledger, metadata: Metadata) -> str | None:
    """Keep others from making a report, who saw the same or less; None if somebody is at it."""
    if is_claimed(metadata, time.time()):
        return None
    mine = _claim(CLAIM_S)
    is_mine = ledger.compare_and_set("report_claim", metadata.get("report_claim", ""), mine)
    return mine if is_mine else None


@contextmanager
def _claimed(ledger: Ledger, mine: str) -> Iterator[None]:
    """Give the claim back; after a failure nobody tries again for a while."""
    try:
        yield
    except Exception:
        ledger.compare_and_set("report_claim", mine, _claim(RETRY_S))
        raise
    ledger.compare_and_set("report_claim", mine, "")


def make_now(context: Context, assessment: str, folder: Path | None = None) -> Path:
    """Make a report now, in a folder of its own or among the others; return the page.

    Raises:
        NoSuchAssessment, PoolChanged, OSError.
    """
    return _make(context, context.header(assessment), datetime.now(UTC), folder)[0]


def _make(
    context: Context, header: Header, at: datetime, folder: Path | None = None
) -> tuple[Path, Report]:
    """Write the report that is named after `at`; return its page, too."""
    plan = stored_plan(header.plan)
    kept = reports_folder(context, header)
    stem = stem_of(header.assessment, at)
    report = gather(
        reopen(header, context.settings.pools),
        header,
        context.ledger(header.assessment),
        previous=latest_before(kept, header.assessment, stem),
        names=_names(context, header) if plan.report.names else None,
    )
    from worker.report.page import write_report  # what draws takes long to load

    page = write_report(report, folder or kept, stem)
    if folder is None:
        prune(kept, header.assessment, plan.report.keep)
        write_index(kept)
    return page, report


def _names(context: Context, header: Header) -> dict[int, str]:
    """What the annotators are called; a report is made also while Label Studio is away."""
    try:
        return desk_of(header, context.ledger(header.assessment)).people()
    except ConnectorError as error:
        log.warning("%s: the report has no names: %s", header.assessment, error)
        return {}


def _made(number: int, path: Path, report: Report) -> Event:
    text = f"A new report ({path.name}). {report.text}"
    return Event(f"report:{number}", "report", text, report.revision, report.made_at)


def _mark(ledger: Ledger, number: int) -> None:
    """Note that a slot is done; the note never goes back, but from a clock that was ahead."""
    while latest_done(metadata := ledger.metadata(), time.time()) < number:
        if ledger.compare_and_set("report_slot", metadata.get("report_slot", ""), number):
            return


def _claim(for_s: float) -> str:
    """Until when nobody else makes a report, and a name that nobody else takes."""
    return f"{time.time() + for_s:.0f} {uuid.uuid4().hex}"
