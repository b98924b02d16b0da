"""Steps 1 and 2 of the loop: read what changed in Label Studio, record it exactly once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from heapq import nsmallest

from connector.labels import TaskSnapshot
from connector.port import Desk
from worker.errors import AssayError
from worker.store import Ledger
from worker.store.changes import Change, change
from worker.store.metadata import Metadata
from worker.store.records import CLOCKS_US, Record, load, lost, with_snapshot
from worker.store.rules import Rules
from worker.turn.orphans import note_orphans
from worker.turn.shown import as_counted, changed_labelling, compared, read_from

# Label Studio sets a task's stamp before the change can be seen, so what is older than the cursor
# may still appear. Ten seconds is what was measured to be ample.
OVERLAP_US = 10_000_000
# How often the project's own counts are compared with ours: what polling cannot see (deleted
# tasks) is found within this time.
SWEEP_S = 20.0
BATCH = 500
# So many answered tasks are read again with every sweep, one after the other: some of Label
# Studio's actions change a task's data and leave its stamp.
LOOKED_THROUGH = 100
ATTEMPTS = 20


class Contention(AssayError):
    """Other workers kept changing the same items; the next turn tries again."""


def catch_up(ledger: Ledger, desk: Desk, rules: Rules) -> Metadata:
    """Read everything that changed since the cursor, record it, and move the cursor.

    The cursor moves only when all that it passes is recorded, so a crash repeats some of a reading
    and loses none; repeating changes nothing.

    Returns:
        The metadata as it was before.
    """
    metadata = ledger.metadata()
    cursor = metadata.get("cursor", 0)
    reading = ledger.next_reading()
    newest, batch = cursor, list[TaskSnapshot]()
    for snapshot in desk.changes(max(0, cursor - OVERLAP_US)):
        batch.append(snapshot)
        newest = max(newest, snapshot.at_us)
        if len(batch) == BATCH:
            record(ledger, batch, reading, rules)
            ledger.advance_cursor(newest)  # they come in order, earliest first
            batch = []
    record(ledger, batch, reading, rules)
    ledger.advance_cursor(newest, polled_at=round(time.time(), 3))
    return metadata


def record(ledger: Ledger, snapshots: Sequence[TaskSnapshot], reading: int, rules: Rules) -> None:
    """Bring snapshots into the ledger, in whatever order and however often they come.

    Raises:
        Contention: others changed the same items at each of many attempts.
    """
    waiting = list(snapshots)
    for _ in range(ATTEMPTS):
        if not waiting:
            return
        in_conflict = set(_record_once(ledger, waiting, reading, rules))
        waiting = [snapshot for snapshot in waiting if snapshot.item in in_conflict]
    if waiting:
        raise Contention(
            f"{len(waiting)} readings could not be recorded because other workers kept changing "
            "the same items. Nothing is lost: the next turn reads them again."
        )


def read_again(ledger: Ledger, desk: Desk, shown: Mapping[int, str], rules: Rules) -> None:
    """Read tasks of which it is known what they show; let go of those that are gone.

    Args:
        shown: task -> item.
    """
    reading = ledger.next_reading()
    snapshots = desk.read(list(shown))
    record(ledger, snapshots, reading, rules)
    there = {snapshot.task for snapshot in snapshots}
    _let_go(ledger, [(task, item) for task, item in shown.items() if task not in there], rules)


def _record_once(
    ledger: Ledger, snapshots: Sequence[TaskSnapshot], reading: int, rules: Rules
) -> list[str]:
    # Of two snapshots of one task the later one counts: between them it may have been deleted, and
    # SQLite gives a deleted task's id to the next one, which shows another item.
    latest = {
        snapshot.task: snapshot
        for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.at_us)
    }
    items = list({snapshot.item for snapshot in latest.values()})
    owners, stored, metadata = ledger.known(list(latest), items)
    shown_before = ((task, owners.get(task, "")) for task in latest)
    # Where that changes an item of these snapshots, they conflict, and are recorded once more.
    _let_go(ledger, [(t, i) for t, i in shown_before if i and i != latest[t].item], rules)
    before = {item: load(text) for item, text in stored.items()}
    after = dict(before)
    changed = changed_labelling(metadata)
    now_us = int(time.time() * 1e6)
    foreign: dict[int, str] = {}
    unclaimed: list[TaskSnapshot] = []
    for snapshot in latest.values():
        if snapshot.item in after:
            known = after[snapshot.item]
            seen = as_counted(snapshot, known.row, rules, changed)
            after[snapshot.item] = with_snapshot(known, seen, reading, rules, now_us)
        else:
            foreign[snapshot.task] = _foreign_brief(snapshot)
            if snapshot.item:
                unclaimed.append(snapshot)
    conflicts = ledger.commit(_changes(stored, before, after, rules))
    note_orphans(ledger, unclaimed)  # first: what is marked as foreign is not read again
    ledger.mark_foreign(foreign)
    return conflicts


def _changes(
    stored: Mapping[str, str],
    before: Mapping[str, Record],
    after: Mapping[str, Record],
    rules: Rules,
) -> list[Change]:
    made = (change(stored[i], before[i], after[i], rules) for i in after)
    return [c for c in made if c is not None]


def _foreign_brief(snapshot: TaskSnapshot) -> str:
    answers = sum(j.status != "skipped" for j in snapshot.judgements)
    return f"{snapshot.at_us}:{answers}:{len(snapshot.judgements) - answers}:"


def sweep_is_due(metadata: Metadata, now_s: float) -> bool:
    """Whether the counts were not compared for a while (or a clock was put back)."""
    return abs(now_s - metadata.get("swept_at", 0)) >= SWEEP_S


def sweep(ledger: Ledger, desk: Desk, rules: Rules, *, is_thorough: bool = False) -> bool:
    """Compare all tasks with what we know where the project's counts disagree; return if they did.

    It finds what no change tells: deleted tasks, data that were changed without a stamp, another
    labelling configuration, and anything that ever slipped through. So it does while the cursor is
    ahead of our clock: Label Studio's was, and changes that it stamps now are behind the cursor.

    Args:
        is_thorough: read every answered task again, in place of the next few.
    """
    known, metadata, now_us = ledger.tasks(), ledger.metadata(), int(time.time() * 1e6)
    cursor_us = metadata.get("cursor", 0)
    counters = desk.counters()
    told = compared(metadata, counters.labelling, min(cursor_us, now_us))
    told["swept_at"] = int(time.time())
    ledger.set_metadata(**told)
    _read_by_new_rule(ledger, desk, rules, known)
    _look_through(ledger, desk, rules, known, is_thorough=is_thorough)
    ours = (
        len(known),
        sum(answers for _, answers, _, _ in known.values()),
        sum(skipped for _, _, skipped, _ in known.values()),
    )
    is_behind = cursor_us <= now_us + CLOCKS_US
    if is_behind and ours == (counters.tasks, counters.answers, counters.skips):
        return False
    take_stock(ledger, desk, rules)
    return True


def _read_by_new_rule(
    ledger: Ledger, desk: Desk, rules: Rules, known: Mapping[int, tuple[int, int, int, str]]
) -> None:
    """After the labelling configuration was changed or put back: later labels count otherwise."""
    since_us = read_from(ledger.metadata())
    if since_us is None:
        return
    later = [
        task
        for task, (at_us, answers, _, item) in known.items()
        if item and answers and at_us > since_us - OVERLAP_US
    ]
    _read_again(ledger, desk, rules, later)
    ledger.set_metadata(labelling_read_from="")


def _look_through(
    ledger: Ledger,
    desk: Desk,
    rules: Rules,
    known: Mapping[int, tuple[int, int, int, str]],
    *,
    is_thorough: bool,
) -> None:
    """Read answered tasks again: all, or those that come next."""
    answered = [task for task, (_, answers, _, item) in known.items() if item and answers]
    if not is_thorough:
        last = ledger.metadata().get("looked_through", 0)
        answered = nsmallest(LOOKED_THROUGH, (task for task in answered if task > last))
        ledger.set_metadata(looked_through=answered[-1] if len(answered) == LOOKED_THROUGH else 0)
    _read_again(ledger, desk, rules, answered)


def _read_again(ledger: Ledger, desk: Desk, rules: Rules, tasks: Sequence[int]) -> None:
    reading = ledger.next_reading()
    for start in range(0, len(tasks), BATCH):
        record(ledger, desk.read(tasks[start : start + BATCH]), reading, rules)


def take_stock(ledger: Ledger, desk: Desk, rules: Rules) -> None:
    """Read every task that is not as we know it, and let go of those that are gone."""
    known = ledger.tasks()
    census = {brief.task: brief for brief in desk.census()}
    stale = [
        task
        for task, brief in census.items()
        if known.get(task, ())[:3] != (brief.at_us, brief.answers, brief.skips)
    ]
    _read_again(ledger, desk, rules, stale)
    gone = [task for task in known if task not in census]
    ledger.forget_foreign([task for task in gone if not known[task][3]])
    _let_go(ledger, [(task, known[task][3]) for task in gone if known[task][3]], rules)


def _let_go(ledger: Ledger, gone: list[tuple[int, str]], rules: Rules) -> None:
    for _ in range(ATTEMPTS):
        if not gone:
            return
        stored = ledger.records(list({item for _, item in gone}))
        before = {item: load(text) for item, text in stored.items()}
        after = dict(before)
        for task, item in gone:
            after[item] = lost(after[item], task, rules)
        conflicts = set(ledger.commit(_changes(stored, before, after, rules)))
        gone = [(task, item) for task, item in gone if item in conflicts]
    if gone:
        raise Contention("deleted tasks could not be recorded; the next turn tries again")
