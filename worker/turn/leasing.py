"""Who takes a turn has the assessment's lease: nobody else takes one meanwhile.

The lease is short, so that a worker that was killed is soon replaced, and is renewed while the turn
gets on. A turn that hangs loses it, as one that died does: it asks before it imports.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

from redis.exceptions import RedisError

from worker.errors import AssayError
from worker.store.lease import LeaseStore

# How long a worker that died keeps others from its turn.
LEASE_MS = 5_000
BEAT_S = 1.0
# How long one step of a turn may take; longer than any request that writes
# (connector.desk.WRITE_TIMEOUT_S).
STEP_S = 20.0
AGAIN_S = 0.2


class LeaseLost(AssayError):
    """This turn took too long; who takes the next one looks up what it left behind."""

    def __init__(self, assessment: str) -> None:
        super().__init__(
            f"a turn of {assessment} stood still for {STEP_S:.0f} s, or its process for "
            f"{LEASE_MS / 1000:.0f} s, so that another worker may be at it, or another server "
            "took over meanwhile; the next turn goes on"
        )


class Lease:
    """The lease of one turn, which is its holder; no other turn may use the name."""

    def __init__(self, store: LeaseStore, holder: str) -> None:
        self._store, self._holder = store, holder
        self._until = time.monotonic() + STEP_S

    def hold(self) -> None:
        """Hold it for another step: reading and thinking may have taken longer than it lasts.

        A server that took over meanwhile and does not know this turn lacks what was read, and
        perhaps claims: whoever chose by what it knows could send again what lies before the
        annotators.

        Raises:
            LeaseLost: another worker may import now.
        """
        if not self._store.keep_lease(self._holder, LEASE_MS):
            raise LeaseLost(self._store.assessment)
        self._until = time.monotonic() + STEP_S

    def begin_import(self, claims: Sequence[int], doubt_ms: int) -> int:
        """Hold it for an import, put its claims in doubt, and return the number of its reading.

        To take the lease anew would not do: if it ran out, another may have imported these and
        gone.

        Raises:
            LeaseLost.
        """
        reading = self._store.begin_import(self._holder, LEASE_MS, claims, doubt_ms)
        if not reading:
            raise LeaseLost(self._store.assessment)
        self._until = time.monotonic() + STEP_S
        return reading

    def beat(self, over: Event) -> None:
        """Renew it until the turn is over, while its step may last."""
        while not over.wait(BEAT_S):
            if time.monotonic() < self._until:
                with suppress(RedisError):  # the turn finds out by itself
                    self._store.keep_lease(self._holder, LEASE_MS)


@contextmanager
def leased(store: LeaseStore, holder: str) -> Iterator[Lease | None]:
    """Take the lease, and give it back however the turn ends; None if another has it.

    Raises:
        RedisError: the server is away for longer than a step may take.
    """
    if not store.take_lease(holder, LEASE_MS):
        yield None
        return
    lease, over = Lease(store, holder), Event()
    beating = Thread(target=lease.beat, args=(over,), name=f"lease {holder}", daemon=True)
    beating.start()
    try:
        yield lease
    finally:
        over.set()
        beating.join()  # a beat after it was given back would take it again
        _give_back(store, holder)


def _give_back(store: LeaseStore, holder: str) -> None:
    """Where the server is away, as soon as it is back: it remembers the lease of a broken turn."""
    is_over_at = time.monotonic() + STEP_S
    while True:
        try:
            return store.drop_lease(holder)
        except RedisError:
            if time.monotonic() >= is_over_at:
                raise
            time.sleep(AGAIN_S)
