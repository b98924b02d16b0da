"""Server-sent events: one look at the ledger every half second, however many are watching."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from redis.exceptions import RedisError
from starlette.concurrency import run_in_threadpool

from worker.errors import AssayError

LOOK_S = 0.5
# Proxies and browsers close what is silent.
SILENCE_S = 15.0
AWAY = "away"


class Feed:
    """Tells any number of readers that something changed; looks only while there are some."""

    def __init__(self, look: Callable[[], str], is_ending: Callable[[], bool]) -> None:
        """
        Args:
            look: blocking; returns a text that differs after every change.
            is_ending: whether the process wants to end; then the readers are sent away.
        """
        self._look, self._is_ending = look, is_ending
        self._mark = ""
        self._changed = asyncio.Event()
        self._readers = 0
        self._looking: asyncio.Task[None] | None = None

    async def events(self) -> AsyncIterator[str]:
        """The stream for one reader: `change` with the mark, `away` while the server is."""
        self._readers += 1
        told, spoke = "", time.monotonic()
        yield "retry: 2000\n\n"
        try:
            while not self._is_ending():
                if self._mark != told:
                    told, spoke = self._mark, time.monotonic()
                    kind = AWAY if told == AWAY else "change"
                    yield f"event: {kind}\ndata: {told}\n\n"
                elif time.monotonic() - spoke > SILENCE_S:
                    spoke = time.monotonic()
                    yield ": still here\n\n"
                await self._next_look()
        finally:
            self._readers -= 1

    async def _next_look(self) -> None:
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), 1.0)

    async def _keep_looking(self) -> None:
        try:
            while self._readers and not self._is_ending():
                began = time.monotonic()
                mark = await run_in_threadpool(self._look_once)
                if mark != self._mark:
                    self._mark = mark
                    self._changed.set()
                    self._changed = asyncio.Event()
                # A look that takes long must not take more than a third of a processor.
                await asyncio.sleep(max(LOOK_S, 2 * (time.monotonic() - began)))
        finally:
            self._looking = None

    def _look_once(self) -> str:
        try:
            return self._look()
        except RedisError:
            return AWAY
        except AssayError:
            return f"error {int(time.time() / 5)}"  # the page says which
