"""The annotators' desk: the only code that calls label-studio-sdk.

Reading is keyed, not paged: Label Studio pages by offset, and a row that is updated while one
pages moves and can push another past the boundary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from label_studio_sdk.client import LabelStudio

from connector.border import label_studio_errors
from connector.errors import NotFound, NotLabelStudio, Refused
from connector.labels import Look, Schema, judge, microseconds
from connector.settings import LabelStudioSettings

PAGE = 100
# Ids in one `in_list` filter; the query travels in the URL, which httpx limits to 64 KB.
IDS_A_REQUEST = 300
READ_TIMEOUT_S = 60.0
# A request that writes tasks must be over before a worker's lease is (worker/loop.py).
WRITE_TIMEOUT_S = 10.0

_WRITE: Any = {"max_retries": 0, "timeout": WRITE_TIMEOUT_S}
_READ: Any = {"max_retries": 1, "timeout": READ_TIMEOUT_S}


@dataclass(frozen=True, slots=True)
class Counters:
    """What the project counts by itself: a cheap sign that something was missed."""

    tasks: int
    answers: int  # annotations that are not skips
    skips: int


@dataclass(frozen=True, slots=True)
class TaskBrief:
    """One line of the census: enough to see whether a task is as we know it."""

    task: int
    at_us: int
    answers: int
    skips: int


class Desk(Protocol):
    """What the loop needs of a labelling tool; the contract tests hold every desk to it."""

    def changes(self, since_us: int) -> Iterator[Look]:
        """Tasks changed after `since_us`, earliest change first; some may come twice."""

    def counters(self) -> Counters:
        """The project's own counts."""

    def census(self) -> list[TaskBrief]:
        """All tasks, briefly."""

    def read(self, tasks: Sequence[int]) -> list[Look]:
        """Look at these tasks; those that are gone are left out."""

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        """The tasks that show each of these items; items without any are left out."""

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        """Import tasks at the end of the queue; return their ids in the same order.

        Raises:
            InDoubt: the answer never came; look the items up before trying again.
        """

    def close(self, tasks: Sequence[int]) -> None:
        """Serve these tasks to nobody; an annotator who holds one may still submit it."""

    def reopen(self, tasks: Sequence[int]) -> None:
        """Serve them again."""

    def describe(self, text: str) -> None:
        """Set the one line that the list of projects shows."""

    def announce(self, html: str) -> None:
        """Show this to every annotator who opens the queue."""


class LabelStudioDesk:
    """One project of a Label Studio, through its SDK."""

    def __init__(self, client: LabelStudio, url: str, project: int, schema: Schema) -> None:
        self._client = client
        self._url = url
        self._project = project
        self._schema = schema

    def changes(self, since_us: int) -> Iterator[Look]:
        page, after_us = PAGE, since_us
        while True:
            query = {
                "filters": _filter("updated_at", "greater", "Datetime", _iso(after_us)),
                "ordering": ["tasks:updated_at"],
            }
            rows = self._list(query=query, page_size=page)
            for row in rows:
                yield self._look(row)
            if len(rows) < page:
                return
            last_us = _at(rows[-1])
            # One microsecond back: others may share the stamp of the page's last row.
            if last_us - 1 > after_us:
                after_us = last_us - 1
            else:
                page *= 2  # more rows share one stamp than fit a page

    def counters(self) -> Counters:
        with self._errors():
            project = self._client.projects.get(id=self._project, request_options=_READ)
        if project.id != self._project:
            # The SDK takes any JSON; zeros read from it would pass for a project without tasks.
            raise NotLabelStudio(self._url, 200, str(project)[:120])
        return Counters(
            tasks=int(project.task_number or 0),
            answers=int(project.total_annotations_number or 0),
            skips=int(project.skipped_annotations_number or 0),
        )

    def census(self) -> list[TaskBrief]:
        briefs: list[TaskBrief] = []
        last_id = 0
        while True:
            rows = self._list(
                query={
                    "filters": _filter("id", "greater", "Number", last_id),
                    "ordering": ["tasks:id"],
                },
                page_size=5_000,
                fields="task_only",
                include="id,updated_at,total_annotations,cancelled_annotations",
            )
            briefs += [
                TaskBrief(
                    int(row["id"]),
                    _at(row),
                    int(row["total_annotations"]),
                    int(row["cancelled_annotations"]),
                )
                for row in rows
            ]
            if len(rows) < 5_000:
                return briefs
            last_id = briefs[-1].task

    def read(self, tasks: Sequence[int]) -> list[Look]:
        looks: list[Look] = []
        for start in range(0, len(tasks), PAGE):
            ids = list(tasks[start : start + PAGE])
            query = {"filters": _filter("id", "in_list", "List", ids), "ordering": ["tasks:id"]}
            looks += [self._look(row) for row in self._list(query=query, page_size=PAGE)]
        return looks

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for start in range(0, len(items), IDS_A_REQUEST):
            ids = list(items[start : start + IDS_A_REQUEST])
            query = {
                "filters": _filter("data.item_id", "in_list", "List", ids),
                "ordering": ["tasks:id"],
            }
            rows = self._list(
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

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        request: Any = [{"data": dict(data)} for data in tasks]
        with self._errors(writes=True):
            answer: Any = self._client.projects.import_tasks(
                id=self._project, request=request, return_task_ids=True, request_options=_WRITE
            )
        return [int(task) for task in answer.task_ids or ()]

    def close(self, tasks: Sequence[int]) -> None:
        self._set_labelled(tasks, True)

    def reopen(self, tasks: Sequence[int]) -> None:
        self._set_labelled(tasks, False)

    def _set_labelled(self, tasks: Sequence[int], is_labeled: bool) -> None:
        for task in tasks:
            options: Any = {**_WRITE, "additional_body_parameters": {"is_labeled": is_labeled}}
            try:
                with self._errors(f"task {task}"):
                    self._client.tasks.update(id=str(task), request_options=options)
            except NotFound:
                continue  # deleted meanwhile; the census will notice

    def describe(self, text: str) -> None:
        with self._errors():
            self._client.projects.update(id=self._project, description=text, request_options=_WRITE)

    def announce(self, html: str) -> None:
        with self._errors():
            self._client.projects.update(
                id=self._project,
                expert_instruction=html,
                show_instruction=True,
                request_options=_WRITE,
            )

    def _list(
        self,
        query: Mapping[str, Any],
        page_size: int,
        fields: Any = "all",
        include: str | None = None,
    ) -> list[dict[str, Any]]:
        """One page of tasks as plain dictionaries.

        The SDK takes a missing project for an empty one (it swallows 404 as the end of a list);
        `counters`, which every sweep asks first, tells the difference.
        """
        with self._errors():
            pager: Any = self._client.tasks.list(
                project=self._project,
                query=json.dumps(query),
                fields=fields,
                include=include,
                page_size=page_size,
                request_options=_READ,
            )
            if pager.items is None:
                raise NotLabelStudio(self._url, 200, str(pager.response)[:120])
            return [row.dict() for row in pager.items]

    def _look(self, row: Mapping[str, Any]) -> Look:
        data = row["data"] if isinstance(row["data"], Mapping) else {}
        return Look(
            task=int(row["id"]),
            item=str(data.get("item_id", "")),
            at_us=_at(row),
            is_closed=bool(row["is_labeled"]),
            judgements=tuple(judge(a, self._schema) for a in row["annotations"] or ()),
        )

    def _errors(self, what: str | None = None, *, writes: bool = False) -> Any:
        return label_studio_errors(self._url, what or f"project {self._project}", writes=writes)


def connect(settings: LabelStudioSettings) -> LabelStudio:
    """Return a client; personal access tokens and legacy tokens both work.

    Raises:
        Refused: the token is not one, or has expired.
    """
    try:
        client: LabelStudio = LabelStudio(  # type: ignore[no-untyped-call]
            base_url=settings.url, api_key=settings.token, timeout=READ_TIMEOUT_S
        )
    except Exception as error:  # the SDK raises its own on an expired or broken personal token
        raise Refused(settings.url, 401, str(error)[:200]) from error
    return client


def _filter(column: str, operator: str, kind: str, value: object) -> dict[str, Any]:
    return {
        "conjunction": "and",
        "items": [
            {
                "filter": f"filter:tasks:{column}",
                "operator": operator,
                "type": kind,
                "value": value,
            }
        ],
    }


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _iso(at_us: int) -> str:
    # The one form that Label Studio's filters take: always with a fraction, always Z.
    return (_EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _at(row: Mapping[str, Any]) -> int:
    """The task's change; the SDK hands some stamps over as text and others parsed."""
    stamp = row["updated_at"]
    return microseconds(stamp.isoformat() if isinstance(stamp, datetime) else str(stamp))
