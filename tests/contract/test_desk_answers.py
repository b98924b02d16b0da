"""What every desk promises of people's answers, and of the tasks that people are served."""

from __future__ import annotations

from tests.contract.projects import Project, only, read_one, shown


class TestOverlap:
    """A project that wants two answers a task."""

    def test_a_task_is_served_to_two_people_and_to_nobody_twice(self, shared: Project) -> None:
        (task,) = shared.desk.put(shown(["a"]))

        shared.annotate(task, "cat", 0)
        assert not read_one(shared.desk, task).is_closed
        assert shared.next_task(0) is None
        assert shared.next_task(1) == task

        shared.annotate(task, "dog", 1)
        snapshot = read_one(shared.desk, task)
        assert snapshot.is_closed
        assert {j.author: j.label for j in snapshot.judgements} == {
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

    def test_an_answer_is_read_with_its_label_author_and_time(self, project: Project) -> None:
        (task,) = project.desk.put(shown(["a"]))
        before = read_one(project.desk, task)

        annotation = project.annotate(task, "cow", 0)

        snapshot = read_one(project.desk, task)
        judgement = only(snapshot)
        assert (judgement.annotation, judgement.author) == (annotation, project.author(0))
        assert (judgement.status, judgement.label, judgement.reason) == ("valid", "cow", "")
        assert judgement.seconds is not None
        assert snapshot.is_closed
        assert before.at_us < judgement.at_us <= snapshot.at_us
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
