"""A scripted annotator who signs up and labels over the same HTTP calls as the labelling page.

For the demo and for tests: it has a session of its own like a browser, so Label Studio's locks,
queues and authors behave as they do with people. What to answer is up to the caller.
"""

from __future__ import annotations

import html
import re
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import httpx

from connector.errors import ConnectorError

# A submit runs its webhooks before it answers, and SQLite makes writers wait for each other.
TIMEOUT = httpx.Timeout(60.0, connect=5.0)

# Of what changes nothing: on SQLite, Label Studio answers 500 where another wrote for too long.
_ATTEMPTS = 5

Json = dict[str, Any]


class AnnotatorError(ConnectorError):
    """Label Studio did not let a scripted annotator do what people do in the browser."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """One signed-up user with an open session; a context manager that closes it at the end."""

    email: str
    user_id: int
    _session: httpx.Client = field(repr=False)

    def next_task(self, project: int) -> Json | None:
        """Return the task that the queue serves this user (and locks for them), None if empty."""
        path = f"/api/projects/{project}/next"
        answer = _send(self._session, "GET", path, also=httpx.codes.NOT_FOUND)
        if answer.is_success:
            return _json(answer)
        # A missing project is a 404 too, and must not look like an empty queue.
        _send(self._session, "GET", f"/api/projects/{project}")
        return None

    def submit(
        self, task_id: int, choice: str, control: str, to_name: str, lead_time: float = 1.0
    ) -> Json:
        """Answer a task with one choice; return the annotation. `lead_time` is in seconds."""
        region = {"type": "choices", "value": {"choices": [choice]}}
        return self._answer(task_id, region | {"from_name": control, "to_name": to_name}, lead_time)

    def rate(self, task_id: int, stars: int, control: str, to_name: str) -> Json:
        """Answer a task with so many stars of a Rating; return the annotation."""
        region = {"type": "rating", "value": {"rating": stars}}
        return self._answer(task_id, region | {"from_name": control, "to_name": to_name}, 1.0)

    def _answer(self, task_id: int, region: Json, lead_time: float) -> Json:
        content = {"result": [region], "lead_time": lead_time}
        return _json(_send(self._session, "POST", _annotations(task_id), content))

    def skip(self, task_id: int) -> Json:
        """Skip a task as the Skip button does; return the cancelled annotation."""
        content = {"result": [], "was_cancelled": True, "lead_time": 1.0}
        return _json(_send(self._session, "POST", _annotations(task_id), content))

    def edit(self, annotation_id: int, choice: str) -> Json:
        """Replace the choice of an annotation, one's own or another's; return the annotation.

        Raises:
            AnnotatorError: there is nothing to replace, because the task was skipped.
        """
        path = f"/api/annotations/{annotation_id}/"
        result = _json(_send(self._session, "GET", path))["result"]
        if not result:
            raise AnnotatorError(
                f"Annotation {annotation_id} has no choice that could be replaced."
            )
        result[0]["value"] = {"choices": [choice]}
        return _json(_send(self._session, "PATCH", path, {"result": result}))

    def delete(self, annotation_id: int) -> None:
        """Delete an annotation, one's own or another's."""
        _send(self._session, "DELETE", f"/api/annotations/{annotation_id}/")

    def fetch(self, address: str) -> bytes:
        """Return the file behind an address in a task's data, as the labelling page loads it."""
        return _send(self._session, "GET", address).content

    def close(self) -> None:
        """Close the session; the user stays."""
        self._session.close()

    def __enter__(self) -> Annotator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def invitation(url: str, admin_token: str) -> str:
    """Return the link at which people sign up as annotators.

    Args:
        url: address of Label Studio, without a path.
        admin_token: a legacy token of anyone who may see the link.

    Raises:
        AnnotatorError: the address is not reached, or the token is refused.
    """
    with httpx.Client(base_url=url, timeout=TIMEOUT) as admin:
        admin.headers["Authorization"] = f"Token {admin_token}"
        path = str(_json(_send(admin, "GET", "/api/invite"))["invite_url"])
        return str(admin.base_url.join(path))


def sign_up(url: str, admin_token: str, email: str, password: str) -> Annotator:
    """Create a user through the invitation link and the sign-up form; return them logged in.

    Args:
        url, admin_token: as `invitation` takes them.
        password: at least 8 characters that Django does not find too common.

    Raises:
        AnnotatorError: the address is not reached, the token is refused, or the form is (the
            e-mail is taken, the password too weak); the text holds status and answer.
    """
    return sign_up_at(invitation(url, admin_token), email, password)


def sign_up_at(link: str, email: str, password: str) -> Annotator:
    """`sign_up`, by a link that people were given."""
    url = str(httpx.URL(link).copy_with(raw_path=b"/")).rstrip("/")
    session = httpx.Client(base_url=url, timeout=TIMEOUT)
    try:
        _send(session, "GET", link)
        form = {
            "email": email,
            "password": password,
            "allow_newsletters": "false",
            "csrfmiddlewaretoken": session.cookies["csrftoken"],
        }
        answer = _send(session, "POST", link, form=form, also=httpx.codes.FOUND)
        if answer.status_code != httpx.codes.FOUND:
            # A form that was refused comes back with 200 and the reasons in the page.
            raise AnnotatorError(f"{email} could not sign up at {url}: {_reasons(answer.text)}")
        me = _json(_send(session, "GET", "/api/current-user/whoami"))
        return Annotator(email, int(me["id"]), session)
    except BaseException:
        session.close()
        raise


def _send(
    session: httpx.Client,
    method: str,
    path: str,
    content: Json | None = None,
    form: dict[str, str] | None = None,
    also: int | None = None,
) -> httpx.Response:
    """Send one request as a browser session; accept 2xx and `also`."""
    headers = {"Referer": str(session.base_url)}
    if "csrftoken" in session.cookies:
        headers["X-CSRFToken"] = session.cookies["csrftoken"]
    for attempt in range(_ATTEMPTS):
        try:
            answer = session.request(method, path, json=content, data=form, headers=headers)
        except httpx.TransportError as error:
            raise AnnotatorError(
                f"{method} {session.base_url}{path} got no answer: {error!r}"
            ) from error
        if method != "GET" or not answer.is_server_error or attempt == _ATTEMPTS - 1:
            break
        time.sleep(1)
    if not answer.is_success and answer.status_code != also:
        raise AnnotatorError(f"{method} {answer.url} got {answer.status_code}: {answer.text[:300]}")
    return answer


def _json(answer: httpx.Response) -> Json:
    try:
        content: Json = answer.json()
    except ValueError as error:
        raise AnnotatorError(f"{answer.url} answered no JSON: {answer.text[:300]}") from error
    return content


def _annotations(task_id: int) -> str:
    return f"/api/tasks/{task_id}/annotations/"


def _reasons(page: str) -> str:
    """Return what the sign-up page says is wrong with the form."""
    lists = re.findall(r'class="(?:field_errors|error)">(.*?)</(?:ul|p)>', page, re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", " ", text) for text in lists).split()
    return html.unescape(" ".join(words)) or "the sign-up page gives no reason"
