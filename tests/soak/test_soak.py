"""The short form of the fault run, in a test of `make test-long`; `make soak` is the long one.

What a kill, a server that is away and an outbox may do is tried for every landing in `tests/live`,
`tests/scale` and `tests/promises`, each alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.__main__ import table
from tests.soak.run import run

pytestmark = [pytest.mark.live, pytest.mark.long]


def test_under_faults_nothing_is_lost_or_counted_twice(tmp_path: Path) -> None:
    report = run(tmp_path, 90, seed=2)
    assert report.is_right, table(report)
    assert report.events.total() > 50
    assert sum(map(len, report.recovery_s.values())) >= 4


def test_blind_increments_are_found_out(tmp_path: Path) -> None:
    """The same run of an Assay that is broken on purpose: the verdict can fail."""
    report = run(tmp_path, 30, seed=2, module="tests.soak.broken")
    assert not report.is_right, report
    assert any(one.losses or one.doubles for one in report.found.values())
