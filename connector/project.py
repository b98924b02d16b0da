"""Setting a Label Studio project up for an assessment: make or attach, hook, look at the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import httpx

from connector.border import label_studio_errors
from connector.errors import NotLabelStudio, ProjectNotEmpty, Unreachable
from connector.port import marker
from connector.ratings import Bins
from connector.schema import Schema, read_schema

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

SECRET_HEADER = "X-Assay-Secret"

# Progress is written into the project, which fires PROJECT_UPDATED: never ask for that one.
_ACTIONS: Any = [
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_DELETED",
]

_ONCE: Any = {"max_retries": 0}


@dataclass(frozen=True, slots=True)
class Server:
    """What Label Studio says of itself."""

    version: str
    clock_ahead_s: float  # its clock minus ours
    user: str


def create_project(
    client: LabelStudio,
    url: str,
    title: str,
    assessment: str,
    config: str,
    instruction: str,
    overlap: int = 1,
) -> int:
    """Make a project for one assessment, or return the one that a broken-off start made.

    The description names the assessment; by it an earlier, broken-off start is found again, so
    that a repeated start makes no second project.

    Args:
        overlap: an item is served to so many different people.
    """
    settings: Any = {
        "title": title[:50],
        "description": marker(assessment),
        "label_config": config,
        "sampling": "Sequential sampling",
        "skip_queue": "REQUEUE_FOR_OTHERS",
        "maximum_annotations": overlap,
        "show_collab_predictions": False,
        "expert_instruction": instruction,
        "show_instruction": bool(instruction),
    }
    with label_studio_errors(url, "list of projects"):
        found: Any
        for found in client.projects.list(title=title[:50]):
            is_ours = marker(assessment) in (found.description or "")
            if is_ours and found.title == title[:50] and not found.task_number:
                # The plan may have been put right since.
                client.projects.update(id=found.id, **settings, request_options=_ONCE)
                return int(found.id)
    with label_studio_errors(url, "list of projects", writes=True):
        made: Any = client.projects.create(**settings, request_options=_ONCE)
    return int(made.id)


def attach_project(
    client: LabelStudio,
    url: str,
    project: int,
    control: str | None,
    classes: Sequence[str],
    overlap: int = 1,
    bins: Bins | None = None,
    files: Iterable[str] = (),
) -> Schema:
    """Use a project that is there; it must be empty and ask for the pool's classes.

    Its sampling is set to sequential, because the served order must be the imported one, and its
    overlap to the plan's.

    Raises:
        NotFound, ProjectNotEmpty, BadConfig.
    """
    with label_studio_errors(url, f"project {project}"):
        found = client.projects.get(id=project)
    if found.task_number:
        raise ProjectNotEmpty(project, found.task_number)
    schema = read_schema(str(found.label_config), control, classes, bins, files)
    with label_studio_errors(url, f"project {project}"):
        client.projects.update(
            id=project,
            sampling="Sequential sampling",
            skip_queue="REQUEUE_FOR_OTHERS",
            maximum_annotations=overlap,
            show_collab_predictions=False,
        )
    return schema


def hook(client: LabelStudio, url: str, project: int, receiver: str, secret: str) -> None:
    """Make Label Studio wake `receiver` when somebody annotates; calling it again changes nothing.

    No payload is sent: a wake-up needs none, and the annotator's submit waits for the delivery.

    Raises:
        Rejected, Refused: e.g. Label Studio blocks webhooks to private addresses.
    """
    headers: Any = {SECRET_HEADER: secret}
    with label_studio_errors(url, f"project {project}"):
        path = httpx.URL(receiver).path
        for old in client.webhooks.list(project=str(project)):
            if httpx.URL(old.url).path == path and old.id is not None:
                client.webhooks.delete(id=old.id)
        client.webhooks.create(
            url=receiver,
            project=project,
            send_payload=False,
            send_for_all_actions=False,
            actions=_ACTIONS,
            headers=headers,
            is_active=True,
            request_options=_ONCE,
        )


def is_hooked(
    client: LabelStudio, url: str, project: int, receiver: str, secret: str | None
) -> bool:
    """Whether Label Studio still wakes `receiver`: who may label may also delete a webhook.

    Args:
        secret: what it must send; None where that is not known.

    Raises:
        Unreachable, Refused, NotFound.
    """
    with label_studio_errors(url, f"project {project}"):
        return any(
            hook.url == receiver
            and hook.is_active is not False
            and (secret is None or (hook.headers or {}).get(SECRET_HEADER) == secret)
            for hook in client.webhooks.list(project=str(project))
        )


def look_at_server(client: LabelStudio, url: str) -> Server:
    """Ask Label Studio for its version, its clock and who we are there.

    Raises:
        Unreachable, NotLabelStudio, Refused.
    """
    try:
        answer = httpx.get(f"{url}/api/version", timeout=10.0, follow_redirects=True)
    except httpx.HTTPError as error:
        raise Unreachable(url, f"{type(error).__name__}: {error}") from error
    try:
        version = str(answer.json()["release"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotLabelStudio(url, answer.status_code, answer.text[:120]) from error
    with label_studio_errors(url, "user"):
        user = client.users.whoami()
    theirs = parsedate_to_datetime(answer.headers["date"]) if "date" in answer.headers else None
    ahead = (theirs - datetime.now(UTC)).total_seconds() if theirs else 0.0
    return Server(version, ahead, str(user.email or user.username or user.id))
