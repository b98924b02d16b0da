"""Tasks of ours that the ledger does not know: a server that lost its last writes forgot them.

A replica that is promoted, or a file that was cut off, may lack claims whose items lie before the
annotators already. `worker.turn.reclaim` claims them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from connector.labels import TaskSnapshot
from worker.store import Ledger
from worker.store.metadata import Metadata

# What the log of choices says of a claim that was made for a task that was there.
FOUND = "found"


def note_orphans(ledger: Ledger, snapshots: Sequence[TaskSnapshot]) -> None:
    """Remember tasks that name an item which nobody claimed."""
    if snapshots:
        _change(
            ledger, lambda known: known | {snapshot.task: snapshot.item for snapshot in snapshots}
        )


def orphans(metadata: Metadata) -> dict[int, str]:
    """Such tasks: id -> item."""
    return {int(task): item for task, item in json.loads(metadata.get("strays") or "{}").items()}


def forget_orphans(ledger: Ledger, tasks: Iterable[int]) -> None:
    """These are ours now, or gone."""
    _change(ledger, lambda known: {t: item for t, item in known.items() if t not in set(tasks)})


def _change(ledger: Ledger, changed: Callable[[dict[int, str]], dict[int, str]]) -> None:
    """Change the list, whoever else does: a worker whose lease ran out may still be at it."""
    while True:
        metadata = ledger.metadata()
        before, left = metadata.get("strays", ""), changed(orphans(metadata))
        after = json.dumps(left, sort_keys=True) if left else ""
        if after == before or ledger.compare_and_set("strays", before, after):
            return
