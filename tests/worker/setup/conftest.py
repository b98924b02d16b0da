"""Two months of one pool, for several files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.report.at_work import AtWork
from tests.worker.setup.continued import N_THEN, at_work

N_NOW = 25


@pytest.fixture
def months(
    tmp_path: Path, valkey: Redis, assessment_id: str
) -> Callable[..., tuple[AtWork, AtWork]]:
    """Month one, and month two that continues it."""

    def begin(n_then: int = N_THEN, n_now: int = N_NOW, **ways: Any) -> tuple[AtWork, AtWork]:
        one = at_work(tmp_path / "one", valkey, assessment_id, n_then, **ways)
        two = at_work(
            tmp_path / "two", valkey, f"{assessment_id}-2", n_now,
            f"since: {assessment_id}\n", **ways,
        )  # fmt: skip
        return one, two

    return begin
