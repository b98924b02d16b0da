"""The receiver: checks the secret, wakes the assessment, answers at once.

Label Studio delivers inside the annotator's request and never again, so the answer must be quick;
and what it says is only a hint: nothing in a webhook is believed.
"""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from connector.project import SECRET_HEADER

log = logging.getLogger(__name__)

# A wake-up carries no payload, only its action; whoever sends more than this is not our webhook.
LARGEST_BODY = 64_000
LARGEST_DEPTH = 32

# Writing progress into the project fires PROJECT_UPDATED: an echo of ourselves.
_WAKING = {
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_CREATED",
    "TASKS_DELETED",
}


def receiver(secret: str, wake: Callable[[str], bool]) -> Starlette:
    """Return the receiver's application.

    Args:
        secret: what Label Studio must send in the header `X-Assay-Secret`.
        wake: asks for a turn of an assessment; returns False if there is no such assessment, and
            raises OSError or a library's error when it cannot.
    """
    if not secret:
        raise ValueError("the receiver needs a secret; without one anybody could wake it")

    async def hook(request: Request) -> Response:
        given = request.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), secret.encode()):
            return JSONResponse({"error": f"the header {SECRET_HEADER} is wrong"}, 401)
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    return JSONResponse({"error": "the body is too large"}, 413)
        except ClientDisconnect:  # nobody is there to be answered, and no fault of ours
            return JSONResponse({"error": "the body was cut off"}, 400)
        if _is_deeper(body, LARGEST_DEPTH):
            return JSONResponse({"error": "the body is nested too deeply"}, 400)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the body is not JSON"}, 400)
        action = payload.get("action") if isinstance(payload, dict) else None
        if not isinstance(action, str) or action not in _WAKING:
            told = str(action)[:80].encode("ascii", "backslashreplace").decode()
            return JSONResponse({"ignored": told[:80]})
        assessment = request.path_params["assessment"]
        try:
            is_known = await run_in_threadpool(wake, assessment)
        except Exception:
            # Nothing is lost: the watcher asks Label Studio in any case.
            log.exception("a webhook for %s could not be passed on", assessment)
            return JSONResponse({"error": "the server behind the receiver is away"}, 503)
        if not is_known:
            return JSONResponse({"error": f"no assessment {assessment}"}, 404)
        return JSONResponse({"woken": assessment})

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "up"})

    return Starlette(
        routes=[
            Route("/hook/{assessment}", hook, methods=["POST"]),
            Route("/healthz", health),
        ]
    )


def _is_deeper(body: bytes | bytearray, depth: int) -> bool:
    """Whether arrays and objects lie more than `depth` deep in a JSON text."""
    level, is_text, is_escaped = 0, False, False
    for byte in body:
        if is_text:
            is_text = is_escaped or byte != 0x22  # a quotation mark
            is_escaped = not is_escaped and byte == 0x5C  # a backslash
        elif byte == 0x22:
            is_text = True
        elif byte in b"[{":
            level += 1
            if level > depth:
                return True
        elif byte in b"]}":
            level -= 1
    return False


def hook_url(base: str, assessment: str) -> str:
    """The address that Label Studio is told to call."""
    return f"{base.rstrip('/')}/hook/{assessment}"
