"""What is counted for the metrics: turns and their seconds, failures, webhooks.

Workers and receivers are processes of their own, so the counts are kept on the server: one hash an
assessment, beside its ledger. Nothing of it decides anything.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import dataclass
from typing import cast

from redis import Redis

# Upper bounds of the histogram of turns, in seconds; a turn waits for Label Studio too.
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class Counters:
    """The counts of one assessment since it began.

    turns: how many took at most each of BOUNDS_S and more than the one before; last: longer ones.
    webhooks_read: how many webhooks had come when the last finished turn began.
    webhook_at: when the last one came, in seconds since 1970.
    """

    turns: tuple[int, ...]
    turn_seconds: float
    failures: int
    webhooks: int
    webhooks_read: int
    webhook_at: float | None

    @property
    def behind(self) -> int:
        """Webhooks that came since the last finished turn began."""
        return max(0, self.webhooks - self.webhooks_read)


def count_webhook(db: Redis, assessment: str) -> None:
    """One webhook came."""
    with db.pipeline(transaction=False) as pipe:
        pipe.hincrby(_key(assessment), "webhooks", 1)
        pipe.hset(_key(assessment), "webhook_at", f"{time.time():.3f}")
        pipe.execute()


def webhooks(db: Redis, assessment: str) -> int:
    """How many came so far."""
    return int(cast("str | None", db.hget(_key(assessment), "webhooks")) or 0)


def count_turn(db: Redis, assessment: str, seconds: float, webhooks_read: int) -> None:
    """One turn ended; `webhooks_read` had come when it began."""
    key = _key(assessment)
    with db.pipeline(transaction=False) as pipe:
        pipe.hincrby(key, f"turns{bisect_left(BOUNDS_S, seconds)}", 1)
        pipe.hincrbyfloat(key, "turn_seconds", seconds)
        pipe.hset(key, "webhooks_read", webhooks_read)
        pipe.execute()


def count_failure(db: Redis, assessment: str) -> None:
    """One turn failed."""
    db.hincrby(_key(assessment), "failures", 1)


def counters(db: Redis, assessment: str) -> Counters:
    """Read what was counted."""
    raw = cast("dict[str, str]", db.hgetall(_key(assessment)))
    return Counters(
        turns=tuple(int(raw.get(f"turns{n}", 0)) for n in range(len(BOUNDS_S) + 1)),
        turn_seconds=float(raw.get("turn_seconds", 0)),
        failures=int(raw.get("failures", 0)),
        webhooks=int(raw.get("webhooks", 0)),
        webhooks_read=int(raw.get("webhooks_read", 0)),
        webhook_at=float(raw["webhook_at"]) if "webhook_at" in raw else None,
    )


def _key(assessment: str) -> str:
    return f"assay:{{{assessment}}}:counters"
