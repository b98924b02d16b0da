"""The promises where annotators see files of this machine, uploaded as items are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings

from connector.errors import InDoubt, Rejected, Unreachable
from tests.promises.faults import FATES, Fate
from tests.promises.small import N_ITEMS, item_name, predicted, small_assessment
from tests.promises.world import Step, World, histories, live_through, new_world
from worker.assessment import Assessment
from worker.setup.replaying import replay
from worker.store import Header
from worker.store.records import load
from worker.turn.uploading import FilesLost

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 60


def path(item: str) -> str:
    """Where an item's file is: its folder is the predicted class."""
    return f"pictures/{predicted(item)}/{item}.png"


@dataclass(slots=True)
class Pictures(World):
    """A world in which tasks show pictures."""

    def _text_of(self, task: int) -> str:
        """The address of what the task should show, if it does; each picture is another one."""
        shown, item = self.desk.data_of(task)["text"], self.desk.data_of(task)["item_id"]
        is_its_own = self.desk.files.get(shown) == content(item)
        return shown if is_its_own else self._address_of(item)

    def _address_of(self, item: str) -> str:
        return next(a for a, found in self.desk.files.items() if found == content(item))


def content(item: str) -> bytes:
    return f"a picture of {item}".encode()


def write_pictures(folder: Path) -> None:
    for item in map(item_name, range(N_ITEMS)):
        (folder / path(item)).parent.mkdir(parents=True, exist_ok=True)
        (folder / path(item)).write_bytes(content(item))


def pictures(folder: Path, stop: str = "{mrr: {confidence: 0.9999}}") -> Small:
    write_pictures(folder)
    return small_assessment(folder, stop, show=path)


@pytest.fixture(scope="module")
def shown_by_files(folder: Path) -> Small:
    return pictures(folder / "pictures")


@pytest.fixture
def own(tmp_path: Path, keeper: str | None) -> Iterator[tuple[World, Path]]:
    """A world whose pictures a test may take away, and the folder that they are in."""
    with new_world(pictures(tmp_path / "own"), tmp_path, keeper, Pictures) as world:
        yield world, tmp_path / "own"


def assert_nothing_is_lost_or_told(world: World) -> None:
    """Every claimed item has one task, which shows its own picture; what is counted is the truth.

    And no path or class is anywhere in what annotators see.
    """
    tasks = world.tasks_of_items()
    assert not [item for item, count in tasks.items() if count > 1]
    for record in (load(text) for text in world.ledger.every_record()):
        assert tasks[record.item] == 1 or record.was_deleted
    assert world.kept_outcomes() == world.true_outcomes()
    assert world.kept_tally() == world.true_tally()
    for address in world.desk.files:
        assert not [word for word in ("cat", "dog", "cow", "item", "pictures") if word in address]


@settings(max_examples=60)
@given(history=histories("change_text", "swap_items", "ask_otherwise"))
def test_after_any_history_every_label_counts_on_its_own_picture_alone(
    shown_by_files: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(shown_by_files, folder, keeper, Pictures) as world:
        live_through(world, history)
        if '"cat" alias' in world.desk.config:
            world.happen(("ask_otherwise", 0, 0))
        world.settle()

        assert_nothing_is_lost_or_told(world)


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_a_worker_at_whichever_call_no_item_is_queued_twice(
    shown_by_files: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    names: set[str] = set()
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(shown_by_files, folder, keeper, Pictures) as world:
            calls = world.turn(fate, at).calls
            names.update(calls[at - 1 : at])
            world.turn()

            assert_nothing_is_lost_or_told(world)
            for task in world.desk.task_ids():
                world.desk.annotate(task, "cat", author=1)
            world.turn()
            assert world.kept_tally() == world.true_tally()
            assert sum(world.kept_tally().values()) >= world.assessment.plan.queue.look_ahead
        if len(calls) < at:
            assert {"upload", "put"} <= names
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_an_upload_whose_answer_is_lost_puts_no_import_in_doubt(
    shown_by_files: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(shown_by_files, folder, keeper, Pictures) as world:
        error = Unreachable("http://fake", "the answer never came")
        world.desk.fail_next("upload", error, after_effect=True)
        with pytest.raises(Unreachable) as caught:
            world.turn()
        assert not isinstance(caught.value, InDoubt)
        assert world.ledger.in_doubt(world.intended()) == frozenset()
        assert world.desk.task_ids() == []

        world.ledger.drop_lease("worker-0")
        world.turn()

        assert len(world.desk.task_ids()) == world.assessment.plan.queue.look_ahead
        assert len(world.desk.files) == world.assessment.plan.queue.look_ahead + 1
        assert_nothing_is_lost_or_told(world)


def test_a_file_that_is_gone_or_changed_stops_its_item_alone_until_it_is_back(
    own: tuple[World, Path],
) -> None:
    world, folder = own
    first = [claim.item for claim in _next_claims(world)]
    gone, changed = folder / path(first[0]), folder / path(first[1])
    gone.rename(gone.with_suffix(".kept"))
    changed.write_bytes(b"another picture")

    with pytest.raises(FilesLost) as caught:
        world.turn()
    text = str(caught.value)
    assert f"the file of item {first[0]} cannot be uploaded from" in text
    assert f"{gone} cannot be read" in text
    assert "nor can those of 1 more chosen items" in text
    assert set(world.tasks_of_items()) == set(first[2:])

    with pytest.raises(FilesLost):
        world.turn()
    look_ahead = world.assessment.plan.queue.look_ahead
    assert len(world.desk.task_ids()) == look_ahead  # others took their places
    for _ in range(3):
        with pytest.raises(FilesLost):
            world.turn()
    assert len(world.desk.task_ids()) == look_ahead
    task = world.desk.next_task(1)
    assert task is not None
    world.desk.annotate(task, "cat", author=1)
    with pytest.raises(FilesLost):
        world.turn()
    assert sum(world.kept_tally().values()) == 1

    gone.with_suffix(".kept").rename(gone)
    changed.write_bytes(content(first[1]))
    world.turn()
    assert set(first) <= set(world.tasks_of_items())
    assert_nothing_is_lost_or_told(world)


def test_a_worker_without_the_files_claims_few_items_and_one_with_them_imports_these(
    own: tuple[World, Path],
) -> None:
    world, folder = own
    (folder / "pictures").rename(folder / "elsewhere")
    for _ in range(5):
        with pytest.raises(FilesLost):
            world.turn()
    look_ahead = world.assessment.plan.queue.look_ahead
    assert world.ledger.state().claims == 2 * look_ahead
    assert world.desk.task_ids() == []

    (folder / "elsewhere").rename(folder / "pictures")
    world.turn()
    assert len(world.desk.task_ids()) == 2 * look_ahead
    assert_nothing_is_lost_or_told(world)


def test_a_file_that_label_studio_does_not_take_stops_its_item_alone(
    own: tuple[World, Path],
) -> None:
    world, _ = own
    world.desk.fail_next("upload", Rejected("http://fake", 413, "a file of 40.0 MB is too much"))
    with pytest.raises(FilesLost, match=r"413(?s:.*)too much"):
        world.turn()
    assert len(world.desk.task_ids()) == world.assessment.plan.queue.look_ahead - 1


def test_tasks_that_a_server_forgot_are_known_again_by_their_pictures_and_a_replay_is_equal(
    own: tuple[World, Path], tmp_path: Path, keeper: str | None
) -> None:
    world, _ = own
    world.turn()
    task = world.desk.next_task(1)
    assert task is not None
    world.desk.annotate(task, "cat", author=1)
    small = world.assessment, world.header
    with new_world(small, tmp_path, keeper, Pictures) as forgetful:
        forgetful.desk = world.desk
        for _ in range(3):
            forgetful.turn()
        assert sum(forgetful.kept_tally().values()) == 1
        assert_nothing_is_lost_or_told(forgetful)
        assert replay(forgetful.assessment, forgetful.ledger, forgetful.desk).is_equal


def test_large_files_are_imported_in_portions_so_that_a_turn_that_ends_has_got_on(
    tmp_path: Path, keeper: str | None
) -> None:
    folder = tmp_path / "large"
    write_pictures(folder)
    for item in map(item_name, range(N_ITEMS)):
        with (folder / path(item)).open("r+b") as file:
            file.truncate(20_000_000)
    small = small_assessment(folder, "{mrr: {confidence: 0.9999}}", show=path)
    with new_world(small, tmp_path, keeper, Pictures) as world:
        calls = [name for name in world.turn().calls if name in ("upload", "put")]
        assert calls == ["upload", "put"] * world.assessment.plan.queue.look_ahead


def _next_claims(world: World) -> list:  # type: ignore[type-arg]
    from worker.assessment.verdicts import assess_now
    from worker.turn.refill import choose

    state, belief, _ = assess_now(world.assessment, world.ledger)
    return choose(world.assessment, belief, state)
