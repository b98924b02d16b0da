"""How long the queue is, and how many items it is short of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from worker.assessment.assessment import Assessment
from worker.store import State, Unsettled
from worker.store.tally import tally_key

# Who judged something within this time of the latest judgement is at work.
ACTIVE_US = 10 * 60 * 1_000_000
# Of items in doubt so many queues are replaced: workers that die at an import each half a minute
# keep nobody waiting, and a server that is slow is not sent ever more.
QUEUES_OF_LATE = 10


def active(authors: Mapping[str, int]) -> frozenset[int]:
    """The annotators at work, by Label Studio's clock."""
    latest = max(authors.values(), default=0)
    return frozenset(int(who) for who, at in authors.items() if latest - at <= ACTIVE_US)


def n_active(authors: Mapping[str, int]) -> int:
    """How many annotators are at work; at least one."""
    return max(1, len(active(authors)))


def answered_enough(assessment: Assessment, state: State) -> frozenset[str]:
    """Items that need no more votes, because their class is as sure as the plan asks for."""
    least = assessment.plan.annotation.item_confidence
    if least is None:
        return frozenset()
    votes = assessment.votes(state.tally)
    if votes is None:
        return frozenset()
    return frozenset(
        u.item
        for u in state.unsettled.values()
        if u.state == "open"
        and u.outcome is not None
        and u.cell >= 0
        and votes.sure[tally_key(u.claim, u.cell, u.predicted, u.outcome)] >= least
    )


def n_missing(
    assessment: Assessment,
    state: State,
    enough: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
) -> int:
    """How many items the queue is short of.

    Args:
        enough: items in it that need no more votes.
        late: items that are not in it yet, and may not be for minutes; what exceeds
            `QUEUES_OF_LATE` of them counts as any other item.
    """
    look_ahead = assessment.plan.queue.look_ahead
    per_item = assessment.rules.per_item
    if per_item == 1:
        length = look_ahead * n_active(state.authors)
        return length - n_waiting(state, but=frozenset(sorted(late)[: QUEUES_OF_LATE * length]))
    but = enough | frozenset(sorted(late)[: QUEUES_OF_LATE * look_ahead])
    served = [
        u for u in state.unsettled.values() if u.state in ("intended", "open") and u.item not in but
    ]
    return _missing_votes(served, active(state.authors), look_ahead, per_item)


def _missing_votes(
    served: Iterable[Unsettled], people: frozenset[int], look_ahead: int, per_item: int
) -> int:
    """Items to add so that everybody has `look_ahead` items before them that others leave free.

    Label Studio gives an item to nobody twice, so that each person has a queue of their own, and
    one vote that an item lacks can be given by one of them only.
    """
    n_people = max(1, len(people))
    own = dict.fromkeys(people, 0)
    n_votes = n_items = 0
    for u in served:
        n_items += 1
        for person in people.difference(u.asked):
            own[person] += 1
        could = n_people - len(people.intersection(u.asked))
        n_votes += min(max(1, per_item - len(u.asked)), could)
    shortest = min(own.values(), default=n_items)
    votes_short = look_ahead * n_people - n_votes
    return max(look_ahead - shortest, -(-votes_short // min(per_item, n_people)))


def n_waiting(state: State, *, in_pool: bool = False, but: frozenset[str] = frozenset()) -> int:
    """Items that an annotator at work may be given next, where each is given to one person.

    Not counted is what would leave the queue empty for somebody though items are open: an item that
    somebody skipped (it is offered to others only), and one that was passed over: Label Studio
    serves in order of import, so an open item before an answered one is held by an annotator.
    Label Studio lets one hold a task for a day; of those passed over, one for every annotator at
    work is taken to be in work, and the rest to be left behind.

    Args:
        in_pool: leave out the gold items.
        but: leave out these.
    """
    answered = state.metadata.get("latest_answered", -1)
    waiting = [
        u
        for u in state.unsettled.values()
        if (u.state == "intended" or (u.state == "open" and not u.asked))
        and not (in_pool and u.cell < 0)
        and u.item not in but
    ]
    passed_over = sum(u.claim < answered for u in waiting)
    return len(waiting) - passed_over + min(passed_over, n_active(state.authors))


def n_unanswered(assessment: Assessment, state: State) -> int:
    """Items of the pool in the queue that count nothing yet: they are on the budget."""
    if assessment.rules.per_item == 1:
        return n_waiting(state, in_pool=True)
    return int(pending_cells(assessment, state).sum())


def pending_cells(assessment: Assessment, state: State) -> NDArray[np.int64]:
    """(C,) claimed items of each cell that may still get a label and have none."""
    cells = [
        u.cell
        for u in state.unsettled.values()
        if u.state in ("intended", "open") and u.outcome is None and u.cell >= 0
    ]
    return np.bincount(cells, minlength=len(assessment.pool.cell_size)).astype(np.int64)


def unclaimed_cells(assessment: Assessment, state: State) -> NDArray[np.int64]:
    """(C,) items of each cell that nobody claimed yet."""
    left = np.array(assessment.pool.cell_open, dtype=np.int64)
    for cell, taken in state.taken.items():
        if cell >= 0:
            left[cell] -= taken
    return left
