"""One service for all live tests that do not harm it: `assay up` with two workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connector.local import LabelStudioServer
from tests.live.service import Service, service


@pytest.fixture(scope="module")
def up(
    tmp_path_factory: pytest.TempPathFactory, label_studio: LabelStudioServer
) -> Iterator[Service]:
    """A receiver, a watcher and two workers, shared by the tests of a module."""
    with service(tmp_path_factory.mktemp("home"), label_studio) as kept:
        kept.spawn_all("--workers", "2")
        yield kept


@pytest.fixture
def running(up: Service) -> Iterator[Service]:
    """What is `up`; afterwards it asks Label Studio for nothing that this test began."""
    yield up
    for assessment in up.context.ids():
        up.context.forget(assessment)
