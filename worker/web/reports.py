"""The reports of an assessment: their files, and the button that makes one."""

from __future__ import annotations

import asyncio
import logging

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from worker.errors import AssayError
from worker.report.index import report_file
from worker.report.making import claim, make_claimed
from worker.report.templating import policy
from worker.web.status_cache import StatusCache

log = logging.getLogger(__name__)


class Reports:
    """Serves reports, and makes those that are asked for, beside the pages."""

    def __init__(self, cache: StatusCache) -> None:
        self._cache = cache
        self._making: set[asyncio.Task[None]] = set()
        self.failed: dict[str, str] = {}  # assessment -> why the last one was not made

    async def file(self, request: Request) -> Response:
        """A report, or what lies beside it to be kept: its JSON and CSV."""
        assessment, name = request.path_params["assessment"], request.path_params["name"]
        folder = await run_in_threadpool(self._cache.reports, assessment)
        path = await run_in_threadpool(report_file, folder, name)
        if path is None:
            raise HTTPException(404, f"{assessment} has no report {name!r}.")
        # A report is one file; it runs the script that sorts its tables, and sends nothing.
        allowed = f"{policy()}; frame-ancestors 'none'"
        kept_as = None if path.suffix == ".html" else path.name
        return FileResponse(path, headers={"Content-Security-Policy": allowed}, filename=kept_as)

    async def make(self, assessment: str) -> None:
        """Begin to make a report, unless somebody makes one."""
        mine = await run_in_threadpool(self._claimed, assessment)
        if mine is not None:
            task = asyncio.create_task(run_in_threadpool(self._make, assessment, mine))
            self._making.add(task)  # or nobody would hold it
            task.add_done_callback(self._making.discard)

    def _claimed(self, assessment: str) -> str | None:
        self._cache.context.header(assessment)
        ledger = self._cache.context.ledger(assessment)
        return claim(ledger, ledger.metadata())

    def _make(self, assessment: str, mine: str) -> None:
        try:
            make_claimed(self._cache.context, assessment, mine)
            self.failed.pop(assessment, None)
        except Exception as error:
            self.failed[assessment] = f"{type(error).__name__}: {error}"
            is_known = isinstance(error, AssayError | OSError)
            log.warning("%s: no report could be made: %s", assessment, error, exc_info=not is_known)
