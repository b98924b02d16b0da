"""What the processes of a running service write, and the tab that it keeps in Label Studio."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from connector.local import LabelStudioServer
from tests.live.pools import SignUp, insects
from tests.live.service import eventually, service

pytestmark = pytest.mark.live


def test_every_line_is_json_and_a_turn_has_assessment_revision_and_job_and_the_tab_follows(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path, stop="{budget: 4}")
    with service(tmp_path / "home", label_studio, {"ASSAY_LOG": "json"}) as running:
        running.spawn_all()
        project = running.begin(trial.plan)
        person = annotator()
        eventually(lambda: title(label_studio, project).startswith("Assay: "))
        for _ in range(4):
            trial.answer(person, project)
        eventually(lambda: running.status(trial.assessment)["status"] == "stopped")
        eventually(lambda: title(label_studio, project) == "Assay: finished")

    written = (tmp_path / "home" / "up.log").read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in written]
    assert any(line["message"].startswith("Webhooks are received at") for line in lines)
    turns = [line for line in lines if line["message"] == "turn taken"]
    assert {line["assessment"] for line in turns} == {trial.assessment}
    assert all(line["job"].startswith("advance-") for line in turns)
    assert all(0 < line["seconds"] < 60 for line in turns)
    revisions = [line["revision"] for line in turns]
    assert revisions == sorted(revisions)
    assert revisions[-1] == turns[-1]["labels"] == 4


def title(studio: LabelStudioServer, project: int) -> str:
    """That of the last tab: ours, once it is made beside the project's own; or none."""
    headers = {"Authorization": f"Token {studio.token}"}
    answer = httpx.get(
        f"{studio.url}/api/dm/views/", params={"project": project}, headers=headers, timeout=30
    )
    views: list[dict[str, dict[str, str]]] = answer.raise_for_status().json()
    return views[-1]["data"]["title"] if views else ""
