"""The command: one message for a mistake, one JSON document for scripts, the right exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.cli.commands import CSV, PLAN, failed

DIGITS = Path(__file__).parents[3] / "samples" / "digits"


def test_the_help_names_every_command(assay):
    text = assay("--help").output
    for command in [
        "init",
        "check",
        "start",
        "up",
        "worker",
        "watch",
        "serve",
        "status",
        "pause",
        "resume",
        "stop",
        "export",
        "replay",
        "doctor",
        "demo",
    ]:
        assert f"\n  {command} " in text


def test_a_drafted_plan_passes_the_check(assay, tmp_path):
    drafted = assay("init", str(DIGITS / "predictions.csv"))
    assert drafted.exit_code == 0, drafted.output
    checked = assay("check", "predictions.yaml")
    assert checked.exit_code == 0, checked.output
    assert "1,200 items in 10 groups" in checked.output


def test_a_plan_that_is_there_is_not_replaced(assay, tmp_path):
    (tmp_path / "p.yaml").write_text(PLAN)
    assert "--force" in failed(assay("init", "p.csv"))
    assert (tmp_path / "p.yaml").read_text() == PLAN
    assert assay("init", "p.csv", "--force").exit_code == 0


def test_check_prints_one_document_for_scripts_also_with_warnings(assay, tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN.replace("text}}", "text}, classes: [a, b, c]}"))
    result = assay("check", "plan.yaml", "--json")
    value = json.loads(result.stdout)
    assert value["items"] == 12
    assert "c" in value["warnings"][0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("question:", "qestion:", "question"),
        ("score: score", "score: scor", "scor"),
        ("predictions: p.csv", "predictions: q.csv", "q.csv"),
        ("task: identify", "task: identify, top: 2", "top"),
        ("task: identify", "task: compare, compare: [a, zebra]", "zebra"),
        ("task: identify", "task: guess", "identify"),
    ],
)
def test_a_wrong_plan_is_one_message_that_names_the_mistake(assay, tmp_path, old, new, told):
    (tmp_path / "plan.yaml").write_text(PLAN.replace(old, new))
    assert told in failed(assay("check", "plan.yaml"))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("", "empty"),
        ("item_id,predicted,score,text\n", "no "),
        (CSV.replace("0.5", "nan"), "row"),
        (CSV.replace("i3,", "i2,"), "i2"),
        ("item_id,predicted,score,text\ni1,a,0.5,x\ni2,a,0.5,y\n", "one class"),
    ],
)
def test_a_wrong_predictions_file_is_one_message_that_names_the_mistake(
    assay, tmp_path, rows, told
):
    (tmp_path / "p.csv").write_text(rows)
    assert told in failed(assay("check", "plan.yaml"))


@pytest.mark.parametrize(
    ("config", "annotation", "told"),
    [
        ("<View>", "", "not valid"),
        ('<Choice value="a"/><Choice value="b"/>', "annotation: {control: other}\n", "other"),
        ('<Choice value="a"/><Choice value="x"/>', "", "lacks b"),
    ],
)
def test_a_labelling_configuration_that_does_not_fit_is_refused(
    assay, tmp_path, config, annotation, told
):
    if config.startswith("<Choice "):
        config = (
            '<View><Text name="t" value="$text"/><Choices name="c" toName="t" choice="single">'
            f"{config}</Choices></View>"
        )
    (tmp_path / "config.xml").write_text(config)
    (tmp_path / "plan.yaml").write_text(PLAN + annotation + "label_studio: {config: config.xml}\n")
    assert told in failed(assay("check", "plan.yaml"))


def test_a_missing_plan_says_how_to_get_one(assay):
    assert "assay init" in failed(assay("check", "nowhere.yaml"))


def test_wrong_use_is_exit_code_2(assay):
    assert assay("check").exit_code == 2
    assert assay("no-such-command").exit_code == 2


def test_status_without_assessments_says_how_to_begin_one(assay):
    result = assay("status")
    assert result.exit_code == 0
    assert "assay start PLAN" in result.output
    assert json.loads(assay("status", "--json").stdout) == []


@pytest.mark.parametrize("command", ["status", "pause", "resume", "stop", "export", "replay"])
def test_an_unknown_assessment_is_named_by_every_command(assay, command):
    assert "'nobody'" in failed(assay(command, "nobody"))


def test_start_without_a_token_says_which_setting_is_missing(assay):
    assert "LABEL_STUDIO_URL" in failed(assay("start", "plan.yaml"))


def test_doctor_finds_the_server_well_and_label_studio_missing(assay):
    result = assay("doctor", "--json")
    assert result.exit_code == 1
    findings = {f["what"]: f for f in json.loads(result.stdout)}
    assert findings["Eviction"]["seen"] == "noeviction"
    assert findings["Persistence"]["cure"] == ""
    assert "LABEL_STUDIO_URL" in findings["Label Studio"]["cure"]
    assert "assay serve" in findings["Receiver"]["cure"]
    assert "assay worker" in findings["Workers"]["cure"]
    assert "assay watch" in findings["Watcher"]["cure"]


def test_a_server_that_is_away_is_one_message(assay, monkeypatch):
    monkeypatch.setenv("REDIS_URL", "redis://:planted-secret@127.0.0.1:1/0")
    message = failed(assay("status"))
    assert "does not answer" in message
    assert "planted-secret" not in message


def test_an_address_without_its_kind_is_one_message(assay, monkeypatch):
    monkeypatch.setenv("REDIS_URL", "localhost:6379")
    assert "redis://host:6379/0" in failed(assay("status"))


def test_serve_without_a_secret_says_so(assay, monkeypatch):
    monkeypatch.delenv("ASSAY_WEBHOOK_SECRET", raising=False)
    assert "ASSAY_WEBHOOK_SECRET" in failed(assay("serve", "--port", "0"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["resume", "mine", "--more", "0"],
        ["watch", "--every", "0"],
        ["serve", "--port", "65536"],
        ["up", "--port", "-1"],
        ["up", "--workers", "0"],
        ["up", "--every", "0"],
    ],
    ids=" ".join,
)
def test_a_number_out_of_its_range_is_wrong_use(assay, arguments):
    result = assay(*arguments)
    assert result.exit_code == 2
    assert "is not in the range" in result.stderr


@pytest.mark.parametrize("command", ["serve", "up"])
@pytest.mark.parametrize(
    "url", ["nonsense", "assay.example.org:8765", "ftp://a.example", "http://"]
)
def test_a_public_url_that_is_no_address_is_wrong_use(assay, command, url):
    result = assay(command, "--public-url", url)
    assert result.exit_code == 2
    assert f"'{url}' is no address; expected http://host:port or https://host" in result.stderr


def test_a_plan_in_a_folder_that_is_not_there_is_one_message_with_its_path(assay):
    message = failed(assay("init", "p.csv", "--plan", "nowhere/plan.yaml"))
    assert message.startswith("Error: nowhere/plan.yaml: there is no folder nowhere")


def test_a_home_that_cannot_be_made_is_one_message_with_its_path(assay, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "p.csv" / "home"))
    for command in (["check", "plan.yaml"], ["status"]):
        assert str(tmp_path / "p.csv") in failed(assay(*command))


def test_a_real_process_prints_its_message_apart_and_ends_with_1(assay, tmp_path):
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-m", "worker.cli", "check", "nowhere.yaml"]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: nowhere.yaml: ")
    assert len(ended.stderr.splitlines()) == 1
