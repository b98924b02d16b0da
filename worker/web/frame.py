"""What is around every page: the session, the messages, the fields of a form."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from worker.service.context import NoSuchAssessment
from worker.web.pages import templates
from worker.web.security import Gate

LARGEST_FORM = 10_000


class Frame:
    """Renders templates for the person who asks."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._templates = templates()

    def render(self, template: str, values: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(values)

    def page(
        self, request: Request, template: str, title: str, code: int = 200, **values: Any
    ) -> Response:
        csrf = self._gate.csrf(request)
        offered = self._gate.token is not None and request.url.path != "/login"
        shown = {
            "title": title,
            "csrf": csrf,
            "session": "open" if csrf else "none" if offered else "",
            "next": "",
            "steer": False,
        }
        if "part" in values:
            values["part"] = Markup(values["part"])
        return HTMLResponse(self.render(template, shown | values), code)

    async def failed(self, request: Request, error: Exception) -> Response:
        """Every expected error as a page, or as text for who does not read pages."""
        code, text = 409, str(error)
        if isinstance(error, HTTPException):
            code, text = error.status_code, error.detail
        elif isinstance(error, NoSuchAssessment):
            code = 404
        elif isinstance(error, RedisError):
            code, text = 503, "The server that keeps the state is away; try again in a moment."
        if "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse(text, code)
        assessment = request.path_params.get("assessment")
        back = f"/a/{assessment}" if assessment and code == 409 else "/"
        return self.page(request, "message.j2", f"Error {code}", code, text=text, back=back)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                raise HTTPException(413, "The form is too large.")
    except ClientDisconnect:  # nobody is there to be answered, and no fault of ours
        raise HTTPException(400, "The form was cut off.") from None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
