"""Real servers for the whole session: a Valkey, and a Label Studio with people to label in it."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from label_studio_sdk.client import LabelStudio
from redis import Redis

from connector.annotator import Annotator, sign_up
from connector.client import connect as connect_label_studio
from connector.local import LabelStudioServer, start
from connector.settings import LabelStudioSettings
from tests.machine import missing
from worker.service.embedded import server
from worker.service.server import connect

# Where tests run in the background, Ctrl-C is ignored by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's affair: another process may run beside it.
settings.register_profile(
    "assay",
    deadline=None,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("assay")

# What `make test-fast` leaves out beside marked tests: by fixture, and by folder.
_SERVERS = {"valkey_home", "label_studio", "chromium"}
_PROCESSES = {"cli", "service"}
_SIMULATIONS = {"simulate", "crowd", "evaluator"}


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What this machine cannot run, before anything runs."""
    return missing(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What it could not run, after all has run."""
    if lacks := missing(terminalreporter.config):
        terminalreporter.section("not everything was run")
        terminalreporter.write("".join(f"{one}\n" for one in lacks))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folders that take longest first, so that no process is left alone with one at the end.

    What starts processes, or simulates, is marked so.
    """
    first = ("soak", "live", "contract", "scale")
    items.sort(key=lambda item: first.index(f) if (f := item.path.parent.name) in first else 9)
    for item in items:
        folder = item.path.parent.name
        if folder in _PROCESSES or _SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")
        if folder in _SIMULATIONS:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def valkey_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder whose embedded server the tests share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def valkey_url(valkey_home: Path) -> Iterator[str]:
    """The address of a running Valkey. Nobody empties it: tests take unique assessment ids."""
    with server(valkey_home, None) as url:
        yield url


@pytest.fixture
def valkey(valkey_url: str) -> Iterator[Redis]:
    """A connection of the test's own, whose answers are text."""
    with connect(valkey_url) as connection:
        yield connection


@pytest.fixture
def assessment_id() -> str:
    """An assessment's id that nobody else uses."""
    return f"test-{secrets.token_hex(8)}"


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    """A running Label Studio with nothing in it; its first start on a machine takes minutes."""
    with start(tmp_path_factory.mktemp("label-studio")) as running:
        yield running


@pytest.fixture
def sdk(label_studio: LabelStudioServer) -> Iterator[Callable[..., LabelStudio]]:
    """Make SDK clients, of the server's own token or of another, that are closed at the end."""
    with ExitStack() as open_clients:

        def connect_one(
            token: str = label_studio.token, url: str = label_studio.url
        ) -> LabelStudio:
            client = connect_label_studio(LabelStudioSettings(url, token))
            # The SDK has no way of its own to close what it opened.
            open_clients.callback(client._client_wrapper.httpx_client.httpx_client.close)
            return client

        yield connect_one


@pytest.fixture(scope="session")
def newcomer(label_studio: LabelStudioServer) -> Iterator[Callable[[], Annotator]]:
    """Sign up somebody whom no other test gets to know."""
    with ExitStack() as open_sessions:

        def sign_one_up() -> Annotator:
            email = f"annotator-{secrets.token_hex(6)}@example.com"
            password = secrets.token_urlsafe(16)
            person = sign_up(label_studio.url, label_studio.token, email, password)
            return open_sessions.enter_context(person)

        yield sign_one_up


@pytest.fixture(scope="session")
def staff() -> list[Annotator]:
    """Who has signed up for all tests."""
    return []


@pytest.fixture
def annotator(newcomer: Callable[[], Annotator], staff: list[Annotator]) -> Callable[[], Annotator]:
    """Call in one annotator after the other; the next test gets the same ones.

    Label Studio takes most of a second of CPU to sign somebody up.
    """
    waiting = iter(tuple(staff))

    def call_in() -> Annotator:
        if (person := next(waiting, None)) is None:
            staff.append(person := newcomer())
        return person

    return call_in
