"""The watcher: asks for a turn of every assessment every few seconds, whatever else happens."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from math import ceil
from threading import Event
from zlib import crc32

from redis.exceptions import RedisError

from worker.errors import AssayError
from worker.notices import outbox
from worker.notices.happenings import look_for_trouble
from worker.plan import Plan, stored_plan
from worker.report.scheduled import due, final_slot
from worker.service.context import Context
from worker.service.server import why_no_writes
from worker.store import Header, Ledger, State
from worker.store.glances import Glance, glances

log = logging.getLogger(__name__)

# An assessment that nobody read for so long is nudged past RQ's memory of earlier jobs.
STUCK_S = 15.0
# Ended assessments are looked at more seldom: late labels are rare, and webhooks still wake.
ENDED_EVERY = 10
# Where nothing changed for so long it is quiet. More quiet ones than are asked for in one round
# take turns, or those that people are at would wait behind them; each comes once a minute at least.
# Webhooks wake at once.
QUIET_S = 60.0
QUIET_AT_ONCE, QUIET_EVERY = 50, 20
# Turns that wait are those that somebody's answer asked for, and ours. With so many of them the
# workers do not get on: those whom a webhook had read so lately are asked for when that is over.
BACKLOG, BACKLOG_S = 50, 10.0
# A report or a delivery that is still due is asked for again after so long.
AGAIN_S = 20.0
# A key that lives as long as some watcher does.
HEARTBEAT = "assay:watching"


def watch(context: Context, interval_s: float, stop: Event) -> None:
    """Wake every assessment every `interval_s` seconds until `stop` is set."""
    rounds = 0
    while not stop.is_set():
        began = time.monotonic()
        try:
            look_around(context, rounds, interval_s / 2)
        except RedisError as error:
            log.warning("the server that keeps the state: %s; trying again", why_no_writes(error))
            stop.wait(1.0)
        rounds += 1
        stop.wait(max(0.0, interval_s - (time.monotonic() - began)))


def look_around(context: Context, rounds: int, fresh_s: float = 0.0) -> None:
    """Wake what is due in this round, but for what a webhook had read within `fresh_s` seconds."""
    context.state.set(HEARTBEAT, rounds, ex=60)
    seen = dict(glances(context.state, context.ids()))
    quiet_every = _quiet_every(one for one in seen.values() if isinstance(one, Glance))
    if context.n_waiting > BACKLOG:
        fresh_s = max(fresh_s, BACKLOG_S)
    asked = dict[str, int]()

    def look(assessment: str) -> None:
        glance = seen[assessment]
        if isinstance(glance, Exception):
            raise glance
        if _is_due(context, assessment, glance, rounds, quiet_every, fresh_s):
            asked[assessment] = glance.wakes
        _tend(context, assessment, glance)

    for assessment, found in context.each(look, seen):
        if isinstance(found, AssayError) and rounds % ENDED_EVERY == 0:
            log.warning("%s: %s", assessment, found)
    context.ask_for_turns(asked)


def _is_due(
    context: Context, assessment: str, glance: Glance, rounds: int, quiet_every: int, fresh_s: float
) -> bool:
    """Whether a turn is asked for in this round; one whose job may be lost is asked for at once."""
    every = ENDED_EVERY if glance.status == "stopped" else quiet_every if _is_quiet(glance) else 1
    unread_s = abs(time.time() - glance.polled_at)
    is_due = (crc32(assessment.encode()) + rounds) % every == 0 and unread_s >= fresh_s
    if is_due and unread_s > STUCK_S * every:
        context.nudge(assessment, STUCK_S)
    return is_due


def _tend(context: Context, assessment: str, glance: Glance) -> None:
    if glance.header is not None:
        plan = stored_plan(Header.load(glance.header).plan)
        if plan.notify or plan.report.every is not None or _lacks_final(plan, glance):
            ledger = context.ledger(assessment)
            tend(context, ledger, ledger.state(), time.time())


def _lacks_final(plan: Plan, glance: Glance) -> bool:
    """Whether the report of the decision is not made yet."""
    if glance.status != "stopped":
        return False
    slot = final_slot(plan, glance.decided_at, time.time())
    return slot is not None and glance.report_slot < slot.number


def _quiet_every(seen: Iterable[Glance]) -> int:
    """In how many rounds each quiet assessment is asked for once."""
    return max(1, min(QUIET_EVERY, ceil(sum(map(_is_quiet, seen)) / QUIET_AT_ONCE)))


def _is_quiet(glance: Glance) -> bool:
    """Whether nothing changed for a while; before our own first import was read it is not."""
    changed_s = abs(time.time() - glance.cursor_us / 1e6)  # whichever of the two clocks is ahead
    return glance.status != "stopped" and glance.cursor_us > 0 and changed_s > QUIET_S


def tend(context: Context, ledger: Ledger, state: State, now: float) -> None:
    """Ask for the report that is due, look for trouble, and have the outbox delivered.

    Args:
        now: in seconds since 1970.
    """
    header = ledger.header()
    if header is None:
        return
    plan = stored_plan(header.plan)
    slot = due(plan, header, state, datetime.fromtimestamp(now, UTC))
    if slot is not None:
        context.ask_for_report(ledger.assessment, slot.number, now, AGAIN_S)
    look_for_trouble(ledger, plan, state, now)
    if plan.notify and any(outbox.is_due(notice, now) for notice in outbox.waiting(ledger)):
        context.ask_for_delivery(ledger.assessment, now, AGAIN_S)
