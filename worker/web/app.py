"""The application of `assay serve`: receiver, pages, metrics and health on one port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from redis.exceptions import RedisError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from worker.errors import AssayError
from worker.setup import lifecycle
from worker.web.frame import Frame, form_of
from worker.web.health import unready
from worker.web.live import Feed
from worker.web.metrics import exposition
from worker.web.pages import detail, overview
from worker.web.plan_maker import PlanMaker
from worker.web.reports import Reports
from worker.web.security import Gate, Guarded
from worker.web.sessions import Sessions
from worker.web.signed_out import SignedOut
from worker.web.status_cache import StatusCache


class Site:
    """The pages of one process; what is rendered is kept until something changes."""

    def __init__(self, cache: StatusCache, gate: Gate, is_ending: Callable[[], bool]) -> None:
        self._cache, self._gate, self._is_ending = cache, gate, is_ending
        self.frame, self._reports = Frame(gate), Reports(cache)
        self._parts: dict[tuple[str, bool], tuple[str, str]] = {}  # of which page -> mark, HTML
        self._rendering: defaultdict[str, Lock] = defaultdict(Lock)
        self._feeds: dict[str, Feed] = {}
        self.signed_out = SignedOut(cache.context.state)

    def routes(self) -> list[Route]:
        one, sessions = "/a/{assessment}", Sessions(self.frame, self._gate, self.signed_out)
        return [
            Route("/", self.all_page),
            Route("/part", self.all_part),
            Route("/live", self.all_live),
            Route(one, self.page),
            Route(f"{one}/part", self.part),
            Route(f"{one}/live", self.live),
            Route(f"{one}/status.json", self.status),
            Route(f"{one}/reports/{{name}}", self._reports.file),
            Route(f"{one}/{{action:str}}", self.steer, methods=["POST"]),
            *PlanMaker(self._cache.context, self.frame, self._gate).routes(),
            Route("/login", sessions.form),
            Route("/login", sessions.login, methods=["POST"]),
            Route("/logout", sessions.logout, methods=["POST"]),
            Route("/metrics", self.metrics),
            Route("/readyz", self.ready),
        ]

    # --- all assessments ---------------------------------------------------------------------

    async def all_page(self, request: Request) -> Response:
        part = await run_in_threadpool(self._all_part)
        return self.frame.page(
            request, "page.j2", "Assay", part=part, live="/live", part_url="/part"
        )

    async def all_part(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._all_part))

    async def all_live(self, request: Request) -> Response:
        return self._stream("", self._all_mark)

    def _all_mark(self) -> str:
        marks = self._cache.context.each(self._cache.mark)
        return " ".join(f"{one} {mark}" for one, mark in marks)

    def _all_part(self) -> str:
        return self._kept("", False, self._all_mark(), "all.j2", lambda: overview(self._cache))

    # --- one assessment ----------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        assessment, can_steer = request.path_params["assessment"], self._can_steer(request)
        part = await run_in_threadpool(self._part, assessment, can_steer)
        url = f"/a/{assessment}"
        return self.frame.page(
            request,
            "page.j2",
            f"{assessment} - Assay",
            part=part,
            live=f"{url}/live",
            part_url=f"{url}/part",
            steer=can_steer,
            next=url,
        )

    async def part(self, request: Request) -> Response:
        assessment, can_steer = request.path_params["assessment"], self._can_steer(request)
        return HTMLResponse(await run_in_threadpool(self._part, assessment, can_steer))

    async def live(self, request: Request) -> Response:
        assessment = request.path_params["assessment"]
        await run_in_threadpool(self._cache.mark, assessment)  # 404 before the stream begins
        return self._stream(assessment, lambda: self._ready_mark(assessment))

    def _ready_mark(self, assessment: str) -> str:
        """Have the page rendered before its readers hear of it."""
        for key in [key for key in self._parts if key[0] == assessment]:
            self._part(*key)
        return self._cache.mark(assessment)

    async def status(self, request: Request) -> Response:
        status = await run_in_threadpool(self._cache.status, request.path_params["assessment"])
        return JSONResponse(status.as_json())

    def _part(self, assessment: str, can_steer: bool) -> str:
        mark = self._cache.mark(assessment)
        return self._kept(
            assessment,
            can_steer,
            mark,
            "one.j2",
            lambda: (
                detail(self._cache, assessment)
                | {"can_steer": can_steer, "has_token": self._gate.token is not None}
                | {"report_failed": self._reports.failed.get(assessment, "")}
            ),
        )

    async def steer(self, request: Request) -> Response:
        assessment, action = request.path_params["assessment"], request.path_params["action"]
        if action not in ("pause", "resume", "stop", "report"):
            there_is = "there is pause, resume, stop, report"
            raise HTTPException(404, f"There is no action {action!r}; {there_is}")
        form = await form_of(request)
        if not self._gate.may_steer(request, form.get("csrf", "")):
            raise HTTPException(403, "Sign in with ASSAY_DASHBOARD_TOKEN first; nothing was done.")
        more = form.get("more", "50")
        # More digits than the largest has are no number to read: int() itself refuses thousands.
        if not more.isdecimal() or len(more) > 7 or not 1 <= int(more) <= 1_000_000:
            raise HTTPException(400, f"Labels to add: came {more[:20]!r}, expected 1 to 1,000,000.")
        context = self._cache.context
        if action == "report":
            await self._reports.make(assessment)
            return RedirectResponse(f"/a/{assessment}#reports", 303)
        if action == "resume":
            await run_in_threadpool(lifecycle.resume, context, assessment, int(more))
        else:
            await run_in_threadpool(getattr(lifecycle, action), context, assessment)
        return RedirectResponse(f"/a/{assessment}", 303)

    # --- sessions, metrics, health -----------------------------------------------------------

    async def metrics(self, request: Request) -> Response:
        body, kind = await run_in_threadpool(exposition, self._cache)
        return Response(body, media_type=kind)

    async def ready(self, request: Request) -> Response:
        missing = await run_in_threadpool(unready, self._cache.context)
        return JSONResponse({"ready": not missing, "missing": missing}, 503 if missing else 200)

    # --- inside ------------------------------------------------------------------------------

    def _can_steer(self, request: Request) -> bool:
        return bool(self._gate.csrf(request))

    def _kept(
        self, page: str, can_steer: bool, mark: str, template: str, values: Callable[[], Any]
    ) -> str:
        key = (page, can_steer)
        kept = self._parts.get(key)
        if kept is None or kept[0] != mark:
            with self._rendering[page]:  # one thread renders, the others wait for it
                kept = self._parts.get(key)
                if kept is None or kept[0] != mark:
                    kept = self._parts[key] = mark, self.frame.render(template, values())
        return kept[1]

    def _stream(self, page: str, look: Callable[[], str]) -> Response:
        feed = self._feeds.setdefault(page, Feed(look, self._is_ending))
        return StreamingResponse(feed.events(), media_type="text/event-stream")


def website(
    cache: StatusCache, gate: Gate, receiver: ASGIApp, is_ending: Callable[[], bool]
) -> Starlette:
    """Return the application: the pages, and the receiver under everything else.

    Args:
        receiver: answers /hook/... and /healthz.
        is_ending: whether the process wants to end; live pages are then let go.
    """
    site = Site(cache, gate, is_ending)
    static = StaticFiles(directory=Path(__file__).parent / "static")
    return Starlette(
        routes=[*site.routes(), Mount("/static", static), Mount("/", receiver)],
        middleware=[Middleware(Guarded, gate=gate, signed_out=site.signed_out.has)],
        exception_handlers={
            HTTPException: site.frame.failed,
            AssayError: site.frame.failed,
            RedisError: site.frame.failed,
        },
    )
