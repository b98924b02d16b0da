"""Large pools made small: a few rows a block, all texts on disk."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from worker.pool import ordering, texts


@contextmanager
def in_small(rows: int = 7, part: int = 5) -> Iterator[None]:
    """Every pool is a large one: blocks of few rows, numbers in short parts, texts on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "ROWS_PER_BLOCK", rows)
        patch.setattr(texts, "MOST_IN_MEMORY", 1 << 20)
        patch.setattr(texts, "_ROWS_AT_ONCE", 2 * rows)
        patch.setattr(ordering, "_PART", part)
        yield
