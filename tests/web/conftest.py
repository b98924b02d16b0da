"""An office, an assessment that began, and a dashboard that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.site import Begun, begin, dashboard, forget
from worker.service.office import Office
from worker.store.settings import Settings


@pytest.fixture
def office(tmp_path: Path, valkey_url: str) -> Iterator[Office]:
    opened = Office(Settings(tmp_path, None, None), valkey_url)
    yield opened
    opened.close()


@pytest.fixture
def begun(office: Office, tmp_path: Path, assessment_id: str) -> Iterator[Begun]:
    yield begin(office, tmp_path / "plan", assessment_id)
    forget(office, assessment_id)


@pytest.fixture
def url(office: Office) -> Iterator[str]:
    """A dashboard on loopback with a token."""
    with dashboard(office) as address:
        yield address
