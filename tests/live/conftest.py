"""A real Label Studio for the whole session, and people to label in it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from connector.annotator import Annotator, sign_up
from connector.local import LabelStudioServer, start


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    """A running Label Studio with nothing in it; its first start on a machine takes minutes."""
    with start(tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.fixture
def annotator(label_studio: LabelStudioServer) -> Iterator[Callable[[], Annotator]]:
    """Make as many new annotators as a test asks for."""
    with ExitStack() as open_sessions:

        def sign_one_up() -> Annotator:
            email = f"annotator-{secrets.token_hex(6)}@example.com"
            password = secrets.token_urlsafe(16)
            person = sign_up(label_studio.url, label_studio.token, email, password)
            return open_sessions.enter_context(person)

        yield sign_one_up
