"""A context, an assessment that began, and a dashboard that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.site import Begun, begin, dashboard, forget
from worker.service.context import Context
from worker.store.settings import Settings
from worker.web import guesses


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a wrong token."""
    monkeypatch.setattr(guesses, "WRONG_TOKEN_S", 0.0)


@pytest.fixture
def context(tmp_path: Path, valkey_url: str) -> Iterator[Context]:
    opened = Context(Settings(tmp_path, None, None), valkey_url)
    yield opened
    opened.close()


@pytest.fixture
def begun(context: Context, tmp_path: Path, assessment_id: str) -> Iterator[Begun]:
    yield begin(context, tmp_path / "plan", assessment_id)
    forget(context, assessment_id)


@pytest.fixture
def url(context: Context) -> Iterator[str]:
    """A dashboard on loopback without a token: who is on this machine reads."""
    with dashboard(context, token=None) as address:
        yield address


@pytest.fixture
def guarded(context: Context) -> Iterator[str]:
    """A dashboard on loopback with a token."""
    with dashboard(context) as address:
        yield address
