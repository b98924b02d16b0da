"""What a desk promises that puts the tasks of a full project in order; a real Label Studio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from label_studio_sdk.client import LabelStudio

from connector.annotator import Annotator
from connector.errors import InDoubt, RankedByAnother, RankingLost
from connector.labelling import differing
from connector.local import LabelStudioServer
from connector.port import BorrowedDesk, marker
from connector.prioritised import PrioritisedDesk
from connector.schema import Schema
from connector.shown import fingerprint
from tests.live.full import CONTROL, SHOWN, Full, full_project
from tests.live.pools import GROUPS

pytestmark = pytest.mark.live


class Claimed:
    """What a ledger knows: the claimed tasks."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[int, int, int, str]] = {}

    def tasks(self) -> dict[int, tuple[int, int, int, str]]:
        return self.known

    def items_of(self, tasks: Sequence[int]) -> dict[int, str]:
        return {task: str(task) for task in tasks if task in self.known}

    def waiting(self) -> list[int]:
        return list(self.known)

    def claim(self, tasks: Sequence[int]) -> None:
        self.known |= {task: (0, 0, 0, str(task)) for task in tasks}


class World:
    """A full project, a desk in it, and what is claimed."""

    def __init__(self, full: Full, client: LabelStudio, assessment: str = "full") -> None:
        self.full, self.client, self.claimed = full, client, Claimed()
        self.desk = self.another(assessment)

    def another(self, assessment: str = "full", client: Any = None) -> PrioritisedDesk:
        schema = Schema(CONTROL, SHOWN, GROUPS)
        url, project = self.full.studio.url, self.full.project
        return PrioritisedDesk(
            client or self.client, url, project, schema, {SHOWN: SHOWN}, assessment, self.claimed
        )

    def put(self, *tasks: int) -> None:
        """Claim tasks and put them; as the loop does."""
        assert self.desk.put([{"item_id": str(task)} for task in tasks]) == list(tasks)
        self.claimed.claim(tasks)

    def served(self, person: Annotator, n: int) -> list[int]:
        """The next n tasks of a person, who answers each."""
        found = []
        for _ in range(n):
            task = person.next_task(self.full.project)
            assert task is not None
            assert task["predictions"] == []
            found.append(int(task["id"]))
            self.full.answer(person, found[-1])
        return found


@pytest.fixture
def world(label_studio: LabelStudioServer, sdk: Callable[..., LabelStudio]) -> World:
    """A project of 12 tasks that was taken over."""
    made = World(full_project(label_studio, size=4), sdk())
    made.desk.take_over()
    return made


def test_it_is_a_borrowed_desk(world: World) -> None:
    assert isinstance(world.desk, BorrowedDesk)


def test_tasks_are_served_in_the_order_in_which_they_were_put(
    world: World, annotator: Callable[[], Annotator]
) -> None:
    t = world.full.tasks
    world.put(t[7], t[2])
    world.put(t[9])
    world.put(t[0])
    assert len(world.full.rankings()) == 1
    assert world.full.settings()["show_collab_predictions"] is False
    assert world.served(annotator(), 4) == [t[7], t[2], t[9], t[0]]
    assert world.full.versions() == {"v1": 12, world.full.rankings()[0]: 4}


def test_putting_again_changes_nothing(world: World) -> None:
    t = world.full.tasks
    world.put(t[5], t[3])
    world.put(t[3], t[5])
    closed = {snapshot.task: snapshot.is_closed for snapshot in world.desk.read(t)}
    assert [task for task in t if not closed[task]] == [t[3], t[5]]
    assert sorted(world.full.versions().values()) == [2, 12]
    assert world.desk.find([str(t[5]), str(t[4])]) == {str(t[5]): [t[5]]}


def test_what_a_task_shows_is_told_by_its_data_and_what_is_asked_by_the_configuration(
    world: World,
) -> None:
    task = world.full.tasks[0]
    world.put(task)
    (before,), asked = world.desk.read([task]), world.desk.counters().labelling
    assert before.shown == fingerprint({SHOWN: "photo 0"}, {SHOWN: SHOWN})

    world.full.call("PATCH", f"/api/tasks/{task}/", {"data": {SHOWN: "another one"}})
    assert world.desk.read([task])[0].shown != before.shown
    world.full.call("PATCH", f"/api/tasks/{task}/", {"data": {SHOWN: "photo 0", "more": 1}})
    assert world.desk.read([task])[0].shown == before.shown

    config = world.full.settings()["label_config"]
    more = f'<Header value="${SHOWN}"/></View>'
    world.full.asked("PATCH", "", {"label_config": config.replace("</View>", more)})
    assert differing(asked, world.desk.counters().labelling) == f"Header '${SHOWN}'"


def test_a_task_that_is_answered_or_gone_is_not_ranked(
    world: World, annotator: Callable[[], Annotator]
) -> None:
    t = world.full.tasks
    world.full.answer(annotator(), t[1], "bee")
    world.full.delete_task(t[2])
    world.put(t[1], t[2], t[3])
    (answered, open_one) = world.desk.read([t[1], t[2], t[3]])
    assert (answered.is_closed, [j.label for j in answered.judgements]) == (True, ["bee"])
    assert (open_one.task, open_one.is_closed) == (t[3], False)


def test_closing_takes_out_of_the_order_and_reopening_puts_to_its_end(
    world: World, annotator: Callable[[], Annotator]
) -> None:
    t = world.full.tasks
    world.put(t[4], t[5], t[6])
    world.desk.close([t[4]])
    assert [snapshot.is_closed for snapshot in world.desk.read(t[4:7])] == [True, False, False]
    world.desk.reopen([t[4]])
    assert world.served(annotator(), 3) == [t[5], t[6], t[4]]
    for task in world.full.tasks:  # none of their own fields was written
        found = world.full.call("GET", f"/api/tasks/{task}/")
        assert (found["overlap"], found["meta"] or {}) == (1, {})
        assert found["is_labeled"] == (task in t[4:7])
    world.desk.close(t)
    assert world.full.rankings() == []


def test_only_claimed_tasks_are_seen(world: World, annotator: Callable[[], Annotator]) -> None:
    t, ada = world.full.tasks, annotator()
    world.put(t[0], t[1])
    world.full.answer(ada, t[0])
    world.full.answer(ada, t[8])
    world.full.call("POST", f"/api/projects/{world.full.project}/import", [{"data": {"text": "x"}}])
    assert {snapshot.task for snapshot in world.desk.changes(0)} == {t[0], t[1]}
    counters = world.desk.counters()
    assert (counters.tasks, counters.answers, counters.skips) == (2, 1, 0)
    assert {brief.task for brief in world.desk.census()} == {t[0], t[1]}
    world.full.delete_task(t[1])
    assert world.desk.counters().tasks == 1
    world.put(t[2])
    assert world.desk.counters().tasks == 2


def test_a_skipped_task_is_offered_to_others(
    world: World, annotator: Callable[[], Annotator]
) -> None:
    world.full.asked("PATCH", "", {"skip_queue": "IGNORE_SKIPPED"})
    world.desk.take_over()
    t, ada, ben = world.full.tasks, annotator(), annotator()
    world.put(t[3])
    ada.skip(t[3])
    assert world.served(ben, 1) == [t[3]]


class Altered:
    """A client of which one method is another."""

    def __init__(self, client: LabelStudio, name: str, method: Callable[..., Any]) -> None:
        self._client = client
        self.projects = SimpleNamespace(get=client.projects.get, update=client.projects.update)
        wrapped = client.predictions
        self.predictions = SimpleNamespace(create=wrapped.create, delete=wrapped.delete)
        setattr(self.projects if name == "update" else self.predictions, name, method)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def test_an_order_that_was_not_kept_whole_is_taken_back(world: World) -> None:
    t = world.full.tasks
    world.put(t[0], t[1])
    before = world.full.versions()

    def drops_some(task: int, **more: Any) -> Any:
        return None if task == t[3] else world.client.predictions.create(task=task, **more)

    desk = world.another(client=Altered(world.client, "create", drops_some))
    with pytest.raises(RankingLost, match="2 tasks were ranked, but Label Studio kept 1"):
        desk.put([{"item_id": str(t[2])}, {"item_id": str(t[3])}])
    assert world.full.versions() == before
    assert world.full.settings()["model_version"] in before


@pytest.mark.parametrize("step", ["create", "update"])
@pytest.mark.parametrize("is_done", [False, True])
def test_a_lost_answer_leaves_a_doubt_that_putting_again_ends(
    world: World, annotator: Callable[[], Annotator], step: str, is_done: bool
) -> None:
    t = world.full.tasks
    if step == "create":
        world.put(t[6])
    client = world.client
    done = client.predictions.create if step == "create" else client.projects.update

    def lost(**asked: Any) -> Any:
        if is_done:
            done(**asked)
        raise httpx.ReadTimeout("no answer")

    desk = world.another(client=Altered(world.client, step, lost))
    with pytest.raises(InDoubt):
        desk.put([{"item_id": str(t[1])}])

    world.put(t[1])
    assert len(world.full.rankings()) == 1
    first = [t[6]] if step == "create" else []
    assert world.served(annotator(), len(first) + 1) == [*first, t[1]]


def test_the_settings_are_put_back_also_twice_and_after_a_crash(world: World) -> None:
    world.desk.restore_settings({**world.desk.settings(), "sampling": "Sequential sampling"})
    world.full.asked("PATCH", "", {"model_version": "v1", "show_collab_predictions": True})
    before = world.full.settings()
    theirs = world.desk.settings()
    world.desk.take_over()
    world.put(world.full.tasks[0])
    again = world.another()
    assert again.settings()["model_version"] == ""  # a ranking is no setting of theirs
    for _ in range(2):
        again.restore_settings(theirs)
        assert world.full.settings() == before
        assert world.full.rankings() == []


def test_a_version_that_was_deleted_meanwhile_is_not_missed(world: World) -> None:
    theirs = world.desk.settings() | {"model_version": "v1"}
    world.full.asked("DELETE", "model-versions/", {"model_version": "v1"})
    world.desk.restore_settings(theirs)
    assert not world.full.settings()["model_version"]


def test_two_assessments_do_not_order_one_project(world: World) -> None:
    world.put(world.full.tasks[0])
    with pytest.raises(RankedByAnother, match=f"Project {world.full.project} is put in order"):
        world.another("ful").settings()


def test_the_description_keeps_its_own_text(world: World) -> None:
    own = ["What these are for", "and a second line"]
    for text in ("1 label", "2 labels"):
        world.desk.describe(f"{text} {marker('full')}")
        shown = world.full.asked("GET", "")["description"].splitlines()
        assert shown == [*own, f"{text} {marker('full')}"]
    before = world.full.settings()
    world.desk.announce("<p>Thank you</p>")
    assert world.full.settings() == before


def test_a_crash_between_two_rankings_leaves_one_after_the_next(
    world: World, annotator: Callable[[], Annotator]
) -> None:
    t = world.full.tasks
    world.put(t[4], t[5])
    orphan = [
        {"task": task, "score": n / 3, "model_version": "assay-full-7-0123abcd", "result": []}
        for n, task in enumerate([t[4], t[5], t[2]])
    ]
    world.full.asked("POST", "import/predictions", orphan)  # written, and never switched to
    world.put(t[2])
    assert len(world.full.rankings()) == 1
    assert world.served(annotator(), 3) == [t[4], t[5], t[2]]
