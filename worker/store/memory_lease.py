"""The lease of a ledger in memory: who may import now, and which imports may be under way."""

from __future__ import annotations

import time
from collections.abc import Sequence


class MemoryLease:
    """What `worker.store.lease` promises; whoever calls holds the ledger's lock."""

    def __init__(self) -> None:
        self._lease: tuple[str, float] | None = None
        self._turn: str | None = None  # who took it last
        self._doubt_until: dict[int, float] = {}

    def take(self, holder: str, ttl_ms: int) -> bool:
        now = time.monotonic()
        if self._lease and self._lease[0] != holder and self._lease[1] > now:
            return False
        self._lease = (holder, now + ttl_ms / 1000)
        self._turn = holder
        return True

    def keep(self, holder: str, ttl_ms: int) -> bool:
        if self._turn != holder:
            return False
        self._lease = (holder, time.monotonic() + ttl_ms / 1000)
        return True

    def prolong(self, holder: str, ttl_ms: int) -> bool:
        """Keep it for `ttl_ms` more unless it ran out."""
        now = time.monotonic()
        if self._lease is None or self._lease[0] != holder or self._lease[1] <= now:
            return False
        self._lease = (holder, now + ttl_ms / 1000)
        return True

    def drop(self, holder: str) -> None:
        if self._lease and self._lease[0] == holder:
            self._lease = None

    def release(self, process: str) -> bool:
        now = time.monotonic()
        if self._lease is None or self._lease[1] <= now:
            return False
        if not self._lease[0].startswith(f"{process}-"):
            return False
        self._lease = None
        return True

    def doubt(self, claims: Sequence[int], ttl_ms: int) -> None:
        until = time.monotonic() + ttl_ms / 1000
        self._doubt_until |= dict.fromkeys(claims, until)

    def in_doubt(self, claims: Sequence[int]) -> frozenset[int]:
        now = time.monotonic()
        return frozenset(c for c in claims if self._doubt_until.get(c, now) > now)
