"""What goes wrong with the servers is one sentence and exit code 1, never a traceback."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import yaml

from connector.local import LabelStudioServer, free_port
from connector.schema import write_config
from tests.commands import Said
from tests.live.pools import GROUPS, SignUp, Trial, insects, project_of
from tests.live.service import Service, eventually
from tests.worker.answers import values_of, write_outputs

pytestmark = pytest.mark.live


def with_project(trial: Trial, project: int) -> Trial:
    """The same trial, whose plan names a project."""
    with trial.plan.open("a", encoding="utf-8") as plan:
        plan.write(f"label_studio: {{project: {project}}}\n")
    return trial


def assert_is_one_sentence(said: Said, *words: str) -> None:
    """The command failed and said why: to people, or to a script where it reads the result."""
    assert said.code == 1
    assert "Traceback" not in said.out + said.err
    if said.out:
        value = json.loads(said.out)
        assert (list(value), said.err) == (["error"], "")
        error = value["error"]
    else:
        *progress, error = said.err.splitlines()
        assert error.startswith("Error: ")
        assert not [line for line in progress if line.startswith("Error")]
    for word in words:
        assert word in error


def fails(service: Service, *arguments: str, **more: str) -> list[Said]:
    """Run a command without and with --json, at once: one for people, one for scripts."""
    with ThreadPoolExecutor() as at_once:
        runs = [
            at_once.submit(service.run, *arguments, *extra, **more) for extra in ([], ["--json"])
        ]
        said = [run.result() for run in runs]
        assert [one.out == "" for one in said] == [True, False]
        return said


def make_project(studio: LabelStudioServer, labels: tuple[str, ...], tasks: int = 0) -> int:
    """A project that asks for some labels, with some tasks of other people's."""
    headers = {"Authorization": f"Token {studio.token}"}
    with httpx.Client(base_url=studio.url, headers=headers, timeout=60) as admin:
        config = {"title": "Theirs", "label_config": write_config(labels, ["text"], "kind")}
        made = admin.post("/api/projects", json=config).raise_for_status().json()
        if tasks:
            content = [{"text": f"theirs {n}"} for n in range(tasks)]
            admin.post(f"/api/projects/{made['id']}/import", json=content).raise_for_status()
        return int(made["id"])


def test_a_wrong_token_is_refused_and_nothing_is_begun(running: Service, tmp_path: Path) -> None:
    trial = insects(tmp_path)

    for said in fails(running, "start", str(trial.plan), LABEL_STUDIO_API_KEY="0" * 40):
        assert_is_one_sentence(said, "refused the token", "LABEL_STUDIO_API_KEY")
    assert trial.assessment not in running.context.ids()


def test_a_project_that_is_not_there_is_named(running: Service, tmp_path: Path) -> None:
    trial = with_project(insects(tmp_path), 987_654)

    for said in fails(running, "start", str(trial.plan)):
        assert_is_one_sentence(said, "project 987654", "label_studio.project")
    assert trial.assessment not in running.context.ids()


def test_a_project_with_tasks_is_left_alone(
    running: Service, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    project = make_project(label_studio, GROUPS, tasks=2)
    before = project_of(label_studio, project)
    trial = with_project(insects(tmp_path), project)

    for said in fails(running, "start", str(trial.plan)):
        assert_is_one_sentence(said, f"Project {project} holds 2 tasks already")
    assert project_of(label_studio, project) == before


def test_a_project_that_asks_for_other_labels_is_left_alone(
    running: Service, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    project = make_project(label_studio, ("ant", "bee", "moth"))
    trial = with_project(insects(tmp_path), project)

    for said in fails(running, "start", str(trial.plan)):
        assert_is_one_sentence(said, "lacks fly", "moth, which the pool does not know")


def test_an_empty_project_that_is_there_is_used(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    project = make_project(label_studio, GROUPS)
    trial = with_project(insects(tmp_path), project)

    assert running.begin(trial.plan) == project

    ada = annotator()
    task = eventually(lambda: ada.next_task(project))
    ada.submit(task["id"], "ant", "kind", "text")
    eventually(lambda: running.labels(trial.assessment) == 1)


def test_a_second_start_changes_nothing_and_says_how_to_go_on(
    running: Service, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    project = running.begin(trial.plan)

    for said in fails(running, "start", str(trial.plan)):
        assert_is_one_sentence(
            said, "was started already", f"project {project}", f"assay resume {trial.assessment}"
        )
    assert running.status(trial.assessment)["project"] == project


def test_other_predictions_under_a_started_assessment_are_refused(
    running: Service, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    running.begin(trial.plan)
    with (trial.plan.parent / "predictions.csv").open("a", encoding="utf-8") as file:
        file.write("item-99,ant,0.9,one more\n")

    for said in fails(running, "start", str(trial.plan)):
        assert_is_one_sentence(said, "predictions.csv")


@pytest.mark.parametrize("command", ["status", "pause", "resume", "stop", "export", "replay"])
def test_an_assessment_that_is_not_there_is_an_error_that_names_those_there_are(
    running: Service, tmp_path: Path, command: str
) -> None:
    for said in fails(running, command, "nobody"):
        assert_is_one_sentence(said, "no assessment 'nobody'")


def test_a_taken_port_is_an_error_of_serve_and_of_up(running: Service, tmp_path: Path) -> None:
    more = {"ASSAY_HOME": str(tmp_path)}  # in ours one is up, which `up` would say first
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for command in ("serve", "up"):
            said = running.run(command, "--port", port, **more)
            assert_is_one_sentence(said, f"cannot listen on 127.0.0.1:{port}", "--port")


def test_a_server_that_is_away_is_an_error_of_every_command(
    running: Service, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    away = f"redis://127.0.0.1:{free_port()}/0"

    for arguments in (["status"], ["start", str(trial.plan)], ["pause", "any"]):
        for said in fails(running, *arguments, REDIS_URL=away):
            assert_is_one_sentence(said, away, "does not answer", "REDIS_URL")


@pytest.fixture
def page() -> Iterator[str]:
    """A web server that is not Label Studio: it answers every request with a page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            text = b"<html>Welcome to the intranet</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_where_label_studio_is_not_is_an_error_of_start(
    running: Service, tmp_path: Path, page: str
) -> None:
    trial = insects(tmp_path)
    nobody = f"http://127.0.0.1:{free_port()}"

    for said in fails(running, "start", str(trial.plan), LABEL_STUDIO_URL=nobody):
        assert_is_one_sentence(said, nobody, "did not answer")
    for said in fails(running, "start", str(trial.plan), LABEL_STUDIO_URL=page):
        assert_is_one_sentence(said, page, "not Label Studio")
    assert trial.assessment not in running.context.ids()


def test_what_failed_once_can_be_started_when_it_is_mended(
    running: Service, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    assert running.run("start", str(trial.plan), LABEL_STUDIO_API_KEY="0" * 40).code == 1

    project = running.begin(trial.plan)

    listed = [one["project"] for one in running.json("status") if one["project"] == project]
    assert listed == [project]
    kept = running.run("export", trial.assessment)
    assert json.loads(kept.out)["header"]["project"] == project


def with_outputs(folder: Path, n: int = 8, **parts: Any) -> Trial:
    """Outputs that a person judges, under a name of their own."""
    assessment = f"answers-{secrets.token_hex(4)}"
    truth = write_outputs(folder / assessment, n)
    plan = folder / assessment / "plan.yaml"
    plan.write_text(yaml.safe_dump(values_of(assessment=assessment, **parts)), encoding="utf-8")
    return Trial(assessment, plan, "verdict", "question", truth, {})


def test_a_verdict_that_the_project_does_not_offer_is_named(
    running: Service, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    project = make_project(label_studio, ("Correct", "Acceptable", "Wrong", "Rude"))
    trial = with_project(with_outputs(tmp_path), project)

    for said in fails(running, "start", str(trial.plan)):
        lacking = "lacks Unsafe and offers Rude, which the pool does not know"
        assert_is_one_sentence(said, lacking, "as `annotation.verdict`")
    assert trial.assessment not in running.context.ids()


def test_a_verdict_that_is_right_and_wrong_is_refused(running: Service, tmp_path: Path) -> None:
    verdict = {"right": ["Correct", "Odd"], "wrong": ["Wrong", "Odd"]}
    trial = with_outputs(tmp_path, annotation={"verdict": verdict})

    for said in fails(running, "start", str(trial.plan)):
        told = "annotation.verdict.wrong: came Odd, which `right` has too"
        assert_is_one_sentence(said, told, "take it out of the other list")
    assert trial.assessment not in running.context.ids()


def test_an_output_of_a_megabyte_is_refused_and_one_that_can_be_read_is_shown_whole(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = with_outputs(tmp_path, n=4)
    outputs = trial.plan.with_name("answers.jsonl")
    rows = [json.loads(line) for line in outputs.read_text(encoding="utf-8").splitlines()]
    rows[2]["output"] = "word " * 200_000
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    for command in ("check", "start"):
        for said in fails(running, command, str(trial.plan)):
            told = "the text (column output) has more than 500,000 bytes"
            assert_is_one_sentence(said, told, "cut it to what people need to judge", "row 3")
    assert trial.assessment not in running.context.ids()

    for row in rows:
        row["output"] = "word " * 99_000
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    project = running.begin(trial.plan)
    task = trial.answer(annotator(), project)
    assert task["data"]["answer"] == "word " * 99_000
    eventually(lambda: running.labels(trial.assessment) == 1)
