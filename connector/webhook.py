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
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from connector.project import SECRET_HEADER

log = logging.getLogger(__name__)

# A wake-up carries no payload; whoever sends more than this is not our webhook.
LARGEST_BODY = 1_000_000

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
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_BODY:
                return JSONResponse({"error": "the body is too large"}, 413)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the body is not JSON"}, 400)
        action = payload.get("action") if isinstance(payload, dict) else None
        if not isinstance(action, str) or action not in _WAKING:
            return JSONResponse({"ignored": str(action)[:80]})
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


def hook_url(base: str, assessment: str) -> str:
    """The address that Label Studio is told to call."""
    return f"{base.rstrip('/')}/hook/{assessment}"
