"""Step 5 of the loop: choose items, claim them, import them; and empty the queue again.

A claim goes through an outbox. It is written down before the import is sent (`intended`), and an
intended claim that a crash or a lost answer left behind is looked up in Label Studio before it is
sent again. Only the holder of the lease imports, and a request is over before the lease is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from connector.desk import Desk
from connector.errors import InDoubt
from connector.labels import Look
from worker.assessment import Assessment
from worker.core.belief import Belief
from worker.core.strategies import NothingLeft
from worker.ledger import Claim, Ledger, Standing
from worker.reading import record

# Longer than any request that writes (connector.desk.WRITE_TIMEOUT_S), so that a holder's request
# is over before another can become holder.
LEASE_MS = 25_000
# Who judged something within this time of the latest judgement is at work.
ACTIVE_US = 10 * 60 * 1_000_000


class LeaseLost(InDoubt):
    """Another worker took over; it looks up what this one left behind."""

    def __init__(self, assessment: str) -> None:
        Exception.__init__(self, f"another worker took over {assessment}; it goes on")


def n_active(authors: Mapping[str, int]) -> int:
    """How many annotators are at work, by Label Studio's clock; at least one."""
    latest = max(authors.values(), default=0)
    return max(1, sum(latest - at <= ACTIVE_US for at in authors.values()))


def n_waiting(standing: Standing) -> int:
    """Items that an annotator at work may be given next.

    Not counted is what would leave the queue empty for somebody though items are open: an item that
    somebody skipped (it is offered to others only), and one that was passed over: Label Studio
    serves in order of import, so an open item before an answered one is held by an annotator.
    Label Studio lets one hold a task for a day; of those passed over, one for every annotator at
    work is taken to be in work, and the rest to be left behind.
    """
    answered = int(standing.notes.get("latest_answered", -1))
    waiting = [
        u
        for u in standing.unsettled.values()
        if u.state == "intended" or (u.state == "open" and not u.is_skipped)
    ]
    passed_over = sum(u.claim < answered for u in waiting)
    return len(waiting) - passed_over + min(passed_over, n_active(standing.authors))


def pending_cells(assessment: Assessment, standing: Standing) -> NDArray[np.int64]:
    """(C,) claimed items of each cell that may still get a label."""
    cells = [u.cell for u in standing.unsettled.values() if u.state in ("intended", "open")]
    return np.bincount(cells, minlength=len(assessment.pool.cell_size)).astype(np.int64)


def unclaimed_cells(assessment: Assessment, standing: Standing) -> NDArray[np.int64]:
    """(C,) items of each cell that nobody claimed yet."""
    left = np.array(assessment.pool.cell_size, dtype=np.int64)
    for cell, taken in standing.taken.items():
        left[cell] -= taken
    return left


def refill(
    assessment: Assessment,
    ledger: Ledger,
    desk: Desk,
    belief: Belief,
    standing: Standing,
    holder: str,
) -> None:
    """Keep a short queue of well-chosen items before every annotator.

    Raises:
        LeaseLost: another worker may import now.
        InDoubt: an import was sent, its answer never came.
    """
    _deliver_doubtful(assessment, ledger, desk, standing, holder)
    reopened = [
        u.tasks[0] for u in standing.unsettled.values() if u.state == "open" and not u.open_tasks
    ]
    _set_open(assessment, ledger, desk, reopened, is_open=True)
    claims = choose(assessment, belief, standing)
    # Refused when an outcome changed meanwhile: the wake that came with it begins another turn.
    if claims and ledger.claim(standing.revision, claims):
        _deliver(
            assessment, ledger, desk, [c.item for c in claims], [c.row for c in claims], holder
        )


def choose(assessment: Assessment, belief: Belief, standing: Standing) -> list[Claim]:
    """Choose as many items as the queue is short of; one draw each, earlier ones pending."""
    plan = assessment.plan
    wanted = plan.queue.look_ahead * n_active(standing.authors) - n_waiting(standing)
    left, pending = unclaimed_cells(assessment, standing), pending_cells(assessment, standing)
    if plan.stop.budget is not None:
        more = max(0, int(standing.notes.get("resume_until", 0)) - plan.stop.budget)
        spent = int((belief.right + belief.wrong).sum())
        wanted = min(wanted, plan.stop.budget + more - spent - n_waiting(standing))
    claims: list[Claim] = []
    for number in range(standing.claims, standing.claims + max(0, wanted)):
        try:
            choice = assessment.choose(belief, left, pending, number)
        except NothingLeft:
            break
        cell = choice.cell
        row = int(assessment.pool.cell_start[cell] + assessment.pool.cell_size[cell] - left[cell])
        item = assessment.pool.item(row)
        why = {
            "revision": standing.revision,
            "strategy": plan.strategy,
            "group": choice.group,
            "pending": {str(c): int(pending[c]) for c in np.flatnonzero(pending)},
            "numbers": choice.numbers,
        }
        claims.append(Claim(number, item.item_id, row, cell, item.predicted, why))
        left[cell] -= 1
        pending[cell] += 1
    return claims


def empty(assessment: Assessment, ledger: Ledger, desk: Desk, standing: Standing) -> None:
    """Withdraw every open task; whoever holds one may still submit it, and it counts."""
    tasks = [t for u in standing.unsettled.values() for t in u.open_tasks]
    _set_open(assessment, ledger, desk, tasks, is_open=False)


def tidy(assessment: Assessment, ledger: Ledger, desk: Desk, standing: Standing) -> None:
    """Withdraw tasks that nobody should be given: given-up items, and second tasks of an item."""
    tasks: list[int] = []
    for u in standing.unsettled.values():
        if u.state in ("skipped", "labelled"):
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
    record(ledger, desk.read(tasks), reading, assessment.plan.annotation.skips)


def _deliver_doubtful(
    assessment: Assessment, ledger: Ledger, desk: Desk, standing: Standing, holder: str
) -> None:
    """Finish what an earlier turn claimed and perhaps imported."""
    doubtful = [u for u in standing.unsettled.values() if u.state == "intended"]
    if not doubtful:
        return
    found = desk.find([u.item for u in doubtful])
    reading = ledger.next_reading()
    tasks = [task for ids in found.values() for task in ids]
    record(ledger, desk.read(tasks), reading, assessment.plan.annotation.skips)
    missing = sorted((u for u in doubtful if u.item not in found), key=lambda u: u.claim)
    _deliver(assessment, ledger, desk, [u.item for u in missing], [u.row for u in missing], holder)


def _deliver(
    assessment: Assessment,
    ledger: Ledger,
    desk: Desk,
    items: Sequence[str],
    rows: Sequence[int],
    holder: str,
) -> None:
    """Import claimed items; the task that an annotator sees holds the item's data and id only."""
    if not items:
        return
    reading = ledger.next_reading()
    data = [
        {**assessment.pool.item(row).data, "item_id": item}
        for item, row in zip(items, rows, strict=True)
    ]
    # To take it anew would not do: if it ran out, another may have imported these and gone.
    if not ledger.keep_lease(holder, LEASE_MS):
        raise LeaseLost(ledger.assessment)
    tasks = desk.put(data)
    if len(tasks) != len(items):
        raise InDoubt(
            "the labelling project", f"{len(items)} tasks sent, {len(tasks)} ids came back"
        )
    looks = [Look(task, item, 0, False, ()) for task, item in zip(tasks, items, strict=True)]
    record(ledger, looks, reading, assessment.plan.annotation.skips)
