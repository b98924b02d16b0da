"""Where the items of the pool are: the one count of each that every page shows.

A *skip* is an answer, a *skipped item* one that was given up after as many skips as the plan
allows; so it is with rejected annotations and rejected items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from worker.assessment import Assessment
from worker.assessment.outcomes import n_labelled
from worker.formats import counted
from worker.store import State


@dataclass(frozen=True, slots=True)
class Fates:
    """How many items of the pool are where; an item is in one place, those known before in none.

    labelled: has a label that counts, also while it waits for more votes. queued: chosen, and
    without a label. skipped, rejected, deleted: given up, and counted as unlabelled: after so many
    skips; its only answer could not be read; its task was deleted. withdrawn: taken from the queue
    before anybody answered. unclaimed: never chosen.
    """

    labelled: int
    queued: int
    skipped: int
    rejected: int
    deleted: int
    withdrawn: int
    unclaimed: int

    @property
    def given_up(self) -> dict[str, int]:
        """State -> items, of those that get no label any more; none where there are none."""
        states = {"skipped": self.skipped, "rejected": self.rejected, "deleted": self.deleted}
        return {state: n for state, n in states.items() if n}


def fates(work: Assessment, state: State) -> Fates:
    """Count the items of the pool; gold items are outside of it."""
    waiting = [u for u in state.unsettled.values() if u.cell >= 0 and u.outcome is None]
    states = Counter(u.state for u in waiting)
    withdrawn = sum(u.state == "open" and not u.open_tasks for u in waiting)
    return Fates(
        labelled=n_labelled(state.tally) + (work.pool.n_known if work.pool.labelled_in else 0),
        queued=states["intended"] + states["open"] - withdrawn,
        skipped=states["skipped"],
        rejected=states["rejected"],
        deleted=states["deleted"],
        withdrawn=withdrawn,
        unclaimed=int(work.pool.cell_open.sum())
        - sum(n for cell, n in state.taken.items() if cell >= 0),
    )


def open_tasks(state: State) -> list[tuple[int, ...]]:
    """The tasks of each open item, which annotators may be given now.

    Gold items are open, too, and items that wait for more votes.
    """
    return [u.open_tasks for u in state.unsettled.values() if u.state == "open" and u.open_tasks]


def given_up_text(given_up: dict[str, int]) -> str:
    """Such as "1 deleted item, 2 skipped items"; empty if there are none."""
    told = sorted(given_up.items())
    return ", ".join(counted(n, f"{state} item") for state, n in told)


def left_out_text(dropped: Mapping[str, int]) -> str:
    """Such as "5 rows left out: 2 empty, 3 duplicate"; empty if there are none."""
    told = ", ".join(f"{rows:,} {why}" for why, rows in dropped.items())
    return f"{counted(sum(dropped.values()), 'row')} left out: {told}" if told else ""
