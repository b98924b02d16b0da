"""A first look at many assessments in a few round trips: what is there to do for each?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redis import Redis
from redis.exceptions import ResponseError

from worker.store.texts import whole

# Enough to save the round trips, few enough not to hold up other clients.
_BATCH = 200
_NOTES = ["polled_at", "cursor", "decided_at", "report_slot"]


class Glance(NamedTuple):
    """What can be told of an assessment without reading its counts.

    header: as it is stored; None before there is one.
    polled_at: when it was read last, in seconds since 1970 by the clock of who read it; 0 if never.
    wakes: how many turns were begun or asked for so far.
    cursor_us: the latest change in it that was read, by Label Studio's clock; 0 if there was none.
    decided_at: when its last stop was; empty before there was one.
    report_slot: the latest report that was made by itself, in seconds since 1970; 0 if none was.
    """

    status: str | None
    header: str | None
    wakes: int
    polled_at: float
    cursor_us: int
    decided_at: str = ""
    report_slot: int = 0


def glances(
    db: Redis, assessments: Sequence[str]
) -> Iterator[tuple[str, Glance | ResponseError | ValueError]]:
    """Glance at all of them; of one that cannot be read, why.

    Raises:
        RedisError: the server is away.
    """
    for first in range(0, len(assessments), _BATCH):
        batch = assessments[first : first + _BATCH]
        with db.pipeline(transaction=False) as pipe:
            for one in batch:
                pipe.hmget(f"assay:{{{one}}}:meta", ["status", "header", "wakes"])
                pipe.hmget(f"assay:{{{one}}}:notes", _NOTES)
            found = pipe.execute(raise_on_error=False)
        for one, meta, notes in zip(batch, found[::2], found[1::2], strict=True):
            yield one, _glance(meta, notes)


def _glance(
    meta: list[str | None] | ResponseError, notes: list[str | None] | ResponseError
) -> Glance | ResponseError | ValueError:
    if isinstance(meta, ResponseError):
        return meta
    if isinstance(notes, ResponseError):
        return notes
    try:
        wakes = whole("wakes", meta[2])
        polled_at, cursor, decided_at, slot = notes
        read = float(polled_at or 0), int(cursor or 0)
        return Glance(meta[0], meta[1], wakes, *read, decided_at or "", int(slot or 0))
    except ValueError as error:
        return error
