"""The annotators' desk in Label Studio: a project of our own, into which items are imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from connector.errors import NotFound, NotLabelStudio
from connector.labelling import labelling
from connector.labels import TaskSnapshot, judge
from connector.listing import READ, TaskList, as_filter, changed_at, where
from connector.port import Counters, TaskBrief
from connector.schema import Schema
from connector.shown import fingerprint
from connector.tab import show_tab
from connector.uploads import upload

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

PAGE = 100
# Ids in one `in_list` filter. The query travels in the URL, and proxies end at 8 KB of it.
IDS_A_REQUEST = 300
_ITEMS_CHARACTERS = 4_000
# A request that writes tasks must be over before a worker's lease is (worker/turn/leasing.py).
WRITE_TIMEOUT_S = 10.0

_BRIEF = "id,updated_at,total_annotations,cancelled_annotations"
_WRITE: Any = {"max_retries": 0, "timeout": WRITE_TIMEOUT_S}


class LabelStudioDesk:
    """One project of a Label Studio, through its SDK."""

    def __init__(
        self,
        client: LabelStudio,
        url: str,
        project: int,
        schema: Schema,
        shown: Mapping[str, str],
        adapt: Callable[[Mapping[str, Any], TaskSnapshot], TaskSnapshot] = lambda _, one: one,
    ) -> None:
        """Hold on to one project.

        Args:
            shown: what of a task's data was meant to be shown (`connector.shown.fingerprint`).
            adapt: reads a listed task in another way; by default an item is known by its
                `data.item_id`.
        """
        self._client = client
        self._url = url
        self._project = project
        self._schema = schema
        self._tasks = TaskList(client, url, project)
        self._shown = shown
        self._adapt = adapt

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        page, after_us = PAGE, since_us
        while True:
            query = {
                "filters": where("updated_at", "greater", "Datetime", as_filter(after_us)),
                "ordering": ["tasks:updated_at"],
            }
            rows = self._tasks.page(query=query, page_size=page)
            for row in rows:
                yield self._snapshot(row)
            if len(rows) < page:
                return
            last_us = changed_at(rows[-1])
            # One microsecond back: others may share the stamp of the page's last row.
            if last_us - 1 > after_us:
                after_us = last_us - 1
            else:
                page *= 2  # more rows share one stamp than fit a page

    def counters(self) -> Counters:
        with self._tasks.errors():
            project = self._client.projects.get(id=self._project, request_options=READ)
        if project.id != self._project:
            # The SDK takes any JSON; zeros read from it would pass for a project without tasks.
            raise NotLabelStudio(self._url, 200, str(project)[:120])
        return Counters(
            tasks=int(project.task_number or 0),
            answers=int(project.total_annotations_number or 0),
            skips=int(project.skipped_annotations_number or 0),
            labelling=labelling(str(project.label_config), self._schema.control),
        )

    def census(self) -> list[TaskBrief]:
        briefs: list[TaskBrief] = []
        last_id = 0
        while True:
            rows = self._tasks.page(
                query={
                    "filters": where("id", "greater", "Number", last_id),
                    "ordering": ["tasks:id"],
                },
                page_size=5_000,
                fields="task_only",
                include=_BRIEF,
            )
            briefs += map(_brief, rows)
            if len(rows) < 5_000:
                return briefs
            last_id = briefs[-1].task

    def briefs(self, tasks: Sequence[int]) -> list[TaskBrief]:
        """The census of these tasks alone; those that are gone are left out."""
        found: list[TaskBrief] = []
        for start in range(0, len(tasks), IDS_A_REQUEST):
            ids = list(tasks[start : start + IDS_A_REQUEST])
            query = {"filters": where("id", "in_list", "List", ids), "ordering": ["tasks:id"]}
            rows = self._tasks.page(query, IDS_A_REQUEST, fields="task_only", include=_BRIEF)
            found += map(_brief, rows)
        return found

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        snapshots: list[TaskSnapshot] = []
        for start in range(0, len(tasks), PAGE):
            ids = list(tasks[start : start + PAGE])
            query = {"filters": where("id", "in_list", "List", ids), "ordering": ["tasks:id"]}
            snapshots += [
                self._snapshot(row) for row in self._tasks.page(query=query, page_size=PAGE)
            ]
        return snapshots

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for ids in _fitting(items):
            query = {
                "filters": where("data.item_id", "in_list", "List", ids),
                "ordering": ["tasks:id"],
            }
            rows = self._tasks.page(
                query=query,
                page_size=4 * IDS_A_REQUEST,
                fields="task_only",
                include="id,data",
            )
            for row in rows:
                item = str(row["data"].get("item_id", ""))
                if item in ids:
                    found.setdefault(item, []).append(int(row["id"]))
        return found

    def put(self, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        request: Any = [{"data": dict(data)} for data in tasks]
        with self._tasks.errors(writes=True):
            answer: Any = self._client.projects.import_tasks(
                id=self._project, request=request, return_task_ids=True, request_options=_WRITE
            )
        return [int(task) for task in answer.task_ids or ()]

    def upload(self, name: str, content: bytes) -> str:
        return upload(self._client, self._url, self._project, name, content, _WRITE)

    def close(self, tasks: Sequence[int]) -> None:
        for task in tasks:
            self._update(task, {"is_labeled": True})

    def reopen(self, tasks: Sequence[int]) -> None:
        # A task that as many people answered as its overlap says is served to nobody, whatever
        # `is_labeled` says; an answer that counts for nothing takes a place too.
        known = {snapshot.task: snapshot for snapshot in self.read(tasks)}
        for task in tasks:
            if task in known:
                answers = sum(j.status != "skipped" for j in known[task].judgements)
                self._update(task, {"is_labeled": False, "overlap": answers + 1})

    def _update(self, task: int, content: Mapping[str, Any]) -> None:
        options: Any = {**_WRITE, "additional_body_parameters": dict(content)}
        try:
            with self._tasks.errors(f"task {task}"):
                self._client.tasks.update(id=str(task), request_options=options)
        except NotFound:
            pass  # deleted meanwhile; the census will notice

    def describe(self, text: str) -> None:
        with self._tasks.errors():
            self._client.projects.update(id=self._project, description=text, request_options=_WRITE)

    def instruction(self) -> tuple[str, bool]:
        with self._tasks.errors():
            project = self._client.projects.get(id=self._project, request_options=READ)
        return project.expert_instruction or "", bool(project.show_instruction)

    def announce(self, html: str, *, is_shown: bool = True) -> None:
        with self._tasks.errors():
            self._client.projects.update(
                id=self._project,
                expert_instruction=html,
                show_instruction=is_shown,
                request_options=_WRITE,
            )

    def people(self) -> dict[int, str]:
        with self._tasks.errors("the list of people"):
            users = self._client.users.list(request_options=READ)
        return {
            int(u.id): f"{u.first_name or ''} {u.last_name or ''}".strip() or u.email or u.username
            for u in users
        }

    def tab(self, title: str) -> None:
        show_tab(self._client, self._url, self._project, title)

    def _snapshot(self, row: Mapping[str, Any]) -> TaskSnapshot:
        data = row["data"] if isinstance(row["data"], Mapping) else {}
        snapshot = TaskSnapshot(
            task=int(row["id"]),
            # Half of a pair of surrogates is no text that can be kept; nor is it an item of ours.
            item=str(data.get("item_id", "")).encode("utf-8", "replace").decode(),
            at_us=changed_at(row),
            is_closed=bool(row["is_labeled"]),
            judgements=tuple(judge(a, self._schema) for a in row["annotations"] or ()),
            shown=fingerprint(data, self._shown),
        )
        return self._adapt(row, snapshot)


def _fitting(items: Sequence[str]) -> Iterator[list[str]]:
    """The items in pieces that fit into an address; a longer one is a piece of its own."""
    piece: list[str] = []
    n_characters = 0
    for item in items:
        n = len(quote(json.dumps(item))) + 6  # a comma and a space, quoted
        if piece and (n_characters + n > _ITEMS_CHARACTERS or len(piece) == IDS_A_REQUEST):
            yield piece
            piece, n_characters = [], 0
        piece.append(item)
        n_characters += n
    if piece:
        yield piece


def _brief(row: Mapping[str, Any]) -> TaskBrief:
    answers, skips = row["total_annotations"], row["cancelled_annotations"]
    return TaskBrief(int(row["id"]), changed_at(row), int(answers), int(skips))
