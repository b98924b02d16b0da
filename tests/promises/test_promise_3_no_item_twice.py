"""Promise 3: no item is queued twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from connector.errors import ConnectorError, InDoubt, Rejected, Unreachable
from tests.promises.faults import FATES, Fate
from tests.promises.small import shown, small_assessment
from tests.promises.world import Step, World, histories, live_through, new_world
from worker.assessment import Assessment
from worker.assessment.queueing import QUEUES_OF_LATE
from worker.store import Header
from worker.store.records import load
from worker.turn.loop import advance
from worker.turn.refill import CUT_MS, SLOW_MS

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 60


def assert_each_claim_has_one_task(world: World) -> None:
    """No item twice; and none lost: a claimed item has its task, unless a person deleted it."""
    tasks = world.tasks_of_items()
    assert not [item for item, count in tasks.items() if count > 1]
    for record in (load(text) for text in world.ledger.every_record()):
        assert tasks[record.item] == 1 or record.was_deleted


@settings(max_examples=60)
@given(history=histories())
def test_after_any_history_no_item_has_two_tasks_and_none_is_lost(
    long_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        live_through(world, history).settle()

        assert_each_claim_has_one_task(world)


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_a_worker_at_whichever_call_no_item_is_queued_twice(
    long_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(long_assessment, folder, keeper) as world:
            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()

            assert_each_claim_has_one_task(world)
            # While it stalls in an import, people get other items.
            most = 2 if fate.startswith("stalls") else 1
            look_ahead = world.assessment.plan.queue.look_ahead
            assert look_ahead <= len(world.desk.task_ids()) <= most * look_ahead
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_a_worker_that_finishes_an_import_in_doubt_no_item_is_queued_twice(
    long_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        for did_arrive in (0, 1):
            with new_world(long_assessment, folder, keeper) as world:
                world.happen(("lost_import", did_arrive, 0))

                is_hit = len(world.turn(fate, at).calls) >= at
                world.turn()

                assert_each_claim_has_one_task(world)
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_an_import_that_arrives_after_the_project_was_read_is_found_and_not_repeated(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        world.turn(lost="never arrives")
        waiting = list(world.ledger.state().unsettled)
        at = calls_of_a_turn(long_assessment, folder, keeper, lost=True).index("find") + 1

        def it_arrives() -> None:
            world.desk.put([{"item_id": item, "text": shown(item)} for item in waiting])

        world.turn("stalls before", at, meanwhile=it_arrives)

        assert_each_claim_has_one_task(world)
        assert len(world.desk.task_ids()) == len(waiting)


def test_while_an_import_may_be_under_way_labels_are_counted_and_it_is_not_repeated(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        world.turn()
        task = world.desk.next_task(1)
        assert task is not None
        world.desk.annotate(task, "cat", author=1)
        world.turn(lost="never arrives")
        waiting = [u for u in world.ledger.state().unsettled.values() if u.state == "intended"]
        assert waiting
        # As the turn left it; the world of this test lets it run out.
        world.ledger.doubt([u.claim for u in waiting], 60_000)
        late = world.desk.next_task(1)
        assert late is not None
        world.desk.annotate(late, "dog", author=1)

        assert "find" not in world.turn().calls

        assert not {u.item for u in waiting} & set(world.tasks_of_items())
        assert world.kept_tally() == world.true_tally()
        assert sum(world.kept_tally().values()) == 2
        world.end_doubts()
        world.turn()
        assert_each_claim_has_one_task(world)


def test_claims_are_in_doubt_from_before_their_import_is_sent_until_it_is_recorded(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        put, seen = world.desk.put, []

        def looked_at(tasks: list[dict[str, str]]) -> list[int]:
            seen.append(world.ledger.in_doubt(world.intended()))
            return put(tasks)

        world.desk.put = looked_at  # type: ignore[method-assign]
        world.turn()

        assert seen == [frozenset(range(world.assessment.plan.queue.look_ahead))]
        assert world.ledger.in_doubt(list(seen[0])) == frozenset()


@pytest.mark.parametrize(
    ("error", "ms"),
    [
        (InDoubt("http://fake", "timed out", is_slow=True), SLOW_MS),
        (InDoubt("http://fake", "connection reset"), CUT_MS),
        (Unreachable("http://fake", "connection refused"), 0),
        (Rejected("http://fake", 400, "not valid"), 0),
    ],
)
def test_how_long_an_import_that_failed_may_be_under_way(
    long_assessment: Small, folder: Path, error: ConnectorError, ms: int
) -> None:
    with new_world(long_assessment, folder, None) as world:
        said: dict[int, int] = {}

        def note(claims: list[int], ttl_ms: int) -> None:
            said.update(dict.fromkeys(claims, ttl_ms))

        def fail(tasks: object) -> None:
            raise error

        world.ledger.doubt = note  # type: ignore[method-assign, assignment]
        world.desk.put = fail  # type: ignore[method-assign, assignment]
        holder = (world.assessment, world.header, world.ledger, world.desk, world.folder, "ada")
        with pytest.raises(type(error)):
            advance(*holder)

        assert said == dict.fromkeys(range(world.assessment.plan.queue.look_ahead), ms)


def test_people_get_other_items_while_an_import_is_slow_but_not_ever_more_of_them(
    folder: Path, keeper: str | None
) -> None:
    stop, one = "{mrr: {confidence: 0.9999}}", "queue: {look_ahead: 1}\n"
    with new_world(small_assessment(folder / "one by one", stop, one), folder, keeper) as world:
        most = QUEUES_OF_LATE + 1
        for n_queues in (*range(1, most + 1), most):
            world.turn(lost="never arrives")
            world.ledger.doubt(world.intended(), 60_000)
            assert world.ledger.state().claims == n_queues
        world.end_doubts()

        world.turn()

        assert_each_claim_has_one_task(world)
        assert len(world.desk.task_ids()) == most


def test_a_turn_that_reads_for_longer_than_its_lease_lasts_imports_all_the_same(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        at = calls_of_a_turn(long_assessment, folder, keeper).index("claim")

        world.turn("stalls before", at - 1, meanwhile=lambda: world.ledger.drop_lease("worker-0"))

        assert len(world.desk.task_ids()) == world.assessment.plan.queue.look_ahead


def test_a_worker_that_stalls_past_all_doubt_before_an_import_leaves_no_second_task_open(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        at = calls_of_a_turn(long_assessment, folder, keeper).index("put") + 1

        def minutes_pass() -> None:
            world.ledger.drop_lease("worker-0")
            world.end_doubts()
            world.turn()

        world.turn("stalls before", at, meanwhile=minutes_pass)
        assert set(world.tasks_of_items().values()) == {2}
        world.turn()

        open_items = [
            snapshot.item for snapshot in world.desk.snapshots() if not snapshot.is_closed
        ]
        assert sorted(open_items) == sorted(world.tasks_of_items())
        for task in world.desk.task_ids():
            world.desk.annotate(task, "cat", author=1)
        world.turn()
        assert world.kept_tally() == world.true_tally()
        assert sum(world.kept_tally().values()) == world.assessment.plan.queue.look_ahead


def calls_of_a_turn(
    small: Small, folder: Path, keeper: str | None, lost: bool = False
) -> list[str]:
    """The calls that an undisturbed turn makes: the first, or the first after a lost import."""
    with new_world(small, folder, keeper) as world:
        if lost:
            world.turn(lost="never arrives")
        return world.turn().calls
