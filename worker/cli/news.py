"""What `assay up` says while it runs: a line when something changed, seldom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from redis.exceptions import RedisError

from worker.cli.parts import printable
from worker.errors import AssayError
from worker.formats import counted
from worker.report.scheduled import final_report
from worker.report.status import status_of
from worker.service.context import Context
from worker.store.glances import Glance, glances

EVERY_S = 10.0


class News:
    """Tells of every assessment what it was not told before; of those that had ended, nothing."""

    def __init__(self, context: Context, say: Callable[[str], None]) -> None:
        """
        Args:
            context: one that does not wait for a server that is away: it is started again by who
                waits for us.
        """
        self._context, self._say = context, say
        self._looked_at = float("-inf")
        self._seen: dict[str, tuple[object, ...]] = {}
        self._told: dict[str, list[str]] = {}

    def look(self) -> None:
        """Look at what changed, unless that was a moment ago; to be called every now and then."""
        if time.monotonic() - self._looked_at < EVERY_S:
            return
        is_first, self._looked_at = not self._seen, time.monotonic()
        try:
            for one, glance in glances(self._context.state, self._context.ids()):
                if isinstance(glance, Glance) and self._has_changed(one, glance):
                    if is_first and glance.status == "stopped":
                        continue
                    self._tell(one)
        except RedisError:  # it is started again, or its own processes say what it lacks
            pass

    def _has_changed(self, assessment: str, glance: Glance) -> bool:
        now = (glance.status, glance.cursor_us, glance.decided_at, glance.report_slot)
        before = self._seen.get(assessment)
        self._seen[assessment] = now
        return glance.header is not None and now != before

    def _tell(self, assessment: str) -> None:
        try:
            lines = list(self._lines(assessment))
        except AssayError:
            return  # the workers say it
        for line in lines:
            if line not in self._told.get(assessment, ()):
                self._say(printable(line))
        self._told[assessment] = lines

    def _lines(self, assessment: str) -> Iterator[str]:
        context = self._context
        status = status_of(context, assessment)
        if status.status != "stopped":
            if status.labels:
                by = counted(status.annotators, "annotator")
                paused = " (paused)" if status.status == "paused" else ""
                labels = counted(status.labels, "label")
                yield f"{assessment}{paused}: {labels} by {by}. {status.text}"
            return
        yield f"{assessment} is decided. {status.text}"
        file = context.folder(assessment) / "decision.json"
        if file.exists():
            yield f"The decision of {assessment} with its evidence: {file}"
        page = final_report(context, status.header, context.ledger(assessment).metadata())
        if page is not None:
            yield f"The report of {assessment}: {page}"
