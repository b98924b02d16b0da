"""The ledgers that are held to the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.killed import Home
from tests.contract.ledgers import header_of
from worker.ledger import (
    Ledger,
    MemoryLedger,
    ValkeyLedger,
)
from worker.service.embedded import server


@pytest.fixture(params=["memory", "valkey"])
def ledger(request: pytest.FixtureRequest, assessment_id: str) -> Ledger:
    """A ledger that has begun."""
    begun: Ledger
    if request.param == "memory":
        begun = MemoryLedger(assessment_id)
    else:
        begun = ValkeyLedger(request.getfixturevalue("valkey"), assessment_id)
    begun.begin(header_of(assessment_id))
    return begun


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("killed")
    with server(folder, None) as url:
        yield Home(folder, url)


@pytest.fixture
def new_home(tmp_path: Path) -> Iterator[Home]:
    with server(tmp_path, None) as url:
        yield Home(tmp_path, url)
