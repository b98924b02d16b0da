"""The commands about an assessment that has begun."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.promises.small import CLASSES, small_assessment
from tests.worker.cli.commands import failed
from worker.cli.printing import status_text
from worker.formats import counted
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.settings import Settings


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[str]:
    """The id of an assessment that runs on the server of the command's home."""
    home = tmp_path / "home"
    _, header = small_assessment(tmp_path / "small", "{budget: 12}")
    with server(home, None) as url:
        context = Context(Settings(home, None, None), url)
        context.ledger(header.assessment).begin(header)
        context.enter(header.assessment)
        yield header.assessment
        context.close()


def test_every_step_of_a_life_prints_one_document_for_scripts(assay, begun):
    def printed(command: str, *options: str) -> dict[str, Any]:
        result = assay(command, begun, "--json", *options)
        assert result.exit_code == 0, result.output
        value: dict[str, Any] = json.loads(result.stdout)
        return value

    assert printed("status")["status"] == "running"
    assert printed("pause")["status"] == "paused"
    assert printed("resume", "--more", "3")["status"] == "running"
    assert printed("stop")["status"] == "stopped"
    assert printed("status")["decision"]["reason"] == "by hand"
    assert printed("export")["decisions"][0]["reason"] == "by hand"
    (listed,) = json.loads(assay("status", "--json").stdout)
    assert listed["assessment"] == begun


def test_status_for_people_puts_the_answer_first_and_the_groups_below(assay, begun):
    text = assay("status", begun).stdout
    assert text.startswith("Not yet: at present ")
    assert f"{begun} is running: 0 labels by 0 annotators" in text
    for name in CLASSES:
        assert f"\n{name} " in text
    assert assay("status").stdout.startswith(f"{begun} (running): Not yet")


def test_one_of_anything_is_said_as_one(assay, begun, tmp_path):
    home = tmp_path / "home"
    with server(home, None) as url:
        context = Context(Settings(home, None, None), url)
        status = status_of(context, begun)
        context.close()
    one = replace(status, labels=1, annotators=1, open_items=1, foreign_tasks=1, retired={"x": 1})
    text = status_text(one)
    assert f"{begun} is running: 1 label by 1 annotator, 1 item before them now, " in text
    assert "1 task of the project is not ours and does not count." in text
    assert "counted as unlabelled: 1 x item." in text
    assert [counted(n, "person", "people") for n in (0, 1, 2_000)] == [
        "0 people", "1 person", "2,000 people",
    ]  # fmt: skip


def test_the_reason_of_a_pause_is_kept_as_one_line_for_annotators(assay, begun, tmp_path):
    assert assay("pause", begun, "--why", "two\n lines\x1b[31m").exit_code == 0
    home = tmp_path / "home"
    with server(home, None) as url:
        context = Context(Settings(home, None, None), url)
        assert context.ledger(begun).metadata()["paused_why"] == "two lines\ufffd[31m"
        assay("resume", begun)
        assay("pause", begun)
        assert context.ledger(begun).metadata()["paused_why"] == ""
        context.close()


def test_an_export_to_a_file_is_what_would_be_printed(assay, begun, tmp_path):
    told = assay("export", begun, "--to", "kept.json", "--json")
    answer = json.loads(told.stdout)
    assert (answer["file"], Path(answer["pool"]).suffix) == ("kept.json", ".arrow")
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert kept == json.loads(assay("export", begun).stdout)
    assert (kept["header"]["assessment"], kept["records"]) == (begun, [])


def test_the_wrong_moment_is_one_message(assay, begun):
    assert f"{begun} is running" in failed(assay("resume", begun))


def test_an_unknown_assessment_is_answered_with_those_that_there_are(assay, begun):
    assert f"'nobody' here; there is: {begun}." in failed(assay("status", "nobody"))


def test_a_replay_without_label_studio_is_one_message(assay, begun, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0123456789abcdef")
    assert "http://fake did not answer" in failed(assay("replay", begun))
