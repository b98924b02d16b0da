"""The outbox: what is to be told stands in the ledger until it was delivered or given up.

A try is counted, and the next one put off, before anything is sent. So whoever dies between
sending and crossing out leaves a notice that is sent again, with the same id: told twice perhaps,
never not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from worker.errors import AssayError
from worker.notices.messages import Event
from worker.plan import Plan
from worker.plan.notify_part import NotifyPlan
from worker.store import Ledger
from worker.store.outbox import OutboxStore

# Eight tries within about an hour: 30 s after the first one, then twice as long each time.
TRIES = 8
FIRST_WAIT_S = 30.0
JITTER = 0.2
LONGEST_WAIT_S = FIRST_WAIT_S * 2**TRIES * (1 + JITTER)
# Of those that were given up, so many are kept to be shown.
MOST_GIVEN_UP = 20


class NotSent(AssayError):
    """A notice did not arrive (or nobody said that it did); it may be tried again."""


# Raises NotSent.
Send = Callable[[NotifyPlan, str, Event, dict[str, Any] | None], None]


@dataclass(frozen=True, slots=True)
class Notice:
    """One event for one address of the plan.

    target: the address, counted from 0. tries: how many were begun.
    next_at: when it is due, in seconds since 1970; None once it was given up.
    error: why the last try failed.
    """

    key: str
    event: Event
    target: int
    tries: int = 0
    next_at: float | None = 0.0
    error: str = ""


def put(store: OutboxStore, plan: Plan, event: Event) -> None:
    """Put an event into the outbox, once for every address that wants to hear of it."""
    for n, target in enumerate(plan.notify):
        if event.kind in target.on:
            notice = Notice(f"{event.id}>{n}", event, n)
            store.put_notice(notice.key, _dump(notice))


def waiting(store: OutboxStore) -> list[Notice]:
    """What is neither delivered nor crossed out, oldest event first."""
    notices = [_load(key, text) for key, text in store.notices().items()]
    return sorted(notices, key=lambda notice: (notice.event.at, notice.key))


def given_up(store: OutboxStore) -> list[Notice]:
    """What could not be delivered, for people to see."""
    return [notice for notice in waiting(store) if notice.next_at is None]


def is_due(notice: Notice, now: float) -> bool:
    """Whether it should be tried at `now`, in seconds since 1970.

    A moment further ahead than any wait was noted while a clock was ahead.
    """
    return notice.next_at is not None and not now < notice.next_at <= now + LONGEST_WAIT_S


def deliver(ledger: Ledger, plan: Plan, send: Send, clock: Callable[[], float]) -> None:
    """Try everything that is due, once."""
    for notice in waiting(ledger):
        if not is_due(notice, clock()):
            continue
        if notice.tries >= TRIES:  # the last try died with its process
            _give_up(ledger, notice)
            continue
        wait_s = wait_after(notice.key, notice.tries)
        taken = replace(notice, tries=notice.tries + 1, next_at=clock() + wait_s)
        if not ledger.replace_notice(notice.key, _dump(notice), _dump(taken)):
            continue  # somebody else is at it
        target = plan.notify[notice.target]
        try:
            send(target, ledger.assessment, notice.event, _decision(ledger, notice.event))
        except NotSent as error:
            failed = replace(taken, error=str(error))
            if failed.tries >= TRIES:
                _give_up(ledger, taken, str(error))
            else:
                ledger.replace_notice(notice.key, _dump(taken), _dump(failed))
        else:
            ledger.replace_notice(notice.key, _dump(taken), "")


def wait_after(key: str, tries: int) -> float:
    """Seconds until the next try after `tries` others; the same for the same notice.

    In [0.8, 1.2] times 30 s, 60 s, 120 s and so on, so that many notices do not come back at once.
    """
    spread = Random(f"{key} {tries}").uniform(1 - JITTER, 1 + JITTER)
    return float(FIRST_WAIT_S * 2**tries * spread)


def _give_up(store: OutboxStore, notice: Notice, error: str = "") -> None:
    lost = replace(notice, next_at=None, error=error or notice.error or "the process died")
    store.replace_notice(notice.key, _dump(notice), _dump(lost))
    for old in given_up(store)[:-MOST_GIVEN_UP]:
        store.replace_notice(old.key, _dump(old), "")


def _decision(ledger: Ledger, event: Event) -> dict[str, Any] | None:
    if event.kind != "decision":
        return None
    decisions: list[dict[str, Any]] = [json.loads(text) for text in ledger.decisions()]
    return next((d for d in decisions if d["revision"] == event.revision), None)


def _dump(notice: Notice) -> str:
    values = asdict(notice)
    del values["key"]
    return json.dumps({"v": 1, **values}, sort_keys=True)


def _load(key: str, text: str) -> Notice:
    raw = json.loads(text)
    event = Event(**raw["event"])
    return Notice(key, event, raw["target"], raw["tries"], raw["next_at"], raw["error"])
