"""Who takes a turn has the assessment's lease: nobody else takes one meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from worker.ledger import Ledger

# Longer than any request that writes (connector.desk.WRITE_TIMEOUT_S).
LEASE_MS = 20_000
AGAIN_S = 0.2


@contextmanager
def leased(ledger: Ledger, holder: str) -> Iterator[bool]:
    """Take the lease, and give it back however the turn ends; False if another has it.

    Raises:
        RedisError: the server is away for longer than the lease lasts.
    """
    is_ours = ledger.take_lease(holder, LEASE_MS)
    try:
        yield is_ours
    finally:
        if is_ours:
            _give_back(ledger, holder)


def _give_back(ledger: Ledger, holder: str) -> None:
    """Where the server is away, as soon as it is back: it remembers the lease of a broken turn."""
    is_over_at = time.monotonic() + LEASE_MS / 1000
    while True:
        try:
            return ledger.drop_lease(holder)
        except RedisError:
            if time.monotonic() >= is_over_at:
                raise
            time.sleep(AGAIN_S)
