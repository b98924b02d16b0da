"""Which `assay up` is the one of a home folder: the one that holds its lock.

The kernel takes the lock from whoever dies, so that what a killed one left behind fools nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worker.service.unused import locked_at_once


@contextmanager
def alone(home: Path) -> Iterator[bool]:
    """Try to be the one as long as the block runs; yield whether nobody else is."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "up.lock").open("a") as lock:
        yield locked_at_once(lock.fileno())
