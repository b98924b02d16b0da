"""What every desk promises: the one in memory that tests use, and a real Label Studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import httpx
import pytest
from label_studio_sdk.client import LabelStudio

from connector.annotator import Annotator
from connector.desk import PAGE, LabelStudioDesk
from connector.errors import ConnectorError, InDoubt, NotFound, Refused, Rejected
from connector.labels import Judgement, Look, write_config
from connector.local import LabelStudioServer, personal_access_token
from connector.port import Desk
from connector.project import (
    SECRET_HEADER,
    attach_project,
    create_project,
    hook,
    look_at_server,
)
from tests.fakes import SCHEMA, FakeDesk

MANY = PAGE + 7

Clients = Callable[..., LabelStudio]


class Project(Protocol):
    """A project with two annotators, 0 and 1, and a colleague who tidies up."""

    desk: Desk

    def next_task(self, who: int) -> int | None: ...
    def annotate(self, task: int, label: str, who: int) -> int: ...
    def skip(self, task: int, who: int) -> int: ...
    def edit(self, annotation: int, label: str, who: int) -> None: ...
    def delete_annotation(self, annotation: int) -> None: ...
    def delete_task(self, task: int) -> None: ...
    def author(self, who: int) -> int: ...
    def vanish(self) -> None: ...
    def shown_text(self) -> tuple[str, str]: ...
    def tabs(self) -> list[str]: ...
    def add_tab(self, title: str) -> None: ...


class FakeProject:
    """The fake desk with people at it."""

    def __init__(self, overlap: int = 1) -> None:
        self.desk = self._fake = FakeDesk(overlap=overlap)
        self.next_task = self._fake.next_task
        self.annotate = self._fake.annotate
        self.skip = self._fake.skip
        self.delete_annotation = self._fake.delete_annotation
        self.delete_task = self._fake.delete_task

    def edit(self, annotation: int, label: str, who: int) -> None:
        self._fake.edit(annotation, label)

    def author(self, who: int) -> int:
        return who

    def vanish(self) -> None:
        self._fake.is_gone = True

    def shown_text(self) -> tuple[str, str]:
        return self._fake.description, self._fake.guidelines[0]

    def tabs(self) -> list[str]:
        return self._fake.tabs

    def add_tab(self, title: str) -> None:
        self._fake.tabs.append(title)


class RealProject:
    """A project of a real Label Studio; annotators label as people do."""

    def __init__(
        self,
        server: LabelStudioServer,
        client: LabelStudio,
        admin: httpx.Client,
        people: Callable[[], Annotator],
        overlap: int = 1,
    ) -> None:
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        self._number = create_project(
            client, server.url, "Desk", str(id(self)), config, "", overlap
        )
        self.desk: Desk = LabelStudioDesk(client, server.url, self._number, SCHEMA)
        self._admin = admin
        self._sign_up = people
        self._people: dict[int, Annotator] = {}

    def _person(self, who: int) -> Annotator:
        if who not in self._people:
            self._people[who] = self._sign_up()
        return self._people[who]

    def next_task(self, who: int) -> int | None:
        task = self._person(who).next_task(self._number)
        return None if task is None else int(task["id"])

    def annotate(self, task: int, label: str, who: int) -> int:
        sent = self._person(who).submit(task, label, SCHEMA.control, SCHEMA.to_name)
        return int(sent["id"])

    def skip(self, task: int, who: int) -> int:
        return int(self._person(who).skip(task)["id"])

    def edit(self, annotation: int, label: str, who: int) -> None:
        self._person(who).edit(annotation, label)

    def delete_annotation(self, annotation: int) -> None:
        self._admin.delete(f"/api/annotations/{annotation}/").raise_for_status()

    def delete_task(self, task: int) -> None:
        self._admin.delete(f"/api/tasks/{task}/").raise_for_status()

    def author(self, who: int) -> int:
        return self._person(who).user_id

    def vanish(self) -> None:
        self._admin.delete(f"/api/projects/{self._number}/").raise_for_status()

    def shown_text(self) -> tuple[str, str]:
        shown = self._admin.get(f"/api/projects/{self._number}/").raise_for_status().json()
        return shown["description"], shown["expert_instruction"]

    def views(self) -> list[dict[str, Any]]:
        answer = self._admin.get("/api/dm/views/", params={"project": self._number})
        views: list[dict[str, Any]] = answer.raise_for_status().json()
        return views

    def listed(self, view: int) -> list[dict[str, Any]]:
        query = {"project": self._number, "view": view}
        answer = self._admin.get("/api/tasks", params=query).raise_for_status().json()
        tasks: list[dict[str, Any]] = answer["tasks"]
        return tasks

    def tabs(self) -> list[str]:
        return [view["data"]["title"] for view in self.views()]

    def add_tab(self, title: str) -> None:
        content = {"project": self._number, "data": {"title": title}}
        self._admin.post("/api/dm/views/", json=content).raise_for_status()


@pytest.fixture
def admin(label_studio: LabelStudioServer) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Token {label_studio.token}"}
    with httpx.Client(base_url=label_studio.url, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.live)])
def project(request: pytest.FixtureRequest) -> Project:
    if request.param == "fake":
        return FakeProject()
    server, sdk, admin, people = (
        request.getfixturevalue(name) for name in ("label_studio", "sdk", "admin", "annotator")
    )
    return RealProject(server, sdk(), admin, people)


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.live)])
def shared(request: pytest.FixtureRequest) -> Project:
    """A project that serves every task to two different people."""
    if request.param == "fake":
        return FakeProject(overlap=2)
    server, sdk, admin, people = (
        request.getfixturevalue(name) for name in ("label_studio", "sdk", "admin", "annotator")
    )
    return RealProject(server, sdk(), admin, people, overlap=2)


def shown(items: Sequence[str]) -> list[dict[str, str]]:
    return [{"text": f"about {item}", "item_id": item} for item in items]


def read_one(desk: Desk, task: int) -> Look:
    (look,) = desk.read([task])
    return look


def only(look: Look) -> Judgement:
    (judgement,) = look.judgements
    return judgement


class TestOverlap:
    """A project that wants two answers a task."""

    def test_a_task_is_served_to_two_people_and_to_nobody_twice(self, shared: Project) -> None:
        (task,) = shared.desk.put(shown(["a"]))

        shared.annotate(task, "cat", 0)
        assert not read_one(shared.desk, task).is_closed
        assert shared.next_task(0) is None
        assert shared.next_task(1) == task

        shared.annotate(task, "dog", 1)
        look = read_one(shared.desk, task)
        assert look.is_closed
        assert {j.author: j.label for j in look.judgements} == {
            shared.author(0): "cat",
            shared.author(1): "dog",
        }
        assert shared.next_task(2) is None

    def test_a_skip_leaves_the_task_to_two_others(self, shared: Project) -> None:
        (task,) = shared.desk.put(shown(["a"]))
        shared.skip(task, 0)
        shared.annotate(task, "cat", 1)

        assert not read_one(shared.desk, task).is_closed
        assert shared.next_task(2) == task
        shared.annotate(task, "cat", 2)
        assert read_one(shared.desk, task).is_closed

    def test_a_task_that_is_closed_early_is_served_to_nobody_until_it_is_reopened(
        self, shared: Project
    ) -> None:
        (task,) = shared.desk.put(shown(["a"]))
        shared.annotate(task, "cat", 0)
        shared.desk.close([task])

        assert shared.next_task(1) is None
        shared.desk.reopen([task])
        assert shared.next_task(1) == task
        shared.annotate(task, "cat", 1)
        shared.desk.reopen([task])  # a third opinion, though both answers are there
        assert shared.next_task(2) == task

    def test_a_deleted_answer_opens_the_task_again(self, shared: Project) -> None:
        (task,) = shared.desk.put(shown(["a"]))
        first = shared.annotate(task, "cat", 0)
        shared.annotate(task, "cat", 1)

        shared.delete_annotation(first)

        assert not read_one(shared.desk, task).is_closed
        assert shared.next_task(2) == task


class TestDesk:
    """The promises."""

    def test_many_long_items_are_found_whatever_an_address_can_hold(self, project: Project) -> None:
        items = [f"{n} {'ä' * 40}" for n in range(300)]
        first, last = project.desk.put(shown([items[0], items[-1]]))

        assert project.desk.find(items) == {items[0]: [first], items[-1]: [last]}

    def test_tasks_are_imported_in_order_and_their_ids_grow(self, project: Project) -> None:
        first = project.desk.put(shown(["a", "b", "c"]))
        second = project.desk.put(shown(["d"]))

        tasks = first + second
        assert tasks == sorted(set(tasks))
        assert [look.item for look in project.desk.read(tasks)] == ["a", "b", "c", "d"]
        assert project.next_task(0) == tasks[0]

    def test_a_new_task_is_open_and_nobody_judged_it(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))

        look = read_one(project.desk, task)

        assert (look.task, look.item, look.is_closed, look.judgements) == (task, "a", False, ())
        assert look.at_us > 1_600_000_000_000_000  # microseconds since 1970

    def test_reading_leaves_out_what_is_gone(self, project: Project) -> None:
        kept, gone = project.desk.put(shown(["a", "b"]))
        project.delete_task(gone)

        assert [look.task for look in project.desk.read([gone, kept])] == [kept]
        assert project.desk.read([]) == []

    def test_changes_tells_of_each_change_after_the_cursor_and_of_no_earlier_one(
        self, project: Project
    ) -> None:
        tasks = project.desk.put(shown(["a", "b", "c"]))
        everything = list(project.desk.changes(0))
        assert sorted(look.task for look in everything) == tasks
        cursor = max(look.at_us for look in everything)

        assert list(project.desk.changes(cursor)) == []

        project.annotate(tasks[1], "dog", 0)
        (change,) = project.desk.changes(cursor)
        assert (change.task, only(change).label) == (tasks[1], "dog")
        assert change.at_us > cursor

    def test_changes_come_earliest_first(self, project: Project) -> None:
        tasks = project.desk.put(shown(["a", "b", "c"]))
        for task in reversed(tasks):
            project.annotate(task, "cat", 0)

        changes = list(project.desk.changes(0))

        assert [look.task for look in changes] == tasks[::-1]
        assert [look.at_us for look in changes] == sorted(look.at_us for look in changes)

    def test_changes_miss_none_of_more_tasks_than_fit_a_page(self, project: Project) -> None:
        tasks = project.desk.put(shown([f"item {n}" for n in range(MANY)]))

        changes = list(project.desk.changes(0))

        assert {look.task for look in changes} == set(tasks)
        assert len(changes) <= MANY + MANY // PAGE  # a few may come twice, not all

    def test_an_answer_is_read_with_its_label_author_and_time(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        before = read_one(project.desk, task)

        annotation = project.annotate(task, "cow", 0)

        look = read_one(project.desk, task)
        judgement = only(look)
        assert (judgement.annotation, judgement.author) == (annotation, project.author(0))
        assert (judgement.status, judgement.label, judgement.reason) == ("valid", "cow", "")
        assert judgement.seconds is not None
        assert look.is_closed
        assert before.at_us < judgement.at_us <= look.at_us
        assert project.next_task(1) is None

    def test_an_edit_replaces_the_label_and_keeps_annotation_and_author(
        self, project: Project
    ) -> None:
        (task,) = project.desk.put(shown(["a"]))
        annotation = project.annotate(task, "cow", 0)
        before = read_one(project.desk, task)

        project.edit(annotation, "dog", 1)

        (change,) = project.desk.changes(before.at_us)
        judgement = only(change)
        assert (judgement.annotation, judgement.label) == (annotation, "dog")
        assert judgement.author == project.author(0)
        assert judgement.at_us > only(before).at_us

    def test_a_skipped_task_stays_open_for_others_only(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        before = read_one(project.desk, task)

        annotation = project.skip(task, 0)

        (change,) = project.desk.changes(before.at_us)
        judgement = only(change)
        assert (judgement.annotation, judgement.status) == (annotation, "skipped")
        assert judgement.label is None
        assert not change.is_closed
        assert project.next_task(0) is None
        assert project.next_task(1) == task

    def test_a_deleted_annotation_shows_as_a_change_without_it(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        annotation = project.annotate(task, "cow", 0)
        before = read_one(project.desk, task)

        project.delete_annotation(annotation)

        (change,) = project.desk.changes(before.at_us)
        assert change.judgements == ()
        assert not change.is_closed
        assert project.next_task(1) == task

    def test_two_annotations_on_one_task_are_both_read(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        first, second = project.annotate(task, "cat", 0), project.annotate(task, "dog", 1)

        found = {j.annotation: j.label for j in read_one(project.desk, task).judgements}

        assert first < second
        assert found == {first: "cat", second: "dog"}

    def test_a_label_that_nobody_offered_is_read_as_rejected(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))

        project.annotate(task, "unicorn", 0)

        judgement = only(read_one(project.desk, task))
        assert (judgement.status, judgement.label) == ("rejected", None)
        assert "unicorn" in judgement.reason

    def test_no_change_tells_of_a_deleted_task_but_census_and_counters_do(
        self, project: Project
    ) -> None:
        kept, gone = project.desk.put(shown(["a", "b"]))
        project.annotate(gone, "cat", 0)
        cursor = max(look.at_us for look in project.desk.changes(0))

        project.delete_task(gone)

        assert list(project.desk.changes(cursor)) == []
        assert [brief.task for brief in project.desk.census()] == [kept]
        counters = project.desk.counters()
        assert (counters.tasks, counters.answers) == (1, 0)

    def test_counters_count_answers_and_skips_apart(self, project: Project) -> None:
        tasks = project.desk.put(shown(["a", "b", "c"]))
        project.annotate(tasks[0], "cat", 0)
        project.annotate(tasks[0], "dog", 1)
        project.skip(tasks[1], 0)

        counters = project.desk.counters()

        assert (counters.tasks, counters.answers, counters.skips) == (3, 2, 1)

    def test_the_census_agrees_with_a_reading_of_every_task(self, project: Project) -> None:
        tasks = project.desk.put(shown(["a", "b", "c"]))
        project.annotate(tasks[0], "cat", 0)
        project.skip(tasks[1], 0)

        briefs = {b.task: (b.at_us, b.answers, b.skips) for b in project.desk.census()}

        assert list(briefs) == tasks
        for look in project.desk.read(tasks):
            n_skips = sum(j.status == "skipped" for j in look.judgements)
            assert briefs[look.task] == (look.at_us, len(look.judgements) - n_skips, n_skips)

    def test_items_are_found_by_their_exact_ids_however_odd(self, project: Project) -> None:
        items = ["a,b", 'say "hi"', "näh/é?&=#", "100%", " spaced ", "[1]", "0012", "x:y", "猫"]
        tasks = project.desk.put(shown(items))

        found = project.desk.find([*items, "a", "12", "nobody"])

        assert found == {item: [task] for item, task in zip(items, tasks, strict=True)}

    def test_a_doubled_item_is_found_with_all_its_tasks(self, project: Project) -> None:
        tasks = project.desk.put(shown(["a", "b", "a"]))

        assert project.desk.find(["a"]) == {"a": [tasks[0], tasks[2]]}
        assert project.desk.find([]) == {}

    def test_many_items_are_found_at_once(self, project: Project) -> None:
        items = [f"{n:032x}" for n in range(700)]
        project.desk.put(shown(items[::50]))

        assert sorted(project.desk.find(items)) == items[::50]

    def test_a_closed_task_is_served_to_nobody_until_it_is_reopened(self, project: Project) -> None:
        first, second = project.desk.put(shown(["a", "b"]))

        project.desk.close([first])
        assert read_one(project.desk, first).is_closed
        assert project.next_task(0) == second
        project.desk.reopen([first])

        assert not read_one(project.desk, first).is_closed
        assert project.next_task(1) == first

    def test_who_holds_a_closed_task_may_still_submit_it(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        assert project.next_task(0) == task
        project.desk.close([task])

        project.annotate(task, "cow", 0)

        assert only(read_one(project.desk, task)).label == "cow"

    def test_closing_and_reopening_tasks_that_are_gone_is_harmless(self, project: Project) -> None:
        kept, gone = project.desk.put(shown(["a", "b"]))
        project.delete_task(gone)

        project.desk.close([gone, kept])
        project.desk.reopen([gone])

        assert read_one(project.desk, kept).is_closed

    def test_what_is_described_and_announced_is_shown_and_moves_no_task(
        self, project: Project
    ) -> None:
        (task,) = project.desk.put(shown(["a"]))
        before = read_one(project.desk, task)

        project.desk.describe("12 of 2,000 labelled: 3 is lowest · ±4 pp")
        project.desk.announce("<p>Thank you, enough is <b>known</b>.</p>")

        assert project.desk.instruction() == ("<p>Thank you, enough is <b>known</b>.</p>", True)
        project.desk.announce("<p>enough is <b>known</b></p>", is_shown=False)
        assert project.desk.instruction() == ("<p>enough is <b>known</b></p>", False)
        described, announced = project.shown_text()
        assert described == "12 of 2,000 labelled: 3 is lowest · ±4 pp"
        assert "enough is <b>known</b>" in announced
        assert read_one(project.desk, task) == before

    def test_one_tab_of_ours_is_made_beside_the_usual_one_and_then_renamed(
        self, project: Project
    ) -> None:
        project.desk.tab("Assay: 12% sure")
        assert project.tabs() == ["Default", "Assay: 12% sure"]
        project.add_tab("Mine")

        project.desk.tab("Assay: 62% sure")
        project.desk.tab("Assay: 62% sure")

        assert sorted(project.tabs()) == ["Assay: 62% sure", "Default", "Mine"]

    def test_a_tab_of_somebody_else_is_left_alone(self, project: Project) -> None:
        project.add_tab("My work")

        project.desk.tab("Assay: 12% sure")

        assert project.tabs() == ["My work", "Assay: 12% sure"]

    def test_who_labelled_is_among_the_people_and_has_a_name(self, project: Project) -> None:
        (task,) = project.desk.put([{"text": "a", "item_id": "i1"}])
        project.annotate(task, "cat", 0)
        assert project.desk.people()[project.author(0)]

    def test_a_tab_changes_no_task(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        before = read_one(project.desk, task)

        project.desk.tab("Assay: 12% sure")

        assert read_one(project.desk, task) == before
        assert project.next_task(0) == task

    def test_a_project_that_is_gone_is_not_taken_for_an_empty_one(self, project: Project) -> None:
        project.desk.put(shown(["a"]))
        project.vanish()

        with pytest.raises(NotFound, match=r"check `label_studio\.project`"):
            project.desk.counters()
        for read in (lambda desk: list(desk.changes(0)), lambda desk: desk.census()):
            with pytest.raises(NotFound):
                read(project.desk)
        with pytest.raises(NotFound):
            project.desk.find(["a"])
        with pytest.raises(ConnectorError):  # Label Studio answers an import with a page of HTML
            project.desk.put(shown(["b"]))


class TestFakeDesk:
    """What only the fake has: faults, a clock, ids that come again."""

    def test_changes_that_share_a_stamp_all_come(self) -> None:
        desk = FakeDesk()
        desk.tick_us = 0
        tasks = desk.put(shown([f"item {n}" for n in range(MANY)]))

        assert {look.task for look in desk.changes(desk.now_us - 1)} == set(tasks)

    def test_a_deleted_highest_task_gives_its_id_to_the_next_one(self) -> None:
        desk = FakeDesk()
        first, second = desk.put(shown(["a", "b"]))
        desk.delete_task(second)

        assert desk.put(shown(["c"])) == [second]
        assert [look.item for look in desk.read([first, second])] == ["a", "c"]

    def test_ids_never_come_again_where_that_is_switched_off(self) -> None:
        desk = FakeDesk(reuses_ids=False)
        (task,) = desk.put(shown(["a"]))
        desk.delete_task(task)

        assert desk.put(shown(["b"])) == [task + 1]

    def test_an_import_can_take_place_although_its_answer_is_lost(self) -> None:
        desk = FakeDesk()
        desk.fail_next("put", InDoubt("http://fake", "timeout"), after_effect=True)

        with pytest.raises(InDoubt):
            desk.put(shown(["a"]))

        assert desk.find(["a"]) == {"a": [1]}
        assert desk.put(shown(["b"])) == [2]

    def test_an_import_can_fail_before_anything_happened(self) -> None:
        desk = FakeDesk()
        desk.fail_next("put", InDoubt("http://fake", "timeout"))

        with pytest.raises(InDoubt):
            desk.put(shown(["a"]))

        assert desk.find(["a"]) == {}

    def test_a_reading_can_fail_too(self) -> None:
        desk = FakeDesk()
        desk.fail_next("changes", ConnectorError("away"), after_effect=True)

        with pytest.raises(ConnectorError, match="away"):
            list(desk.changes(0))

        assert list(desk.changes(0)) == []


@pytest.mark.live
class TestLabelStudio:
    """What only a real one can show: tokens, imports that it refuses, setting up."""

    @pytest.mark.filterwarnings("ignore:The `parse_obj` method")  # the SDK's own, on refreshing
    def test_a_personal_access_token_works_as_well_as_a_legacy_one(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        legacy, url = sdk(), label_studio.url
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        number = create_project(legacy, url, "Tokens", "tokens", config, "")
        personal = sdk(personal_access_token(url, label_studio.token))

        for client in (personal, legacy):
            desk = LabelStudioDesk(client, url, number, SCHEMA)
            (task,) = desk.put(shown(["a"]))
            assert read_one(desk, task).item == "a"

        by_legacy, by_personal = look_at_server(legacy, url), look_at_server(personal, url)
        assert (by_legacy.version, by_legacy.user) == (by_personal.version, by_personal.user)
        assert abs(by_legacy.clock_ahead_s) < 30

    @pytest.mark.parametrize("token", ["0" * 40, "not-a-token"])
    def test_a_wrong_token_is_refused_with_the_way_to_a_right_one(
        self, label_studio: LabelStudioServer, sdk: Clients, token: str
    ) -> None:
        desk = LabelStudioDesk(sdk(token), label_studio.url, 1, SCHEMA)

        with pytest.raises(Refused, match="LABEL_STUDIO_API_KEY"):
            desk.counters()

    def test_an_import_that_lacks_what_the_project_shows_is_rejected_whole(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        number = create_project(client, label_studio.url, "Whole", "whole", config, "")
        desk = LabelStudioDesk(client, label_studio.url, number, SCHEMA)

        with pytest.raises(Rejected, match="text") as caught:
            desk.put([*shown(["a"]), {"item_id": "b"}])

        assert caught.value.status == 400
        assert desk.counters().tasks == 0

    def test_a_repeated_start_finds_the_project_of_the_broken_off_one(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        make: Any = (client, label_studio.url, "A title of " + "many " * 20)

        first = create_project(*make, "again-1", config, "")

        better = write_config((*SCHEMA.labels, "newt"), [SCHEMA.to_name], SCHEMA.control)
        assert create_project(*make, "again-1", better, "Look twice.", 3) == first
        now = client.projects.get(id=first)
        assert (now.label_config.strip(), now.expert_instruction) == (better.strip(), "Look twice.")
        assert now.maximum_annotations == 3
        assert create_project(*make, "again-10", config, "") != first

    def test_an_empty_project_is_attached_and_served_in_order(
        self, label_studio: LabelStudioServer, sdk: Clients, admin: httpx.Client
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, ["text"], "answer")
        content = {"title": "Own", "label_config": config, "sampling": "Uniform sampling"}
        made = admin.post("/api/projects", json=content).raise_for_status().json()

        schema = attach_project(client, label_studio.url, made["id"], None, SCHEMA.labels)

        assert schema == SCHEMA
        shown_now = admin.get(f"/api/projects/{made['id']}/").json()
        assert shown_now["sampling"] == "Sequential sampling"

    def test_hooking_twice_leaves_one_hook_with_the_secret(
        self, label_studio: LabelStudioServer, sdk: Clients, admin: httpx.Client
    ) -> None:
        client = sdk()
        made = admin.post("/api/projects", json={"title": "Hooked"}).raise_for_status().json()

        for port in (8001, 8002):
            receiver = f"http://127.0.0.1:{port}/hook/a"
            hook(client, label_studio.url, made["id"], receiver, "s3cret")

        (found,) = admin.get("/api/webhooks/", params={"project": made["id"]}).json()
        assert found["url"] == "http://127.0.0.1:8002/hook/a"
        assert found["headers"] == {SECRET_HEADER: "s3cret"}
        assert "PROJECT_UPDATED" not in found["actions"]
        assert not found["send_payload"]

    def test_our_tab_shows_open_tasks_and_keeps_what_people_did_to_it(
        self,
        label_studio: LabelStudioServer,
        sdk: Clients,
        admin: httpx.Client,
        annotator: Callable[[], Annotator],
    ) -> None:
        project = RealProject(label_studio, sdk(), admin, annotator)
        done, withdrawn, skipped, fresh = project.desk.put(shown(["a", "b", "c", "d"]))
        project.annotate(done, "cat", 0)
        project.skip(skipped, 0)
        project.desk.close([withdrawn])
        project.desk.tab("Assay: 1% sure")

        _, ours = project.views()
        assert [task["id"] for task in project.listed(ours["id"])] == [skipped, fresh]
        assert "ordering" not in ours["data"]

        ours["data"]["hiddenColumns"]["explore"].remove("tasks:inner_id")
        changed = {"project": ours["project"], "data": ours["data"]}
        admin.patch(f"/api/dm/views/{ours['id']}/", json=changed).raise_for_status()
        project.desk.tab("Assay: 2% sure")

        _, renamed = project.views()
        assert renamed["data"] == {**ours["data"], "title": "Assay: 2% sure"}
        assert [task["id"] for task in project.listed(ours["id"])] == [skipped, fresh]
