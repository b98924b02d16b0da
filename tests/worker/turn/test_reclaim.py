"""Tasks that name an item which nobody claimed: taken in where they are next, else left waiting."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.small import CLASSES, predicted, shown, small_assessment
from tests.promises.world import Step, World, histories, live_through
from tests.scale.roomy import roomy
from worker.assessment import Assessment
from worker.setup.replaying import replay, unrepeated_choices
from worker.store import Header, MemoryLedger
from worker.turn.orphans import orphans


@pytest.fixture
def world(tmp_path: Path) -> World:
    work, header = roomy(tmp_path, "{mrr: {confidence: 0.9999}}")
    ledger = MemoryLedger(header.assessment)
    ledger.begin(header)
    return World(work, header, ledger, tmp_path / "files")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assessment, Header]:
    """Each item is a cell of its own."""
    return small_assessment(tmp_path_factory.mktemp("small"), "{mrr: {confidence: 0.9999}}")


def by_hand(world: World, cell: int, place: int) -> tuple[int, str]:
    """Somebody imports the item at a place of a cell's order; return its task and its id."""
    item = world.assessment.pool.item(world.assessment.pool.rows_of(cell)[place])
    (task,) = world.desk.put([{"item_id": item.item_id, "text": shown(item.item_id)}])
    return task, item.item_id


def assert_right(world: World) -> None:
    assert world.kept_outcomes() == world.true_outcomes()
    assert max(world.tasks_of_items().values()) == 1
    assert replay(world.assessment, world.ledger, world.desk).is_equal


def test_the_next_item_of_a_cell_is_taken_in_with_its_answer(world: World) -> None:
    task, item = by_hand(world, 0, 0)
    world.desk.annotate(task, CLASSES[2], author=1)

    world.turn()

    assert world.kept_outcomes() == {item: CLASSES[2]}
    found = world.ledger.choices()[0]
    assert (found["item"], found["strategy"], found["claim"]) == (item, "found", 0)
    assert_right(world)


def test_several_of_a_cell_are_taken_in_whatever_the_order_of_their_tasks(world: World) -> None:
    names = [by_hand(world, 1, place)[1] for place in (2, 0, 1)]

    world.turn()

    claimed = [choice["item"] for choice in world.ledger.choices()][:3]
    assert claimed == [names[1], names[2], names[0]]
    assert_right(world)


def test_who_imports_a_later_item_by_hand_chooses_nothing_and_it_is_not_queued_twice(
    world: World,
) -> None:
    task, item = by_hand(world, 0, 4)
    world.desk.annotate(task, predicted(item), author=1)
    world.turn()
    assert orphans(world.ledger.metadata()) == {task: item}
    assert item not in {choice["item"] for choice in world.ledger.choices()}

    for _ in range(60):  # all is right: no group is the worst one until the last item is known
        for who in range(3):
            if (open_task := world.desk.next_task(who)) is not None:
                items = {snapshot.task: snapshot.item for snapshot in world.desk.snapshots()}
                world.desk.annotate(open_task, predicted(items[open_task]), who)
        world.turn()

    assert orphans(world.ledger.metadata()) == {}
    assert len(world.kept_outcomes()) == 18
    assert_right(world)


def test_nothing_is_taken_in_while_paused_and_everything_after(world: World) -> None:
    assert world.ledger.move("running", "paused")
    task, item = by_hand(world, 0, 0)
    world.turn()
    assert orphans(world.ledger.metadata()) == {task: item}
    assert not world.ledger.choices()

    assert world.ledger.move("paused", "running")
    world.turn()

    assert world.ledger.choices()[0]["item"] == item
    assert_right(world)


def test_a_task_that_is_gone_or_names_no_item_of_the_pool_is_forgotten(world: World) -> None:
    gone, _ = by_hand(world, 0, 3)
    world.desk.put([{"item_id": "not of this pool", "text": "-"}])
    world.turn()
    world.desk.delete_task(gone)
    world.settle()

    assert orphans(world.ledger.metadata()) == {}
    assert "not of this pool" not in {choice["item"] for choice in world.ledger.choices()}


class Forgetful(MemoryLedger):
    """A ledger whose server can go back to what it had."""

    def memory(self) -> dict[str, Any]:
        return {name: deepcopy(v) for name, v in vars(self).items() if name != "_lock"}

    def go_back(self, memory: dict[str, Any]) -> None:
        vars(self).update(deepcopy(memory))


@settings(max_examples=60)
@given(history=histories(), kept=st.integers(0, 40), data=st.data())
def test_after_any_history_of_which_a_server_forgot_the_end_all_is_right_again(
    small: tuple[Assessment, Header],
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Step],
    kept: int,
    data: st.DataObject,
) -> None:
    work, header = small
    ledger = Forgetful(header.assessment)
    ledger.begin(header)
    world = World(work, header, ledger, tmp_path_factory.mktemp("files"))
    kept = min(kept, len(history))
    forgets_at = data.draw(st.integers(kept, len(history)), "goes on until")
    live_through(world, history[:kept])
    memory = ledger.memory()
    live_through(world, history[kept:forgets_at])

    ledger.go_back(memory)
    live_through(world, history[forgets_at:]).settle()

    assert world.kept_outcomes() == world.true_outcomes()
    assert world.kept_tally() == world.true_tally()
    assert max(world.tasks_of_items().values(), default=0) <= 1
    assert not unrepeated_choices(world.assessment, world.ledger)
