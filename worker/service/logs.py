"""What processes write to stderr while they run: text for people, or one JSON object a line.

What a worker is at (assessment, revision, job) is in every line that is written meanwhile, also by
libraries; nobody passes it along.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

Format = Literal["text", "json"]

_at: ContextVar[dict[str, str | int]] = ContextVar("at", default={})  # noqa: B039 (never changed)


@contextmanager
def at_work(**on: str | int) -> Iterator[None]:
    """Say in every line that is written meanwhile what it is about."""
    before = _at.set(_at.get() | on)
    try:
        yield
    finally:
        _at.reset(before)


def now_at(**on: str | int) -> None:
    """Say it from now on, until the `at_work` around it ends; without one, never."""
    if before := _at.get():  # else nobody would ever take it back
        _at.set(before | on)


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Keys: `time` (ISO 8601, UTC, milliseconds), `level`, `logger`, `message`; of a turn
    `assessment`, `revision`, `job`; numbers given as `extra={"facts": {...}}`; of an exception
    `error` (its class) and `traceback`.
    """

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": when.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= _at.get() | getattr(record, "facts", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Seldom(logging.Filter):
    """Lets a few lines of a kind through in a minute, and then says how many were left out.

    For loggers whose lines strangers cause: nobody is to fill the disk with them.
    """

    AT_ONCE = 5
    PERIOD_S = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, tuple[float, int]] = {}  # template -> since when, how many

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = str(record.msg).partition("\n")[0], time.monotonic()
        since, n = self._kinds.get(kind, (now, 0))
        if now - since >= self.PERIOD_S:
            since, left_out, n = now, n - self.AT_ONCE, 0
            if left_out > 0:
                record.msg = f"{record.getMessage()} (and {left_out} more like it)"
                record.args = ()
        if len(self._kinds) > 100:  # templates are the libraries', and few
            self._kinds.clear()
        self._kinds[kind] = since, n + 1
        return n < self.AT_ONCE


def write_seldom(*loggers: str) -> None:
    """Bound what these loggers write."""
    for name in loggers:
        logger = logging.getLogger(name)
        if not any(isinstance(known, Seldom) for known in logger.filters):
            logger.addFilter(Seldom())


def write_logs(form: Format) -> None:
    """Write the logs of this process to stderr from now on.

    As JSON they also have what happens every day (a turn that was taken), every warning of Python
    and the exception that ends the process, so that each line is an object.
    """
    handler = logging.StreamHandler()
    if form == "json":
        handler.setFormatter(JsonLines())
        logging.captureWarnings(True)
        sys.excepthook = _last_words
        threading.excepthook = lambda end: _last_words(
            end.exc_type, end.exc_value, end.exc_traceback
        )
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=form == "json")
    # Only our own: httpx, for one, would tell of every request.
    for ours in ("connector", "worker"):
        logging.getLogger(ours).setLevel(logging.INFO if form == "json" else logging.NOTSET)


def are_json() -> bool:
    """Whether logs are JSON, so that nothing else may be written to stderr."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.root.handlers)


def _last_words(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    known = None if error is None else (kind, error, trace)
    logging.getLogger("worker").critical("%s: %s", kind.__name__, error, exc_info=known)
