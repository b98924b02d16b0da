"""THE STORY: one turn of the loop, from what annotators said to what they are asked next.

A turn may be begun at any time, by any worker, as often as one likes; it may die at any line. What
it does depends only on what Label Studio says and the ledger holds.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

from connector.port import Desk
from worker.assessment import Assessment
from worker.assessment.verdicts import assess_now, seen_in
from worker.core.posterior.belief import Belief
from worker.core.stopping.verdict import Verdict
from worker.findings.decision import compared, decision, is_decided
from worker.findings.for_annotators import progress_text, waiting_text
from worker.findings.wording import headline
from worker.formats import counted
from worker.store import Header, Ledger, State
from worker.turn.announce import (
    publish_decision,
    publish_progress,
    publish_tab,
    publish_waiting,
    retract,
    write_decision,
)
from worker.turn.leasing import Lease, leased
from worker.turn.overriding import override_settings, restore_settings
from worker.turn.reclaim import reclaim
from worker.turn.refill import empty, refill, tidy
from worker.turn.shown import changed_labelling
from worker.turn.sync import catch_up, sweep, sweep_is_due

# What our tab says instead of progress, by what the assessment is.
_TITLES = {"running": "on hold", "paused": "paused", "stopped": "finished"}


def advance(
    assessment: Assessment, header: Header, ledger: Ledger, desk: Desk, folder: Path, holder: str
) -> Verdict | None:
    """Take one turn; return what it found, or None if another worker is at it.

    Args:
        folder: where decision.json is kept.
        holder: names this turn; no other turn may use the name.
    """
    with leased(ledger, holder) as lease:
        return _turn(assessment, header, ledger, desk, folder, lease) if lease else None


def _turn(
    assessment: Assessment, header: Header, ledger: Ledger, desk: Desk, folder: Path, lease: Lease
) -> Verdict:
    rules = assessment.rules

    # 1 and 2: read what changed in Label Studio, record it exactly once.
    metadata = catch_up(ledger, desk, rules)
    if sweep_is_due(metadata, time.time()):
        sweep(ledger, desk, rules)

    # 3 and 4: tally + prior = posterior; ask the stop rule.
    state, belief, verdict = _reclaim_and_assess(assessment, ledger, desk)
    if state.status == "running" and _may_stop(state, verdict):
        # A decision rests on what Label Studio confirms, answer by answer.
        sweep(ledger, desk, rules, is_thorough=True)
        state, belief, verdict = _reclaim_and_assess(assessment, ledger, desk)

    # 5: publish and withdraw, or choose and import.
    if state.status == "running" and _may_stop(state, verdict):
        text = decision(
            assessment, header, state, belief, verdict, kind="stop", reason=verdict.reason
        )
        if not ledger.publish(state.revision, text, stops=True):
            _stop_again(ledger, state)
        state, belief, verdict = assess_now(assessment, ledger, bound_suffices=True)
    if state.status == "stopped":
        _review(assessment, header, ledger, state)
        write_decision(ledger, folder)
    metadata = state.metadata
    waiting = _waiting(state)
    if state.status == "running":
        override_settings(ledger, desk)
        if not waiting:
            metadata = retract(ledger, desk, metadata)
        tidy(assessment, ledger, desk, state)
        if not waiting:
            refill(assessment, ledger, desk, belief, state, lease)
            publish_progress(ledger, desk, partial(_line, assessment, state), metadata)
    else:
        empty(assessment, ledger, desk, state)
    if waiting:
        publish_waiting(ledger, desk, waiting, verdict.labels, metadata)
    if state.status == "stopped":
        publish_decision(ledger, desk, assessment.plan.label_studio.show_finding)
        restore_settings(ledger, desk)
    is_going_on = state.status == "running" and not waiting
    title = counted(verdict.labels, "label") if is_going_on else _TITLES.get(state.status, "")
    publish_tab(ledger, desk, title, metadata, at_once=not is_going_on)
    return verdict


def _line(assessment: Assessment, state: State) -> str:
    seen = seen_in(assessment, state)
    if assessment.plan.label_studio.show_finding:
        return headline(assessment, *seen)
    return progress_text(assessment, state, *seen)


def _waiting(state: State) -> str:
    """Why annotators get no new items, though it is not over; empty if they do."""
    if state.status == "stopped":
        return ""
    # Of another configuration no answer would count.
    is_asked_otherwise = changed_labelling(state.metadata) is not None
    is_paused = state.status == "paused"
    return waiting_text(is_paused, state.metadata.get("paused_why", ""), is_asked_otherwise)


def _reclaim_and_assess(
    assessment: Assessment, ledger: Ledger, desk: Desk
) -> tuple[State, Belief, Verdict]:
    """Say what is known now; what a server forgot of our own doing is taken in before."""
    found = assess_now(assessment, ledger, bound_suffices=True)
    if not reclaim(assessment, ledger, desk, found[0]):
        return found
    return assess_now(assessment, ledger, bound_suffices=True)


def _may_stop(state: State, verdict: Verdict) -> bool:
    """`resume` asks for so many labels more before the rule is asked again.

    Nothing is decided while annotators are asked something else than in the beginning.
    """
    if not verdict.stop or changed_labelling(state.metadata) is not None:
        return False
    resumed = verdict.labels < state.metadata.get("resume_until", 0)
    return verdict.reason == "exhausted" or not resumed


def _stop_again(ledger: Ledger, state: State) -> None:
    """Of this revision there may be a decision: a resume, and nothing left that could be asked."""
    if is_decided(ledger, state.revision):
        ledger.move("running", "stopped")


def _review(assessment: Assessment, header: Header, ledger: Ledger, state: State) -> None:
    """After the stop: the stop stays, and every later change says what became of the finding."""
    if state.metadata.get("reviewed") == state.revision:
        return  # what was published may be megabytes: an idle turn does not read it again
    published = [json.loads(text) for text in ledger.decisions()]
    stop = next(d for d in reversed(published) if d["kind"] == "stop")
    if state.revision == published[-1]["revision"]:
        ledger.set_metadata(reviewed=state.revision)
        return
    state, belief, verdict = assess_now(assessment, ledger)
    text = decision(
        assessment,
        header,
        state,
        belief,
        verdict,
        kind="review",
        reason=verdict.reason,
        since=compared(stop, assessment, verdict),
    )
    ledger.publish(state.revision, text, stops=False)
