"""What every desk promises: the one in memory that tests use, and a real Label Studio."""

from __future__ import annotations

import pytest

from connector.desk import PAGE
from connector.errors import ConnectorError, NotFound
from tests.contract.projects import MANY, Project, only, read_one, shown


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
        assert [snapshot.item for snapshot in project.desk.read(tasks)] == ["a", "b", "c", "d"]
        assert project.next_task(0) == tasks[0]

    def test_a_new_task_is_open_and_nobody_judged_it(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))

        snapshot = read_one(project.desk, task)

        assert (snapshot.task, snapshot.item, snapshot.is_closed, snapshot.judgements) == (
            task,
            "a",
            False,
            (),
        )
        assert snapshot.at_us > 1_600_000_000_000_000  # microseconds since 1970

    def test_reading_leaves_out_what_is_gone(self, project: Project) -> None:
        kept, gone = project.desk.put(shown(["a", "b"]))
        project.delete_task(gone)

        assert [snapshot.task for snapshot in project.desk.read([gone, kept])] == [kept]
        assert project.desk.read([]) == []

    def test_changes_tells_of_each_change_after_the_cursor_and_of_no_earlier_one(
        self, project: Project
    ) -> None:
        tasks = project.desk.put(shown(["a", "b", "c"]))
        everything = list(project.desk.changes(0))
        assert sorted(snapshot.task for snapshot in everything) == tasks
        cursor = max(snapshot.at_us for snapshot in everything)

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

        assert [snapshot.task for snapshot in changes] == tasks[::-1]
        assert [snapshot.at_us for snapshot in changes] == sorted(
            snapshot.at_us for snapshot in changes
        )

    def test_changes_miss_none_of_more_tasks_than_fit_a_page(self, project: Project) -> None:
        tasks = project.desk.put(shown([f"item {n}" for n in range(MANY)]))

        changes = list(project.desk.changes(0))

        assert {snapshot.task for snapshot in changes} == set(tasks)
        assert len(changes) <= MANY + MANY // PAGE  # a few may come twice, not all

    def test_no_change_tells_of_a_deleted_task_but_census_and_counters_do(
        self, project: Project
    ) -> None:
        kept, gone = project.desk.put(shown(["a", "b"]))
        project.annotate(gone, "cat", 0)
        cursor = max(snapshot.at_us for snapshot in project.desk.changes(0))

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
        for snapshot in project.desk.read(tasks):
            n_skips = sum(j.status == "skipped" for j in snapshot.judgements)
            assert briefs[snapshot.task] == (
                snapshot.at_us,
                len(snapshot.judgements) - n_skips,
                n_skips,
            )

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
