"""A label counts only on the data and the question that it was given for; fake and real project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from connector.media import TAGS, uploaded_name
from connector.schema import write_config
from connector.shown import fingerprint, uploaded
from tests.contract.ledgers import header_of
from tests.contract.projects import SHOWN, Project, shown
from tests.fakes import SCHEMA
from worker.pool.files import LARGEST
from worker.store import Claim, MemoryLedger
from worker.store.records import load
from worker.store.rules import Rules
from worker.turn.shown import OTHER_DATA, changed_labelling
from worker.turn.sync import catch_up, record, sweep

KEYS = {"text": "text", "image": "image"}
PNG = b"\x89PNG\r\n\x1a\n\x00 an image"
ITEMS = ("a", "b", "c")
DATA: Mapping[str, Mapping[str, str]] = {data["item_id"]: data for data in shown(ITEMS)}
RULES = Rules(shown=lambda row: fingerprint(DATA[ITEMS[row]], SHOWN))
CHOICES = '<Choice value="one" alias="cat"/><Choice value="two" alias="dog"/><Choice value="cow"/>'
SWAPPED = '<Choice value="one" alias="dog"/><Choice value="two" alias="cat"/><Choice value="cow"/>'


def config(choices: str = CHOICES, more: str = "") -> str:
    asked = f'<Choices name="{SCHEMA.control}" toName="text">{choices}</Choices>'
    return f'<View>{more}<Text name="text" value="$text"/>{asked}</View>'


class World:
    """A project with three tasks, and what is known of it."""

    def __init__(self, project: Project) -> None:
        self.project, self.desk, self.ledger = project, project.desk, MemoryLedger("shown")
        self.ledger.begin(header_of("shown"))
        assert self.ledger.claim(0, [Claim(n, item, n, 0, 0, {}) for n, item in enumerate(ITEMS)])
        self.tasks = self.desk.put(shown(ITEMS))
        self.read()

    def read(self) -> None:
        catch_up(self.ledger, self.desk, RULES)

    def sweep(self, **how: Any) -> None:
        self.read()
        sweep(self.ledger, self.desk, RULES, **how)

    def sweep_and_die(self) -> None:
        """Begin to sweep; die at the first task that is read."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(self.desk, "read", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                sweep(self.ledger, self.desk, RULES)

    def outcomes(self) -> dict[str, str | None]:
        found = {text.item: text.outcome for text in map(load, self.ledger.every_record())}
        counted = sum(self.ledger.state().tally.values())
        assert counted == sum(outcome is not None for outcome in found.values())
        return found

    def reasons(self) -> set[str]:
        return {str(why["reason"]) for why in self.ledger.rejected().values()}


@pytest.fixture
def world(project: Project) -> World:
    project.configure(config())
    return World(project)


class TestData:
    """What the tasks show."""

    def test_tasks_that_nobody_answered_say_what_they_show(self, world: World) -> None:
        expected = {item: fingerprint(DATA[item], SHOWN) for item in ITEMS}
        for snapshots in (world.desk.read(world.tasks), world.desk.changes(0)):
            assert {snapshot.item: snapshot.shown for snapshot in snapshots} == expected

    def test_a_label_on_a_changed_text_is_rejected_and_counts_once_it_is_put_back(
        self, world: World
    ) -> None:
        before, after, _ = world.tasks
        world.project.annotate(before, "cat", 0)
        world.read()
        world.project.change_data(before, {"text": "something else"})
        world.project.change_data(after, {"text": "something else"})
        world.project.annotate(after, "dog", 0)
        world.read()
        assert world.outcomes() == {"a": None, "b": None, "c": None}
        assert world.reasons() == {OTHER_DATA}

        world.project.change_data(before, {"text": "about a"})
        world.project.change_data(after, {"text": "about b"})
        world.read()
        assert world.outcomes() == {"a": "cat", "b": "dog", "c": None}
        assert world.reasons() == set()

    def test_the_answer_to_an_item_never_counts_for_another_one(self, world: World) -> None:
        one, other, _ = world.tasks
        world.project.annotate(one, "cat", 0)
        world.project.annotate(other, "dog", 0)
        world.read()
        world.project.change_data(one, {"item_id": "b"})
        world.project.change_data(other, {"item_id": "a"})
        world.sweep()
        assert world.outcomes() == {"a": None, "b": None, "c": None}
        assert world.reasons() == {OTHER_DATA}

        world.project.change_data(one, {"item_id": "a"})
        world.project.change_data(other, {"item_id": "b"})
        world.sweep()
        assert world.outcomes() == {"a": "cat", "b": "dog", "c": None}

    def test_a_change_that_leaves_the_tasks_stamp_is_found_by_the_sweep(self, world: World) -> None:
        task = world.tasks[0]
        world.project.annotate(task, "cat", 0)
        world.sweep()
        world.project.change_data(task, {"text": "something else"}, is_stamped=False)
        world.sweep()
        assert world.outcomes()["a"] is None
        assert world.reasons() == {OTHER_DATA}

        world.project.change_data(task, {"text": "about a"}, is_stamped=False)
        world.sweep(is_thorough=True)
        assert world.outcomes()["a"] == "cat"

    def test_what_no_page_shows_may_be_added(self, world: World) -> None:
        task = world.tasks[0]
        world.project.annotate(task, "cat", 0)
        world.project.change_data(task, {"remark": "seen by Ada"})
        world.sweep()
        assert world.outcomes()["a"] == "cat"

    def test_a_late_reading_of_other_data_replaces_no_later_one(self, world: World) -> None:
        task = world.tasks[0]
        world.project.annotate(task, "cat", 0)
        late = world.ledger.next_reading()
        world.project.change_data(task, {"text": "something else"})
        snapshots = world.desk.read([task])
        world.project.change_data(task, {"text": "about a"})
        world.read()
        record(world.ledger, snapshots, late, RULES)
        assert world.outcomes()["a"] == "cat"


class TestFiles:
    """Files that tasks show."""

    @pytest.fixture
    def project(self, project: Project) -> Project:
        # An image beside a text: Label Studio makes no tasks of files for such a page.
        project.configure(config(more='<Image name="image" value="$image"/>'))
        return project

    def test_annotators_are_shown_the_file_and_their_labels_count_on_it_alone(
        self, project: Project
    ) -> None:
        name, other = (uploaded_name("pool", f"cats/{n}.png") for n in (1, 2))
        expected = fingerprint({"text": "about a", "image": uploaded(name)}, KEYS)
        address, again, wrong = (
            project.desk.upload(one, content)
            for one, content in ((name, PNG), (name, PNG), (other, b"another"))
        )
        data = [{**shown([i])[0], "image": address} for i in ITEMS]
        tasks = project.desk.put(data)

        served = project.next_task(0)
        assert served is not None
        assert project.fetch(address, 0) == project.fetch(again, 1) == PNG
        assert fingerprint(data[0], KEYS) == expected
        project.annotate(tasks[0], "cat", 0)
        project.change_data(tasks[0], {"image": again})
        assert fingerprint({**data[0], "image": again}, KEYS) == expected
        assert fingerprint({**data[0], "image": wrong}, KEYS) != expected
        assert "cats" not in address + again

    @pytest.mark.parametrize("suffix", TAGS)
    def test_every_kind_of_file_that_pools_may_have_is_taken_as_it_is(
        self, project: Project, suffix: str
    ) -> None:
        content = bytes(range(256)) * 3
        address = project.desk.upload(uploaded_name("pool", f"x{suffix}"), content)
        assert project.fetch(address, 0) == content

    def test_a_large_file_is_taken(self, project: Project) -> None:
        content = bytes(LARGEST)
        address = project.desk.upload(uploaded_name("pool", "x.mp4"), content)
        assert len(project.fetch(address, 0)) == LARGEST


class TestLabelling:
    """What the labelling page asks."""

    def test_labels_after_the_aliases_were_swapped_count_once_they_are_put_back(
        self, world: World
    ) -> None:
        before, unnoticed, later = world.tasks
        world.project.annotate(before, "cat", 0)
        world.sweep()
        world.project.configure(config(SWAPPED))
        world.project.annotate(unnoticed, "cat", 0)
        world.read()
        assert world.outcomes() == {"a": "cat", "b": "cat", "c": None}  # until the next sweep
        world.sweep()
        world.project.annotate(later, "dog", 0)
        world.read()
        changed = changed_labelling(world.ledger.metadata())
        assert changed is not None
        assert changed.parts == "Choices 'answer'"
        assert world.outcomes() == {"a": "cat", "b": None, "c": None}
        assert world.reasons() == {changed.reason}

        world.project.configure(config())
        world.sweep()
        assert changed_labelling(world.ledger.metadata()) is None
        assert world.outcomes() == {"a": "cat", "b": "cat", "c": "dog"}
        assert world.reasons() == set()

    def test_a_sweep_that_died_is_made_up_for(self, world: World) -> None:
        world.sweep()
        task = world.tasks[0]
        world.project.configure(config(SWAPPED))
        world.project.annotate(task, "cat", 0)
        world.read()
        world.sweep_and_die()
        world.sweep()
        assert world.outcomes()["a"] is None

        world.project.configure(config())
        world.sweep_and_die()
        world.sweep()
        assert world.outcomes()["a"] == "cat"

    def test_a_header_and_another_order_change_nothing(self, world: World) -> None:
        world.sweep()
        again = "".join(f"\n  {part}/>" for part in reversed(CHOICES.split("/>")) if part)
        world.project.configure(config(again, '<Header value="Look closely."/>'))
        world.project.annotate(world.tasks[0], "cat", 0)
        world.sweep()
        assert changed_labelling(world.ledger.metadata()) is None
        assert world.outcomes()["a"] == "cat"

    def test_a_page_that_shows_more_of_the_data_is_another_one(self, world: World) -> None:
        world.sweep()
        world.project.configure(config(more='<Text name="more" value="$item_id"/>'))
        world.sweep()
        changed = changed_labelling(world.ledger.metadata())
        assert changed is not None
        assert changed.parts == "Text 'more'"

    def test_one_that_an_older_release_began_is_compared_from_the_first_sweep_on(
        self, world: World
    ) -> None:
        world.project.configure(write_config(SCHEMA.labels, ["text"], SCHEMA.control))
        world.sweep()
        assert changed_labelling(world.ledger.metadata()) is None
        world.project.configure(config())
        world.sweep()
        assert changed_labelling(world.ledger.metadata()) is not None
