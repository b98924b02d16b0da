"""Promise 2: edits, skips and deletions are followed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.small import CLASSES, predicted
from tests.promises.world import World, new_world
from worker.assessment import Assessment
from worker.store import Header

Small = tuple[Assessment, Header]
labels = st.sampled_from(CLASSES)


def begun(world: World) -> tuple[int, str]:
    """Take the first turn; return a task of the queue and its item."""
    world.turn()
    task = world.desk.task_ids()[0]
    return task, world.desk.data_of(task)["item_id"]


@settings(max_examples=12)
@given(given_labels=st.lists(labels, min_size=2, max_size=5), data=st.data())
def test_only_the_last_version_of_an_annotation_counts(
    long_assessment: Small,
    folder: Path,
    keeper: str | None,
    given_labels: list[str],
    data: st.DataObject,
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        annotation = world.desk.annotate(task, given_labels[0], author=1)
        for label in given_labels[1:]:
            if data.draw(st.booleans(), "the version before is read"):
                world.turn()
            world.desk.edit(annotation, label)
        world.turn()

        assert world.kept_tally() == {(predicted(item), given_labels[-1]): 1}


@settings(max_examples=6)
@given(label=labels)
def test_a_deleted_annotation_leaves_no_trace_in_the_tally_and_its_item_is_asked_again(
    long_assessment: Small, folder: Path, keeper: str | None, label: str
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        nothing = world.ledger.state()
        annotation = world.desk.annotate(task, label, author=1)
        world.turn()
        assert world.kept_tally()

        world.desk.delete_annotation(annotation)
        world.turn()

        state = world.ledger.state()
        assert state.tally == nothing.tally
        assert state.unsettled[item].state == "open"
        assert world.desk.next_task(author=1) == task


@settings(max_examples=6)
@given(label=labels, other=labels)
def test_deleting_the_first_of_two_annotations_passes_the_outcome_to_the_second(
    long_assessment: Small, folder: Path, keeper: str | None, label: str, other: str
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        first = world.desk.annotate(task, label, author=1)
        world.desk.annotate(task, other, author=2)
        world.turn()
        assert world.kept_tally() == {(predicted(item), label): 1}

        world.desk.delete_annotation(first)
        world.turn()

        assert world.kept_tally() == {(predicted(item), other): 1}


def test_a_deleted_task_leaves_no_trace_in_the_tally_and_is_not_imported_again(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        world.desk.annotate(task, CLASSES[0], author=1)
        world.turn()

        world.desk.delete_task(task)
        world.settle()

        state = world.ledger.state()
        assert state.tally == {}
        assert state.unsettled[item].state == "deleted"
        assert item not in world.tasks_of_items()


def test_a_skipped_item_goes_to_others_and_is_given_up_after_two_skips(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        world.desk.skip(task, author=1)
        world.turn()
        assert world.desk.next_task(author=1) != task
        assert world.desk.next_task(author=2) == task

        world.desk.skip(task, author=2)
        world.turn()

        assert world.ledger.state().unsettled[item].state == "skipped"
        assert world.desk.next_task(author=3) not in (task, None)
        assert world.kept_tally() == {}


def test_a_skip_that_is_taken_back_counts_as_a_label(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        task, item = begun(world)
        skips = [world.desk.skip(task, author) for author in (1, 2)]
        world.turn()

        world.desk.edit(skips[1], CLASSES[2])
        world.turn()

        assert world.kept_tally() == {(predicted(item), CLASSES[2]): 1}
