"""Which report is due, and where reports are kept; `worker.report.making` makes them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from worker.errors import PlanError
from worker.plan import Plan, stored_plan
from worker.plan.fields import beside
from worker.report.slots import Slot, slot_of
from worker.service.context import Context
from worker.service.job_data import REPORT_TIMEOUT_S
from worker.store import Header, State
from worker.store.metadata import Metadata

# Longer than the job may run, so that two never write the report of one slot at the same time.
CLAIM_S = REPORT_TIMEOUT_S + 15.0
# A last report that failed for so long (its pool is gone, say) is no more asked for by itself.
FINAL_S = 7 * 86_400.0
# Clocks of two machines differ by less. A moment further ahead comes from one that was wrong.
CLOCKS_S = 3600.0


def reports_folder(context: Context, header: Header) -> Path:
    """Where the reports of an assessment are kept: what its plan says, or beside its decision.

    Raises:
        PlanError: a plan that was brought here names a folder outside of ASSAY_PLAN_FOLDERS.
    """
    to = stored_plan(header.plan).report.to
    if to is None:
        return context.folder(header.assessment) / "reports"
    try:
        return beside(Path("/"), to)
    except ValueError as error:
        raise PlanError([f"report.to: {error}"], f"the plan of {header.assessment}") from error


def due(plan: Plan, header: Header, state: State, now: datetime) -> Slot | None:
    """The slot that lacks its report now; None if there is none, or somebody is at it.

    While it is open, the latest one of the schedule; once it is decided, the moment of that.
    """
    if is_claimed(state.metadata, now.timestamp()):
        return None
    if state.status == "stopped":
        slot = final_slot(plan, state.metadata.get("decided_at", ""), now.timestamp())
    elif plan.report.every is None:
        slot = None
    else:
        began_at = datetime.fromisoformat(header.started_at)
        slot = slot_of(plan.report.every, began_at, now, plan.report.timezone)
    done = latest_done(state.metadata, now.timestamp())
    return None if slot is None or slot.number <= done else slot


def final_slot(plan: Plan, decided_at: str, now: float) -> Slot | None:
    """The slot of the report that a decision gets; None if it gets none, or is too long ago."""
    if not plan.report.final or not decided_at:
        return None
    slot = Slot(int(datetime.fromisoformat(decided_at).timestamp()))
    is_long_ago = now - slot.number > FINAL_S
    return None if plan.report.every is None and is_long_ago else slot


def final_report(context: Context, header: Header, metadata: Metadata) -> Path | None:
    """The page of the report that the decision got; None while it is not there."""
    from worker.report.index import stem_of  # what writes pages takes long to load

    slot = final_slot(stored_plan(header.plan), metadata.get("decided_at", ""), 0.0)
    if slot is None:
        return None
    page = reports_folder(context, header) / f"{stem_of(header.assessment, slot.at)}.html"
    return page if page.exists() else None


def is_claimed(metadata: Metadata, now: float) -> bool:
    """Whether somebody makes a report now, or failed to a moment ago."""
    claim = metadata.get("report_claim", "")
    return bool(claim) and now < float(claim.split(" ")[0]) <= now + CLAIM_S + CLOCKS_S


def latest_done(metadata: Metadata, now: float) -> int:
    """The number of the latest slot whose report is there; 0 before the first one.

    One that is still to come was noted while a clock was ahead, and counts as none.
    """
    number = metadata.get("report_slot", 0)
    return number if number <= now + CLOCKS_S else 0
