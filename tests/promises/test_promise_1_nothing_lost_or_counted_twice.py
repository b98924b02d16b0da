"""Promise 1: no annotation is lost or counted twice, whatever is killed, doubled or reordered."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.promises.faults import FATES, Fate
from tests.promises.small import CLASSES
from tests.promises.world import LONG_US, Step, World, histories, live_through, new_world
from worker.assessment import Assessment
from worker.store import Header

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 60


def assert_all_is_counted_once(world: World) -> None:
    assert world.kept_outcomes() == world.true_outcomes()
    assert world.kept_tally() == world.true_tally()


@settings(max_examples=60)
@given(history=histories("change_text", "swap_items"))
def test_after_any_history_each_items_first_valid_annotation_is_counted_once(
    long_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        live_through(world, history).settle()

        assert_all_is_counted_once(world)


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_a_worker_at_whichever_call_its_labels_are_counted_once(
    long_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(long_assessment, folder, keeper) as world:
            world.turn()
            first, second, _ = world.desk.task_ids()
            world.desk.annotate(first, CLASSES[1], author=0)
            world.desk.now_us += LONG_US
            world.desk.annotate(second, CLASSES[0], author=1)

            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()

            # One quiet turn is enough: nothing but a turn was missed.
            assert_all_is_counted_once(world)
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_a_turn_that_is_asked_for_ten_times_counts_as_much_as_one(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        live_through(world, [("turn", 0, 0), ("label", 0, 1), ("turn", 0, 0)])
        once = world.ledger.state()

        for _ in range(10):
            world.turn()

        again = world.ledger.state()
        assert (again.tally, again.revision) == (once.tally, once.revision)
        assert sum(again.tally.values()) == 1
