"""The small assessment of the promises, compiled once, and both ledgers to keep it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises.small import small_assessment
from worker.assessment import Assessment
from worker.store import Header


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the worlds keep their pool and their decisions."""
    return tmp_path_factory.mktemp("promises")


@pytest.fixture(scope="session")
def long_assessment(folder: Path) -> tuple[Assessment, Header]:
    """One that is not answered before nearly all items are labelled."""
    return small_assessment(folder / "long", "{mrr: {confidence: 0.9999}}")


@pytest.fixture(scope="session")
def short_assessment(folder: Path) -> tuple[Assessment, Header]:
    """One that ends after four labels."""
    return small_assessment(folder / "short", "{mrr: {confidence: 0.9999}, budget: 4}")


@pytest.fixture(scope="session", params=["memory", "valkey"])
def keeper(request: pytest.FixtureRequest) -> str | None:
    """Where the ledger is: None in memory, else the address of a real Valkey."""
    return None if request.param == "memory" else str(request.getfixturevalue("valkey_url"))
