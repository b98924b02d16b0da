"""A Label Studio project in memory, behind the same port as the real one.

`tests/contract/test_desk.py` and `tests/contract/test_desk_answers.py` hold it and the real one to
the same promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from connector.desk import PAGE
from connector.errors import NotFound
from connector.labelling import labelling
from connector.labels import TaskSnapshot
from connector.port import TAB, Counters, TaskBrief
from connector.schema import Schema, write_config
from tests.fake_task import FakeTask

SCHEMA = Schema("answer", "text", ("cat", "dog", "cow"))


class FakeDesk:
    """An in-memory project: what the service sees (`connector.desk.Desk`) and what people do.

    Attributes:
        now_us: the server's clock in microseconds; a test may set it.
        tick_us: how far it moves with every change; 0 makes changes share a stamp.
        overlap: a task is served until so many different people answered it.
        reuses_ids: like SQLite, gives the id of the highest task, once deleted, to the next one.
        is_gone: the project was deleted.
        config: the labelling configuration.
        files: address -> content of what was uploaded.
        calls: the names of the desk's methods as they were called.
    """

    def __init__(
        self, schema: Schema = SCHEMA, *, reuses_ids: bool = True, overlap: int = 1
    ) -> None:
        self.now_us = 1_750_000_000_000_000
        self.tick_us = 1_000
        self.reuses_ids = reuses_ids
        self.overlap = overlap
        self.is_gone = False
        self.config = write_config(schema.labels, [schema.to_name], schema.control)
        self.description = ""
        self.guidelines = "", False
        self.tabs: list[str] = []
        self.files: dict[str, bytes] = {}
        self.calls: list[str] = []
        self._schema = schema
        self._tasks: dict[int, FakeTask] = {}
        self._last_task = self._last_annotation = 0
        self._faults: dict[str, list[tuple[Exception, bool]]] = {}

    # --- what the service sees ---------------------------------------------------------------

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        self._asked("changes")
        rows = [t for t in self._living() if t.at_us > since_us]
        for n, task in enumerate(sorted(rows, key=lambda t: (t.at_us, t.id)), start=1):
            yield self._snapshot(task)
            if n % PAGE == 0:
                yield self._snapshot(task)  # keyed paging reads the last stamp of a page again

    def counters(self) -> Counters:
        self._asked("counters")
        self._must_exist()
        tasks = list(self._tasks.values())
        asked = labelling(self.config, self._schema.control)
        answers, skips = sum(t.answers for t in tasks), sum(t.skips for t in tasks)
        return Counters(len(tasks), answers, skips, asked)

    def census(self) -> list[TaskBrief]:
        self._asked("census")
        return [TaskBrief(t.id, t.at_us, t.answers, t.skips) for t in self._living()]

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        self._asked("read")
        wanted = set(tasks)
        return [self._snapshot(t) for t in self._living() if t.id in wanted]

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        self._asked("find")
        found: dict[str, list[int]] = {}
        for task in self._living():
            if (item := task.data.get("item_id", "")) in items:
                found.setdefault(item, []).append(task.id)
        return found

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        lost_answer = self._called("put")
        self._must_exist()
        ids = [self._import(dict(data)) for data in tasks]
        if lost_answer is not None:
            raise lost_answer
        return ids

    def upload(self, name: str, content: bytes) -> str:
        lost_answer = self._called("upload")
        self._must_exist()
        address = f"/data/upload/1/{len(self.files):08x}-{name}"
        self.files[address] = content
        if lost_answer is not None:
            raise lost_answer
        return address

    def close(self, tasks: Sequence[int]) -> None:
        self._set_labelled("close", tasks, True)

    def reopen(self, tasks: Sequence[int]) -> None:
        self._set_labelled("reopen", tasks, False)

    def describe(self, text: str) -> None:
        lost_answer = self._called("describe")
        self._must_exist()
        self.description = text
        if lost_answer is not None:
            raise lost_answer

    def instruction(self) -> tuple[str, bool]:
        self._asked("instruction")
        self._must_exist()
        return self.guidelines

    def announce(self, html: str, *, is_shown: bool = True) -> None:
        lost_answer = self._called("announce")
        self._must_exist()
        self.guidelines = html, is_shown
        if lost_answer is not None:
            raise lost_answer

    def people(self) -> dict[int, str]:
        self._asked("people")
        every = [a["completed_by"] for t in self._tasks.values() for a in t.annotations.values()]
        return {author: f"person {author}" for author in every if author is not None}

    def tab(self, title: str) -> None:
        lost_answer = self._called("tab")
        self._must_exist()
        ours = [n for n, shown in enumerate(self.tabs) if shown.startswith(TAB)]
        if ours:
            self.tabs[ours[0]] = title
        else:
            self.tabs += [title] if self.tabs else ["Default", title]
        if lost_answer is not None:
            raise lost_answer

    # --- what people do ----------------------------------------------------------------------

    def next_task(self, author: int) -> int | None:
        """The task that the queue serves this annotator: the lowest open one not yet seen."""
        for task in self._living():
            seen_by = {a["completed_by"] for a in task.annotations.values()}
            if not task.is_labeled and task.answers < task.overlap and author not in seen_by:
                return task.id
        return None

    def annotate(self, task: int, label: str, author: int) -> int:
        """Submit a label, whatever it is: Label Studio checks nothing. Return the annotation."""
        return self.submit(task, self.result(label), author)

    def submit(self, task: int, result: object, author: int | None, cancelled: bool = False) -> int:
        """Submit any result, also on a task that is withdrawn; return the annotation's id."""
        self._last_annotation += 1
        content = {"id": self._last_annotation, "completed_by": author, "lead_time": 1.5}
        shown = self._tasks[task]
        shown.annotations[self._last_annotation] = {
            **content,
            "result": result,
            "was_cancelled": cancelled,
        }
        self._touch(shown, self._last_annotation)
        shown.is_labeled = shown.answers >= shown.overlap
        return self._last_annotation

    def skip(self, task: int, author: int) -> int:
        """Press Skip; the task stays open for others. Return the (cancelled) annotation."""
        return self.submit(task, [], author, cancelled=True)

    def edit(self, annotation: int, label: str) -> None:
        """Replace the label of an annotation; its author stays, a skipped one counts again."""
        task = self._task_of(annotation)
        task.annotations[annotation] |= {"result": self.result(label), "was_cancelled": False}
        task.is_labeled = task.answers >= task.overlap
        self._touch(task, annotation)

    def delete_annotation(self, annotation: int) -> None:
        """Delete an annotation; a task without answers is open again."""
        task = self._task_of(annotation)
        del task.annotations[annotation]
        task.is_labeled = task.answers >= task.overlap
        self._touch(task)

    def delete_person(self, author: int) -> None:
        """Delete a user: their annotations stay, name nobody, and no stamp tells of it."""
        for task in self._tasks.values():
            for annotation in task.annotations.values():
                if annotation["completed_by"] == author:
                    annotation["completed_by"] = None

    def delete_task(self, task: int) -> None:
        """Delete a task with all its annotations; no change tells of it."""
        del self._tasks[task]
        if self.reuses_ids:
            self._last_task = max(self._tasks, default=0)

    def change_data(self, task: int, data: Mapping[str, Any], *, is_stamped: bool = True) -> None:
        """Replace some of a task's data; Label Studio's actions on many tasks leave its stamp."""
        self._tasks[task].data |= data
        if is_stamped:
            self._touch(self._tasks[task])

    # --- what tests arrange and look at ------------------------------------------------------

    def fail_next(self, method: str, error: Exception, *, after_effect: bool = False) -> None:
        """Let the next call of a method fail; `after_effect`: it was done, its answer is lost."""
        self._faults.setdefault(method, []).append((error, after_effect))

    def task_ids(self) -> list[int]:
        """All tasks that exist, ascending."""
        return sorted(self._tasks)

    def data_of(self, task: int) -> dict[str, str]:
        """Everything that an annotator is shown of a task."""
        return dict(self._tasks[task].data)

    def snapshots(self) -> list[TaskSnapshot]:
        """The truth: all tasks as they are now. Not a call of the service; never fails."""
        return [self._snapshot(task) for _, task in sorted(self._tasks.items())]

    def result(self, label: str) -> list[dict[str, Any]]:
        """The JSON of one answer."""
        region = {"from_name": self._schema.control, "to_name": self._schema.to_name}
        return [{**region, "type": "choices", "value": {"choices": [label]}}]

    # --- inside ------------------------------------------------------------------------------

    def _called(self, method: str) -> Exception | None:
        """Note the call; raise its fault, or return one that is due after the effect."""
        self.calls.append(method)
        waiting = self._faults.get(method)
        if not waiting:
            return None
        error, after_effect = waiting.pop(0)
        if not after_effect:
            raise error
        return error

    def _asked(self, method: str) -> None:
        """Note the call of a method without effect: any fault of it is raised."""
        if (error := self._called(method)) is not None:
            raise error

    def _must_exist(self) -> None:
        if self.is_gone:
            raise NotFound("http://fake", "project 1")

    def _living(self) -> list[FakeTask]:
        self._must_exist()
        return [task for _, task in sorted(self._tasks.items())]

    def _import(self, data: dict[str, str]) -> int:
        self._last_task += 1
        shown = {key: key for key in data if key != "item_id"}
        task = FakeTask(self._last_task, data, 0, self.overlap, shown)
        self._tasks[task.id] = task
        self._touch(task)
        return task.id

    def _set_labelled(self, method: str, tasks: Sequence[int], is_labeled: bool) -> None:
        lost_answer = self._called(method)
        for task in tasks:
            if not self.is_gone and task in self._tasks:
                self._tasks[task].is_labeled = is_labeled
                if not is_labeled:
                    self._tasks[task].overlap = self._tasks[task].answers + 1
                self._touch(self._tasks[task])
        if lost_answer is not None:
            raise lost_answer

    def _task_of(self, annotation: int) -> FakeTask:
        return next(t for t in self._tasks.values() if annotation in t.annotations)

    def _touch(self, task: FakeTask, annotation: int | None = None) -> None:
        self.now_us += self.tick_us
        task.stamp(self.now_us, annotation)

    def _snapshot(self, task: FakeTask) -> TaskSnapshot:
        return task.snapshot(self._schema)
