"""Who takes a turn has the assessment's lease: nobody else takes one meanwhile.

The lease is short, so that a worker that was killed is soon replaced, and is renewed while the turn
gets on. A turn that hangs loses it, as one that died does: it asks before it imports.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, Thread

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
        self._renew_from = time.monotonic() + BEAT_S
        self._until = time.monotonic() + STEP_S
        self._is_over, self._renewing = False, Lock()

    def hold(self, step_s: float = STEP_S) -> None:
        """Hold it for another step: reading and thinking may have taken longer than it lasts.

        A server that took over meanwhile and does not know this turn lacks what was read, and
        perhaps claims: whoever chose by what it knows could send again what lies before the
        annotators.

        Args:
            step_s: how long the step may take.

        Raises:
            LeaseLost: another worker may import now.
        """
        if not self._store.keep_lease(self._holder, LEASE_MS):
            raise LeaseLost(self._store.assessment)
        self._until = time.monotonic() + step_s

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

    def renew(self) -> None:
        """Renew it, while the turn gets on: until its step may not last any longer."""
        with self._renewing:
            if not self._is_over and self._renew_from <= time.monotonic() < self._until:
                with suppress(RedisError):  # the turn finds out by itself
                    self._store.keep_lease(self._holder, LEASE_MS)

    def give_back(self) -> None:
        """Where the server is away, as soon as it is back: it remembers that of a broken turn.

        Raises:
            RedisError: the server is away for longer than a step may take.
        """
        with self._renewing:  # renewed after it was given back it would be taken again
            self._is_over = True
        is_over_at = time.monotonic() + STEP_S
        while True:
            try:
                return self._store.drop_lease(self._holder)
            except RedisError:
                if time.monotonic() >= is_over_at:
                    raise
                time.sleep(AGAIN_S)


class _Renewer:
    """Renews the leases of this process's turns, in one thread that ends when there are none.

    A thread for each turn is as dear as five calls of the server to start and to see end, and where
    the cores are busy as fifty.
    """

    def __init__(self) -> None:
        self._lock, self._leases = Lock(), set[Lease]()
        self._thread: Thread | None = None

    def begin(self, lease: Lease) -> None:
        with self._lock:
            self._leases.add(lease)
            if self._thread is None or not self._thread.is_alive():  # a fork leaves it behind
                self._thread = Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()

    def end(self, lease: Lease) -> None:
        with self._lock:
            self._leases.discard(lease)

    def _run(self) -> None:
        while True:
            time.sleep(BEAT_S)
            with self._lock:
                leases = tuple(self._leases)
                if not leases:
                    self._thread = None
                    return
            for lease in leases:
                lease.renew()


_renewer = _Renewer()


@contextmanager
def leased(store: LeaseStore, holder: str) -> Iterator[Lease | None]:
    """Take the lease, and give it back however the turn ends; None if another has it.

    Raises:
        RedisError: the server is away for longer than a step may take.
    """
    if not store.take_lease(holder, LEASE_MS):
        yield None
        return
    lease = Lease(store, holder)
    _renewer.begin(lease)
    try:
        yield lease
    finally:
        _renewer.end(lease)
        lease.give_back()
