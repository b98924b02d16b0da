"""Pause, resume and stop: what a person decides about a running assessment."""

from __future__ import annotations

from worker.assessment import reopen
from worker.assessment.verdicts import assess_now
from worker.errors import AssayError
from worker.findings.decision import decision, is_decided
from worker.findings.for_annotators import one_line
from worker.plan import stored_plan
from worker.pool import check_source
from worker.service.context import Context


class WrongMoment(AssayError):
    """The assessment is not in a state in which this can be done."""


def pause(context: Context, assessment: str, why: str = "") -> None:
    """Withdraw the queue; labels that come in are still counted.

    Args:
        why: what annotators read as the reason.
    """
    context.header(assessment)
    ledger = context.ledger(assessment)
    if not ledger.move("running", "paused"):
        raise _wrong(context, assessment, "paused", "running")
    ledger.set_metadata(paused_why=one_line(why))
    context.wake(assessment)


def resume(context: Context, assessment: str, more: int) -> None:
    """Open the queue again; after a stop, for `more` labels before the rule is asked again.

    Raises:
        WrongMoment: it runs already.
        PoolChanged: the predictions file is not the one that the assessment began with.
    """
    header = context.header(assessment)
    ledger = context.ledger(assessment)
    plan = stored_plan(header.plan)
    work = reopen(header, context.settings.pools)
    if plan.pool.predictions.exists():
        check_source(work.pool, plan)
    metadata = ledger.metadata()
    if not (metadata.get("announced") or metadata.get("told_desk")):
        # A pause may have been told from another machine since the export that came here.
        ledger.set_metadata(announced="?")
    if ledger.move("paused", "running"):
        context.wake(assessment)
        return
    state, _, verdict = assess_now(work, ledger)
    if state.status != "stopped":
        raise _wrong(context, assessment, "resumed", "paused or stopped")
    # Before the move: a turn in between must not stop it again at once.
    ledger.set_metadata(resume_until=verdict.labels + more)
    if not ledger.move("stopped", "running"):
        raise _wrong(context, assessment, "resumed", "paused or stopped")
    context.wake(assessment)


def stop(context: Context, assessment: str) -> None:
    """End it now; the decision says that it was by hand and what was known."""
    header = context.header(assessment)
    ledger = context.ledger(assessment)
    work = reopen(header, context.settings.pools)
    for _ in range(10):
        state, belief, verdict = assess_now(work, ledger)
        if state.status not in ("running", "paused"):
            raise _wrong(context, assessment, "stopped", "running or paused")
        text = decision(work, header, state, belief, verdict, kind="stop", reason="by hand")
        if ledger.publish(state.revision, text, stops=True):
            break
    else:
        if not is_decided(ledger, state.revision):
            raise WrongMoment(
                f"{assessment} got a label each time before its decision was worked out; nothing "
                "was stopped. Let the annotators wait for a moment and say it again."
            )
        # A resume without new labels: this revision has a decision.
        ledger.move(state.status, "stopped")
    context.wake(assessment)


def _wrong(context: Context, assessment: str, wish: str, needed: str) -> WrongMoment:
    status = context.ledger(assessment).state().status
    return WrongMoment(f"{assessment} is {status}; only one that is {needed} can be {wish}.")
