"""How long the queue is, for whom, and what keeps it from running dry."""

import dataclasses
from pathlib import Path

import pytest

from connector.desk import WRITE_TIMEOUT_S
from connector.ranking import RANKING_S
from tests.promises.small import small_assessment
from worker.assessment.queueing import ACTIVE_US, QUEUES_OF_LATE, n_active, n_missing, n_waiting
from worker.store import State, Unsettled
from worker.turn.leasing import BEAT_S, LEASE_MS, STEP_S
from worker.turn.refill import CUT_MS, RANKING_MS, SLOW_MS


def state(*unsettled: Unsettled, answered: int = -1, authors: dict[str, int] | None = None):
    return State(
        status="running",
        revision=0,
        claims=len(unsettled),
        tally={},
        taken={},
        unsettled={u.item: u for u in unsettled},
        authors=authors or {"1": 0},
        n_rejected=0,
        metadata={"latest_answered": answered},
    )


def item(claim: int, **changes: object) -> Unsettled:
    plain = Unsettled(f"item-{claim}", 0, claim, claim, "open", (claim,), (claim,), (), 0, None)
    return dataclasses.replace(plain, **changes)


def test_at_least_one_annotator_is_expected():
    assert n_active({}) == 1


def test_an_annotator_who_judged_lately_is_at_work_and_one_who_left_is_not():
    assert n_active({"1": 10 * ACTIVE_US, "2": 9 * ACTIVE_US, "3": 9 * ACTIVE_US - 1}) == 2


def test_intended_and_open_items_are_waiting():
    assert n_waiting(state(item(0), item(1, state="intended", tasks=(), open_tasks=()))) == 2


@pytest.mark.parametrize("fate", ["skipped", "rejected", "deleted", "labelled"])
def test_an_item_that_was_given_up_is_not_waiting(fate):
    assert n_waiting(state(item(0, state=fate))) == 0


def test_a_skipped_item_does_not_keep_the_queue_of_a_lone_annotator_empty():
    assert n_waiting(state(item(0, asked=(1,)))) == 0


def test_tasks_held_by_people_who_left_do_not_keep_the_queue_empty_for_those_at_work():
    held = [item(claim) for claim in range(4)]
    assert n_waiting(state(*held, item(9), answered=8)) == 2  # one in work, one to come


def test_a_held_task_of_each_annotator_at_work_is_in_work():
    held = [item(claim) for claim in range(4)]
    at_work = {str(person): ACTIVE_US for person in range(3)}
    assert n_waiting(state(*held, answered=8, authors=at_work)) == 3


def test_whatever_writes_is_over_before_the_lease_is():
    assert max(RANKING_S, WRITE_TIMEOUT_S) * 1000 < STEP_S * 1000 <= CUT_MS < SLOW_MS
    assert RANKING_S * 1000 < RANKING_MS
    assert BEAT_S * 1000 < LEASE_MS / 2


@pytest.mark.parametrize("more", ["", "annotation: {per_item: 3, per_item_max: 3}\n"])
def test_imports_in_doubt_keep_nobody_waiting_but_a_slow_server_is_sent_no_more_than_ten_queues(
    tmp_path: Path, more: str
):
    work = small_assessment(tmp_path, "{mrr: {confidence: 0.9999}}", more)[0]
    length = work.plan.queue.look_ahead

    def missing(n_imports: int) -> int:
        claims = range(n_imports * length)
        lost = [item(claim, state="intended", tasks=(), open_tasks=()) for claim in claims]
        return n_missing(work, state(*lost), late=frozenset(u.item for u in lost))

    assert [missing(n) for n in (0, 1, QUEUES_OF_LATE)] == [length] * 3
    assert missing(QUEUES_OF_LATE + 1) == 0


def test_items_that_come_late_are_not_waiting_up_to_the_length_of_a_queue():
    intended = [item(claim, state="intended", tasks=(), open_tasks=()) for claim in range(3)]
    names = frozenset(u.item for u in intended)
    assert n_waiting(state(*intended, item(3)), but=names) == 1
    assert n_waiting(state(*intended, item(3)), but=frozenset(["item-1"])) == 3
