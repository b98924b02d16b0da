"""Two real Label Studio servers in one installation: the same workers, a token each."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from connector.annotator import Annotator, sign_up
from connector.local import LabelStudioServer, start
from tests.live.pools import (
    ALWAYS_WRONG,
    SignUp,
    Trial,
    assert_tally_is_label_studios,
    insects,
    label_until_stopped,
)
from tests.live.service import Service, service

pytestmark = pytest.mark.live

STOP = "{mrr: {confidence: 0.9}, budget: 30}"


@pytest.fixture(scope="module")
def other_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    with start(tmp_path_factory.mktemp("other-label-studio")) as running:
        yield running


@pytest.fixture
def both(
    tmp_path: Path, label_studio: LabelStudioServer, other_studio: LabelStudioServer
) -> Iterator[Service]:
    """A service that knows the first server by its variables and the second by the file."""
    servers = tmp_path / "servers"
    servers.write_text(f"{other_studio.url}  {other_studio.token}\n", encoding="utf-8")
    more = {"LABEL_STUDIO_SERVERS_FILE": str(servers)}
    with service(tmp_path / "home", label_studio, more) as up:
        yield up


def on(studio: LabelStudioServer, folder: Path) -> Trial:
    return insects(folder, stop=STOP, more=f"label_studio: {{url: {studio.url}}}\n")


@pytest.fixture
def stranger(other_studio: LabelStudioServer) -> Iterator[Annotator]:
    """An annotator of the second server."""
    email = f"annotator-{secrets.token_hex(6)}@example.com"
    password = secrets.token_urlsafe(16)
    with sign_up(other_studio.url, other_studio.token, email, password) as person:
        yield person


def test_the_same_workers_serve_assessments_on_both(
    both: Service,
    label_studio: LabelStudioServer,
    other_studio: LabelStudioServer,
    annotator: SignUp,
    stranger: Annotator,
    tmp_path: Path,
) -> None:
    both.spawn_all("--workers", "2")
    trials = [
        (on(label_studio, tmp_path), label_studio, annotator()),
        (on(other_studio, tmp_path), other_studio, stranger),
    ]
    projects = [both.begin(trial.plan) for trial, _, _ in trials]

    for _ in range(2):  # in turn, so that both are at work at once
        for (trial, _, person), project in zip(trials, projects, strict=True):
            trial.answer(person, project)
    for (trial, studio, person), project in zip(trials, projects, strict=True):
        label_until_stopped(both, trial, project, person)
        decision = both.status(trial.assessment)["decision"]
        assert (decision["reason"], decision["chosen"]) == ("answered", [ALWAYS_WRONG])
        assert_tally_is_label_studios(both, studio, trial, project)
    said = both.run("doctor")
    assert label_studio.url in said.out
    assert other_studio.url in said.out


def test_a_server_without_a_token_is_refused_before_anything_is_sent(
    both: Service, tmp_path: Path
) -> None:
    trial = insects(tmp_path, more="label_studio: {url: http://127.0.0.1:9}\n")

    said = both.run("start", str(trial.plan))

    assert said.code == 1
    assert "LABEL_STUDIO_SERVERS_FILE" in said.err
    assert "http://127.0.0.1:9" in said.err
