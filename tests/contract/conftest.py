"""The ledgers and desks that are held to the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from connector.local import LabelStudioServer
from tests.contract.killed import Home
from tests.contract.ledgers import header_of
from tests.contract.projects import FakeProject, Project, RealProject
from worker.service.embedded import server
from worker.store import (
    Ledger,
    MemoryLedger,
)
from worker.store.valkey import ValkeyLedger


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


@pytest.fixture
def admin(label_studio: LabelStudioServer) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Token {label_studio.token}"}
    with httpx.Client(base_url=label_studio.url, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.live)])
def project(request: pytest.FixtureRequest) -> Project:
    if request.param == "fake":
        return FakeProject()
    server, sdk, admin, people = (
        request.getfixturevalue(name) for name in ("label_studio", "sdk", "admin", "annotator")
    )
    return RealProject(server, sdk(), admin, people)


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.live)])
def shared(request: pytest.FixtureRequest) -> Project:
    """A project that serves every task to two different people."""
    if request.param == "fake":
        return FakeProject(overlap=2)
    server, sdk, admin, people = (
        request.getfixturevalue(name) for name in ("label_studio", "sdk", "admin", "annotator")
    )
    return RealProject(server, sdk(), admin, people, overlap=2)
