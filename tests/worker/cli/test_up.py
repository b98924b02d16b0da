"""What `assay up` refuses before it begins anything, and what it drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.own import OwnServer, keep
from tests.worker.cli.commands import failed


def test_without_a_label_studio_and_a_terminal_it_says_what_to_set_and_to_say(assay) -> None:
    message = failed(assay("up", "plan.yaml", "--port", "0"))

    for cure in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "--with-label-studio"):
        assert cure in message
    assert not Path("home/label-studio.json").exists()


def test_where_one_is_named_another_is_not_run(assay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:1")

    message = failed(assay("up", "plan.yaml", "--port", "0", "--with-label-studio"))
    assert "LABEL_STUDIO_URL" in message


def test_of_a_file_of_predictions_it_writes_the_plan_first_and_goes_on_with_it_later(assay) -> None:
    for said in ("Wrote p.yaml", "p.yaml is there already, of p.csv."):
        result = assay("up", "p.csv", "--port", "0")
        assert said in result.stderr
        assert "No Label Studio is named" in result.stderr  # what comes next
        assert "predictions: p.csv" in Path("p.yaml").read_text()
    assert assay("check", "p.yaml").exit_code == 0


def test_a_plan_of_another_file_is_left_alone(assay) -> None:
    Path("more").mkdir()
    Path("more/plan.csv").write_text(Path("p.csv").read_text())
    before = Path("plan.yaml").read_text()

    message = failed(assay("up", "more/plan.csv", "--port", "0"))
    assert "assay init more/plan.csv --plan other.yaml" in message
    assert Path("plan.yaml").read_text() == before


def test_what_is_wrong_with_a_file_is_told_before_anything_is_started(assay) -> None:
    Path("bad.csv").write_text("id,text,predicted\n1,a,cat\n2,,dog\n2,c,dog\n")
    result = assay("up", "bad.csv", "--port", "0", "--with-label-studio")
    assert result.exit_code == 1
    assert "Error: " in result.stderr
    assert "2 kinds of faults" in result.stderr
    assert not Path("home/label-studio").exists()


def test_doctor_says_what_runs_the_label_studio_of_our_own(assay) -> None:
    keep(Path("home").absolute(), OwnServer(("http://127.0.0.1:1",), "a@example.com", "p", "t"))

    said = assay("doctor").stdout
    assert "http://127.0.0.1:1 did not answer" in said
    assert "`assay up` runs it" in said
