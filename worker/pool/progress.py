"""Says how far a long piece of work is, and nothing of a short one."""

import time
from collections.abc import Callable

_FIRST_S, _NEXT_S = 2.0, 5.0


class Progress:
    """Passes on what it is told, every five seconds once two have passed."""

    def __init__(
        self, say: Callable[[str], None] | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._due = clock() + _FIRST_S

    def at(self, text: str) -> None:
        """Say it, if it is time to say something."""
        now = self._clock()
        if self._say is not None and now >= self._due:
            self._due = now + _NEXT_S
            self._say(f"{text} ...")
