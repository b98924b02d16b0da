"""Between steps 2 and 3 of the loop: take in tasks of ours whose claims a server forgot.

They are claimed again in place of being imported again, and what was answered in them counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from connector.port import Desk
from worker.assessment import Assessment
from worker.pool import Pool
from worker.store import Claim, Ledger, State
from worker.turn.orphans import FOUND, forget_orphans, orphans
from worker.turn.sync import record


def reclaim(assessment: Assessment, ledger: Ledger, desk: Desk, state: State) -> bool:
    """Claim the items of orphaned tasks, record what was answered there; say if there were any.

    It may die at any line: what is claimed and not recorded is looked up in Label Studio as any
    import in doubt, and the rest is still on the list of orphans.
    """
    known = orphans(state.metadata)
    if not known or state.status != "running":
        return False
    snapshots = [snapshot for snapshot in desk.read(list(known)) if snapshot.item]
    rows = assessment.pool.find({snapshot.item for snapshot in snapshots})
    shown = assessment.rules.shown
    snapshots = [
        snapshot
        for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.task)
        if snapshot.item in rows and (shown is None or snapshot.shown == shown(rows[snapshot.item]))
    ]
    claimed = set(ledger.records(list(rows)))
    new = {
        snapshot.item: rows[snapshot.item] for snapshot in snapshots if snapshot.item not in claimed
    }
    claims = claims_of_orphans(assessment.pool, state, new)
    if claims and not ledger.claim(state.revision, claims):
        return False  # something changed meanwhile; the next turn looks again
    claimed |= {claim.item for claim in claims}
    ours = [snapshot for snapshot in snapshots if snapshot.item in claimed]
    record(ledger, ours, ledger.next_reading(), assessment.rules)
    left = {snapshot.task for snapshot in snapshots if snapshot.item not in claimed}
    forget_orphans(ledger, known.keys() - left)
    return bool(ours)


def claims_of_orphans(pool: Pool, state: State, items: Mapping[str, int]) -> list[Claim]:
    """The claims of those items that come next in their cells, one after the other.

    An item further on waits until its cell has come so far: who imports a task by hand must not
    choose what is assessed.

    Args:
        items: unclaimed items of the pool -> row, in the order of their tasks.
    """
    taken = dict(state.taken)
    waiting = [pool.item(row) for row in items.values()]
    claims: list[Claim] = []

    def left(cell: int) -> int:
        begun_with = len(pool.gold) if cell < 0 else int(pool.cell_open[cell])
        return begun_with - taken.get(cell, 0)

    while True:
        due = [item for item in waiting if item.row == pool.next_row(item.cell, left(item.cell))]
        if not due:
            return claims
        for item in due:
            why = {
                **{"revision": state.revision, "strategy": FOUND},
                **{"group": item.group, "pending": {}, "numbers": {}},
            }
            number = state.claims + len(claims)
            claims.append(Claim(number, item.item_id, item.row, item.cell, item.predicted, why))
            taken[item.cell] = taken.get(item.cell, 0) + 1
            waiting.remove(item)
