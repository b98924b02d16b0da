"""The watcher: asks for a turn of every assessment every few seconds, whatever else happens."""

from __future__ import annotations

import logging
import time
from threading import Event

from redis.exceptions import RedisError

from worker.office import Office

log = logging.getLogger(__name__)

# An assessment that nobody read for so long is nudged past RQ's memory of earlier jobs.
STUCK_S = 15.0
# Ended assessments are looked at more seldom: late labels are rare, and webhooks still wake.
ENDED_EVERY = 10
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
            log.warning("the server is away (%s); trying again", type(error).__name__)
            stop.wait(1.0)
        rounds += 1
        stop.wait(max(0.0, interval_s - (time.monotonic() - began)))


def look_around(office: Office, rounds: int) -> None:
    """Wake what is due in this round."""
    office.state.set(HEARTBEAT, rounds, ex=60)
    for assessment in office.ids():
        standing = office.ledger(assessment).standing()
        if standing.status == "stopped" and rounds % ENDED_EVERY:
            continue
        office.wake(assessment)
        polled_at = float(standing.notes.get("polled_at", 0))
        if abs(time.time() - polled_at) > STUCK_S:
            office.nudge(assessment, STUCK_S)
