"""A worker's process that dies or stalls at one of its calls, or whose import is never answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import current_thread
from typing import Any, Literal

from connector.errors import InDoubt

Fate = Literal["dies before", "dies after", "stalls before", "stalls after"]
FATES: tuple[Fate, ...] = ("dies before", "dies after", "stalls before", "stalls after")
Import = Literal["never arrives", "arrives"]


class Killed(BaseException):
    """The process is gone, and so is whatever it would have done."""


@dataclass(slots=True)
class Process:
    """One worker's process, to which something happens at its `at`-th call of ledger or desk.

    calls: the names of its calls so far.
    stalled: what happens to the world while this process does not run. It outlasts the lease.
    lost: what becomes of an import of this process; in either case its answer never comes.
    """

    fate: Fate | None = None
    at: int = 0
    stalled: Callable[[], None] = lambda: None
    lost: Import | None = None
    calls: list[str] = field(default_factory=list)
    is_dead: bool = False

    def does(self, name: str, call: Callable[[], Any]) -> Any:
        if current_thread().name.startswith("lease "):
            # A beat comes when it comes: it is no step of the turn, and ends with the process.
            return None if self.is_dead else call()
        if self.is_dead:
            raise Killed
        self.calls.append(name)
        if self.fate is None or len(self.calls) != self.at:
            return call()
        if self.fate == "stalls before":
            self.stalled()
            return call()
        if self.fate == "stalls after":
            result = call()
            self.stalled()
            return result
        if self.fate == "dies after":
            call()
        self.is_dead = True
        raise Killed

    def imports(self, put: Callable[..., Any]) -> Callable[..., Any]:
        """The desk's `put`, whose answer may be lost."""

        def put_or_doubt(*args: Any) -> Any:
            if self.lost is None:
                return put(*args)
            if self.lost == "arrives":
                put(*args)
            raise InDoubt("http://fake", "the answer never came")

        return put_or_doubt


class Frail:
    """A ledger or desk as a process sees it that can die or stall at each of its calls."""

    def __init__(self, within: object, process: Process) -> None:
        self._within, self._process = within, process

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._within, name)
        if not callable(found):
            return found
        if name == "put":
            found = self._process.imports(found)
        return lambda *args, **named: self._process.does(
            name, lambda: _all_of(found(*args, **named))
        )


def _all_of(answer: Any) -> Any:
    # What a generator does belongs to the call, or the process could not die in it.
    return list(answer) if isinstance(answer, Iterator) else answer
