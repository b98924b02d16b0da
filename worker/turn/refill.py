"""Step 5 of the loop: choose items, claim them, import them; and empty the queue again.

A claim goes through an outbox. It is written down before the import is sent (`intended`), and an
intended claim that a crash or a lost answer left behind is looked up in Label Studio before it is
sent again. Only the holder of the lease imports. While an import may be under way its claims are in
doubt: that, too, is written down before it is sent, and nobody sends them again until it is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from connector.errors import ConnectorError, InDoubt
from connector.labels import TaskSnapshot
from connector.port import Desk
from worker.assessment import Assessment
from worker.assessment.queueing import (
    answered_enough,
    n_missing,
    n_unanswered,
    pending_cells,
    unclaimed_cells,
)
from worker.core.posterior.belief import Belief
from worker.core.strategies import NothingLeft
from worker.pool import Item
from worker.store import Claim, Ledger, State
from worker.turn.leasing import Lease
from worker.turn.orphans import orphans
from worker.turn.sync import read_again, record
from worker.turn.uploading import Claimed, FilesLost, Lost, Task, portions, with_files

# After its connection broke, an import that Label Studio still works at is over by then.
CUT_MS = 25_000
# While its database is locked, Label Studio tries an import again and again, though nobody waits
# for the answer any more: 85 s was the longest that was seen.
SLOW_MS = 300_000
# All writes of a ranking are over by then (connector.ranking.RANKING_S).
RANKING_MS = 20_000


def refill(
    assessment: Assessment,
    ledger: Ledger,
    desk: Desk,
    belief: Belief,
    state: State,
    lease: Lease,
) -> None:
    """Keep a short queue of well-chosen items before every annotator.

    Raises:
        LeaseLost: another worker may import now.
        InDoubt: an import was sent, its answer never came.
        FilesLost: files of chosen items cannot be uploaded; all others were imported.
    """
    late, lost = _deliver_doubtful(assessment, ledger, desk, state, lease)
    enough = answered_enough(assessment, state)
    reopened = [
        u.tasks[0]
        for u in state.unsettled.values()
        if u.state == "open" and not u.open_tasks and u.item not in enough
    ]
    _set_open(assessment, ledger, desk, reopened, is_open=True)
    lease.hold()
    claims = choose(assessment, belief, state, enough, late)
    # Refused when an outcome changed meanwhile: the wake that came with it begins another turn.
    if claims and ledger.claim(state.revision, claims):
        if {c.item for c in claims} & set(orphans(state.metadata).values()):
            # Some lie before the annotators already.
            _, lost = _deliver_doubtful(assessment, ledger, desk, ledger.state(), lease)
        else:
            new = [(c.number, c.item, c.row) for c in claims]
            lost += _deliver(assessment, ledger, desk, new, lease)
    if lost:
        raise FilesLost(lost)


def choose(
    assessment: Assessment,
    belief: Belief,
    state: State,
    enough: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
) -> list[Claim]:
    """Choose as many items as the queue is short of; one draw each, earlier ones pending.

    Args:
        enough: items in the queue that need no more votes (`answered_enough`).
        late: items whose import may still be under way, so that nobody can be given them now.
    """
    plan = assessment.plan
    wanted = n_missing(assessment, state, enough, late)
    left, pending = unclaimed_cells(assessment, state), pending_cells(assessment, state)
    gold_left = len(assessment.pool.gold) - state.taken.get(-1, 0)
    if plan.stop.budget is not None:
        more = max(0, state.metadata.get("resume_until", 0) - plan.stop.budget)
        spent = assessment.spent(belief)
        queued = n_unanswered(assessment, state)
        wanted = min(wanted, plan.stop.budget + more - spent - queued)
    claims: list[Claim] = []
    for number in range(state.claims, state.claims + max(0, wanted)):
        if assessment.is_gold_due(number) and gold_left > 0:
            item = assessment.pool.item(assessment.pool.next_row(-1, gold_left))
            claims.append(_claim(number, item, state, "gold", {}))
            gold_left -= 1
            continue
        try:
            choice = assessment.choose(belief, left, pending, number)
        except NothingLeft:
            break
        cell = choice.cell
        row = assessment.pool.next_row(cell, int(left[cell]))
        why = {
            "group": choice.group,
            "pending": {str(c): int(pending[c]) for c in np.flatnonzero(pending)},
            "numbers": choice.numbers,
        }
        claims.append(_claim(number, assessment.pool.item(row), state, plan.strategy, why))
        left[cell] -= 1
        pending[cell] += 1
    return claims


def _claim(number: int, item: Item, state: State, strategy: str, why: dict[str, Any]) -> Claim:
    said = {"revision": state.revision, "strategy": strategy, **why}
    return Claim(number, item.item_id, item.row, item.cell, item.predicted, said)


def empty(assessment: Assessment, ledger: Ledger, desk: Desk, state: State) -> None:
    """Withdraw every open task; whoever holds one may still submit it, and it counts."""
    tasks = [t for u in state.unsettled.values() for t in u.open_tasks]
    _set_open(assessment, ledger, desk, tasks, is_open=False)


def tidy(assessment: Assessment, ledger: Ledger, desk: Desk, state: State) -> None:
    """Withdraw tasks that nobody should be given: of items that are given up or answered well
    enough, and second tasks of an item."""
    enough = answered_enough(assessment, state)
    tasks: list[int] = []
    for u in state.unsettled.values():
        if u.state in ("skipped", "labelled") or u.item in enough:
            tasks += u.open_tasks
        else:
            tasks += u.open_tasks[1:]
    _set_open(assessment, ledger, desk, tasks, is_open=False)


def _set_open(
    assessment: Assessment, ledger: Ledger, desk: Desk, tasks: Sequence[int], *, is_open: bool
) -> None:
    if not tasks:
        return
    (desk.reopen if is_open else desk.close)(tasks)
    reading = ledger.next_reading()
    record(ledger, desk.read(tasks), reading, assessment.rules)


def _deliver_doubtful(
    assessment: Assessment, ledger: Ledger, desk: Desk, state: State, lease: Lease
) -> tuple[frozenset[str], list[Lost]]:
    """Finish what earlier turns claimed and perhaps imported.

    Returns:
        The items that nobody can be given now, and those that cannot be imported from here. Of the
        latter no more than one queue is replaced: where all files lack, others have them.
    """
    intended = [u for u in state.unsettled.values() if u.state == "intended"]
    lost: list[Lost] = []
    if not intended:
        return frozenset(), lost
    lease.hold()
    under_way = ledger.in_doubt([u.claim for u in intended])
    over = [u for u in intended if u.claim not in under_way]
    if over:
        found = desk.find([u.item for u in over])
        reading = ledger.next_reading()
        tasks = [task for ids in found.values() for task in ids]
        record(ledger, desk.read(tasks), reading, assessment.rules)
        missing = sorted((u.claim, u.item, u.row) for u in over if u.item not in found)
        lost = _deliver(assessment, ledger, desk, missing, lease)
    # What arrives late is read as any change.
    late = {u.item for u in intended if u.claim in under_way}
    return frozenset(late | {one.item for one in lost[: assessment.plan.queue.look_ahead]}), lost


def _deliver(
    assessment: Assessment,
    ledger: Ledger,
    desk: Desk,
    claimed: Sequence[Claimed],
    lease: Lease,
) -> list[Lost]:
    """Import claimed items; return those whose files cannot be uploaded from here."""
    lost: list[Lost] = []
    for portion in portions(assessment.pool, claimed):
        tasks, without_file = with_files(assessment.pool, portion, desk, lease)
        lost += without_file
        if tasks:
            _import(assessment, ledger, desk, tasks, lease)
    return lost


def _import(
    assessment: Assessment,
    ledger: Ledger,
    desk: Desk,
    claimed: Sequence[Task],
    lease: Lease,
) -> None:
    """Import claimed items; the task that an annotator sees holds the item's data and id only."""
    claims = [claim for claim, _ in claimed]
    data = [shown for _, shown in claimed]
    items = [shown["item_id"] for shown in data]
    # A ranking that is sent again replaces the earlier one.
    slow_ms = RANKING_MS if assessment.plan.queue.mode == "prioritise" else SLOW_MS
    reading = lease.begin_import(claims, slow_ms)
    try:
        tasks = desk.put(data)
        if len(tasks) != len(items):
            raise InDoubt(
                "the labelling project", f"{len(items)} tasks sent, {len(tasks)} ids came back"
            )
    except InDoubt as error:
        ledger.doubt(claims, slow_ms if error.is_slow else CUT_MS)
        raise
    except ConnectorError:  # refused, or never sent
        ledger.doubt(claims, 0)
        raise
    snapshots = [
        TaskSnapshot(task, item, 0, False, ()) for task, item in zip(tasks, items, strict=True)
    ]
    record(ledger, snapshots, reading, assessment.rules)
    ledger.doubt(claims, 0)
    if assessment.plan.queue.mode == "prioritise":
        # They were there before: somebody may have answered one already, or deleted it.
        read_again(ledger, desk, dict(zip(tasks, items, strict=True)), assessment.rules)
