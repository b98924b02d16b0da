"""What every target is held to: it ends, and its errors are sentences of sensible length."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_S = 20  # a hundred times what the slowest good input takes
LONGEST_MESSAGE = 20_000


class Hung(BaseException):
    """It took longer than anything may take."""


@contextmanager
def bounded() -> Iterator[None]:
    """Interrupt what hangs; only in the main thread."""

    def stop(*_: object) -> None:
        raise Hung(f"it did not end within {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_told(error: Exception) -> None:
    """Hold an error's text to what a terminal and a log can take."""
    text = str(error)
    assert text, "an error without a word"
    assert text.encode()
    assert len(text) <= LONGEST_MESSAGE, f"a message of {len(text)} characters"
