"""The label counts at which a run is looked at: for its ranking, and to ask the stop rule."""

from __future__ import annotations

from collections.abc import Iterator

LOG_STEP = 10


def log_steps(until: int) -> list[int]:
    """The label counts at which the ranking is looked at: every tenth, and the last."""
    return [*range(LOG_STEP, until, LOG_STEP), until]


def looks(until: int, budget: int | None) -> Iterator[int]:
    """The label counts at which the stop rule is asked: every one up to 100, then 2% apart.

    Live it is asked every turn; a rule costs more than a label, and asked 2% later it stops at most
    2% later.
    """
    n = 1
    while n < until:
        yield n
        step = n + max(1, n // 50)
        n = budget if budget is not None and n < budget < step else step
    yield until
