"""How a command that goes on until it is told to end is ended, wherever it is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

# What a shell says of a program that Ctrl-C ended, and of one that ended well.
CODES = {signal.SIGINT: 130, signal.SIGTERM: 0}


@contextmanager
def ended_by_signals() -> Iterator[Event]:
    """Leave the block at Ctrl-C or SIGTERM, with an exit code; the event is set then.

    What is under way ends on the way out, and later signals do not disturb that.

    Raises:
        SystemExit: there was a signal.
    """
    stop, said = Event(), list[int]()

    def end(number: int, _frame: FrameType | None) -> None:
        for one in CODES:
            signal.signal(one, lambda *_: None)
        said.append(CODES[signal.Signals(number)])
        stop.set()
        raise SystemExit(said[0])

    for one in CODES:
        signal.signal(one, end)
    yield stop
    if said:  # Python drops what is raised while it clears memory up
        raise SystemExit(said[0])
