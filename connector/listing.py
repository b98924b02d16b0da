"""The tasks of one project as Label Studio lists them: filters, stamps and one page at a time.

Reading is keyed, not paged: Label Studio pages by offset, and a row that is updated while one
pages moves and can push another past the boundary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from connector.border import label_studio_errors
from connector.errors import NotLabelStudio
from connector.labels import microseconds

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

READ_TIMEOUT_S = 60.0
READ: Any = {"max_retries": 1, "timeout": READ_TIMEOUT_S}


class TaskList:
    """The list of one project's tasks, through the SDK."""

    def __init__(self, client: LabelStudio, url: str, project: int) -> None:
        self._client = client
        self._url = url
        self._project = project

    def page(
        self,
        query: Mapping[str, Any],
        page_size: int,
        fields: Any = "all",
        include: str | None = None,
        *,
        is_stored: bool = True,
    ) -> list[dict[str, Any]]:
        """One page of tasks as plain dictionaries.

        Args:
            is_stored: data as they were imported; else the addresses of files in connected storages
                are replaced by those under which Label Studio hands them out.
        """
        with self.errors():
            pager: Any = self._client.tasks.list(
                project=self._project,
                query=json.dumps(query),
                fields=fields,
                include=include,
                page_size=page_size,
                resolve_uri=not is_stored,
                request_options=READ,
            )
            if pager.items is None:
                raise NotLabelStudio(self._url, 200, str(pager.response)[:120])
            return [row.dict() for row in pager.items]

    def call(
        self,
        method: str,
        path: str,
        options: Any,
        json: Any = None,
        *,
        params: Any = None,
        files: Any = None,
        writes: bool | None = None,
    ) -> Any:
        """A request that the SDK has no method for, with its address, token and errors.

        Args:
            writes: as of `label_studio_errors`; by default all but a GET does.
        """
        from label_studio_sdk.core.api_error import ApiError

        with self.errors(writes=method != "GET" if writes is None else writes):
            answer = self._client._client_wrapper.httpx_client.request(
                f"api/projects/{self._project}/{path}",
                method=method,
                params=params,
                json=json,
                files=files,
                request_options=options,
            )
            try:
                body = answer.json()
            except ValueError:
                raise ApiError(status_code=answer.status_code, body=answer.text) from None
            if not answer.is_success:
                raise ApiError(status_code=answer.status_code, body=body)
            return body

    def errors(self, what: str | None = None, *, writes: bool = False) -> Any:
        """`label_studio_errors` of this project."""
        return label_studio_errors(self._url, what or f"project {self._project}", writes=writes)


def where(column: str, operator: str, kind: str, value: object) -> dict[str, Any]:
    """One filter of the Data Manager, on a column of tasks."""
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


def as_filter(at_us: int) -> str:
    """Microseconds since 1970 in the one form that Label Studio's filters take."""
    # always with a fraction, always Z
    return (_EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def changed_at(row: Mapping[str, Any]) -> int:
    """The task's last change; the SDK hands some stamps over as text and others parsed."""
    stamp = row["updated_at"]
    return microseconds(stamp.isoformat() if isinstance(stamp, datetime) else str(stamp))
