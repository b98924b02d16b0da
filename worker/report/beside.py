"""Write a report in a process beside: it loads what draws while this one counts."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from connector.tethered import tie_to
from worker.errors import AssayError

if TYPE_CHECKING:
    from worker.report.contents import Report


class WriterGone(AssayError):
    """Somebody else ended the process that writes."""

    def __init__(self, code: int | None) -> None:
        super().__init__(
            f"the process that writes the report was ended from outside (exit code {code}), "
            "perhaps for want of memory; nothing is lost: ask for the report again"
        )


@contextmanager
def writer() -> Iterator[Callable[[Report, Path, str], Path]]:
    """Begin the process; what is yielded is `worker.report.page.write_report`, done over there.

    Only for the main thread, which the signals go to.

    Raises:
        WriterGone: by what is yielded.
    """
    fresh = get_context("spawn")  # a copy of a process with threads or connections could hang
    ours, theirs = fresh.Pipe()
    beside = fresh.Process(target=_write, args=(theirs, os.getpid()))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it inherits this: Ctrl-C is ours
    try:
        beside.start()
    finally:
        signal.signal(signal.SIGINT, before)
    theirs.close()

    def write(report: Report, folder: Path, stem: str) -> Path:
        try:
            ours.send((report, folder, stem))
            done: Path | Exception = ours.recv()
        except (EOFError, ConnectionError):
            beside.join()
            raise WriterGone(beside.exitcode) from None
        if isinstance(done, Exception):
            raise done
        return done

    try:
        yield write
    finally:
        ours.close()
        beside.join()


def _write(told: Connection, parent: int) -> None:
    """Write one report, or none if the other process ends without asking for one."""
    tie_to(parent)
    gc.disable()  # for one page no cycle is worth looking for, and none after it
    atexit.register(gc.freeze)
    from worker.report.page import get_ready, write_report

    get_ready()
    with suppress(EOFError, ConnectionError):
        asked = told.recv()
        try:
            told.send(write_report(*asked))
        except Exception as error:
            told.send(error)
