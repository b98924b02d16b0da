"""The watcher: asks for a turn of every assessment every few seconds, whatever else happens."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from threading import Event

from redis.exceptions import RedisError

from worker.errors import AssayError
from worker.ledger import Ledger, Standing
from worker.notices import outbox
from worker.notices.happenings import look_for_trouble
from worker.plan import stored_plan
from worker.report.scheduled import due
from worker.service.office import Office
from worker.service.server import why_no_writes

log = logging.getLogger(__name__)

# An assessment that nobody read for so long is nudged past RQ's memory of earlier jobs.
STUCK_S = 15.0
# Ended assessments are looked at more seldom: late labels are rare, and webhooks still wake.
ENDED_EVERY = 10
# A report or a delivery that is still due is asked for again after so long.
AGAIN_S = 20.0
# A key that lives as long as some watcher does.
HEARTBEAT = "assay:watching"


def watch(office: Office, interval_s: float, stop: Event) -> None:
    """Wake every assessment every `interval_s` seconds until `stop` is set."""
    rounds = 0
    while not stop.is_set():
        began = time.monotonic()
        try:
            look_around(office, rounds)
        except RedisError as error:
            log.warning("the server that keeps the state: %s; trying again", why_no_writes(error))
            stop.wait(1.0)
        rounds += 1
        stop.wait(max(0.0, interval_s - (time.monotonic() - began)))


def look_around(office: Office, rounds: int) -> None:
    """Wake what is due in this round."""
    office.state.set(HEARTBEAT, rounds, ex=60)
    for assessment, seen in office.each(lambda one: _look_at(office, one, rounds)):
        if isinstance(seen, AssayError) and rounds % ENDED_EVERY == 0:
            log.warning("%s: %s", assessment, seen)


def _look_at(office: Office, assessment: str, rounds: int) -> None:
    ledger = office.ledger(assessment)
    standing = ledger.standing()
    if standing.status != "stopped" or rounds % ENDED_EVERY == 0:
        office.wake(assessment)
        polled_at = float(standing.notes.get("polled_at", 0))
        if abs(time.time() - polled_at) > STUCK_S:
            office.nudge(assessment, STUCK_S)
    tend(office, ledger, standing, time.time())


def tend(office: Office, ledger: Ledger, standing: Standing, now: float) -> None:
    """Ask for the report that is due, look for trouble, and have the outbox delivered.

    Args:
        now: in seconds since 1970.
    """
    header = ledger.header()
    if header is None:
        return
    plan = stored_plan(header.plan)
    slot = due(plan, header, standing, datetime.fromtimestamp(now, UTC))
    if slot is not None:
        office.ask_for_report(ledger.assessment, slot.number, now, AGAIN_S)
    look_for_trouble(ledger, plan, standing, now)
    if plan.notify and any(outbox.is_due(notice, now) for notice in outbox.waiting(ledger)):
        office.ask_for_delivery(ledger.assessment, now, AGAIN_S)
