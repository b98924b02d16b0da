"""The parts of the plan about reports and notices: what is taken, and what each mistake is told."""

import re
from pathlib import Path

import pytest
import yaml

from worker.errors import PlanError
from worker.plan import Plan, load_plan, plan_hash

SMALLEST = """\
assessment: mine
pool: {predictions: p.csv, predicted: predicted, data: {text: text}}
question: {task: identify}
"""


def load(folder: Path, **more: object) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(SMALLEST + (yaml.safe_dump(more) if more else ""))
    return load_plan(path)


def mistake(folder: Path, **more: object) -> str:
    with pytest.raises(PlanError) as caught:
        load(folder, **more)
    return str(caught.value)


def test_without_a_word_nothing_is_scheduled_and_nobody_is_told(tmp_path):
    plan = load(tmp_path)
    assert plan.report.every is None
    assert plan.report.to is None
    assert (plan.report.keep, plan.report.names, plan.report.timezone) == (30, False, "UTC")
    assert plan.notify == ()
    assert plan.stall_after == "4h"


def test_the_documented_example_of_notices_is_read_as_it_stands(tmp_path):
    text = (Path(__file__).parents[3] / "worker" / "report" / "README.md").read_text(
        encoding="utf-8"
    )
    (block,) = re.findall(r"```yaml\n(notify:\n.*?)```", text, re.DOTALL)
    (tmp_path / "plan.yaml").write_text(SMALLEST + block)
    slack, webhook = load_plan(tmp_path / "plan.yaml").notify
    assert (slack.kind, webhook.on) == ("slack", ("decision", "failure"))


def test_classes_may_be_called_yes_no_on_and_off_without_quotes(tmp_path):
    text = SMALLEST.replace("data:", "classes: [yes, No, on, off, n], data:")
    (tmp_path / "plan.yaml").write_text(f"{text}report: {{names: Yes}}\n")
    plan = load_plan(tmp_path / "plan.yaml")
    assert plan.pool.classes == ("yes", "No", "on", "off", "n")
    assert plan.report.names is True
    assert yaml.safe_load("[yes, off]") == [True, False]  # elsewhere YAML is as it was


@pytest.mark.parametrize(
    ("written", "kept"),
    [("30s", "30s"), ("1h", "1h"), ("2w", "2w"), ("cron: 0 7 * * 1", "cron: 0 7 * * 1"),
     ("0  7 * * 1", "cron: 0 7 * * 1"), ("*/5 * * * *", "cron: */5 * * * *")],
)  # fmt: skip
def test_a_report_comes_at_an_interval_or_by_a_cron_line(tmp_path, written, kept):
    assert load(tmp_path, report={"every": written}).report.every == kept


@pytest.mark.parametrize(
    "every", ["5s", "0m", "1 hour", "-1h", "1.5h", 3600, "@hourly", "0 7 * * 1 0", "61 * * * *",
              "0 7 30 2 *", "", "99999999w"]
)  # fmt: skip
def test_a_schedule_that_is_none_is_a_mistake_that_says_what_is_expected(tmp_path, every):
    told = mistake(tmp_path, report={"every": every})
    assert "report.every: came" in told
    assert "expected" in told


def test_the_folder_of_reports_is_relative_to_the_plan(tmp_path):
    assert load(tmp_path, report={"to": "reports/"}).report.to == tmp_path / "reports"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc/localtime"])
def test_an_unknown_time_zone_is_a_mistake(tmp_path, zone):
    assert "Europe/Berlin" in mistake(tmp_path, report={"timezone": zone})


def test_who_is_told_and_when_does_not_make_it_another_plan(tmp_path):
    told = load(
        tmp_path,
        report={"every": "1h", "to": "here"},
        notify=[{"url": "https://example.org/hook"}],
        stall_after="1h",
    )
    assert plan_hash(told) == plan_hash(load(tmp_path))


def test_a_stored_plan_comes_back_as_it_was(tmp_path):
    plan = load(
        tmp_path,
        report={"every": "0 7 * * 1", "to": "reports"},
        notify=[{"url": "${ASSAY_NOTIFY_URL}", "kind": "slack", "on": ["report"]}],
    )
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"url": "ftp://example.org"}, "https://example.org/hook"),
        ({"url": "example.org/hook"}, "https://example.org/hook"),
        ({"url": "https://e.org/${LABEL_STUDIO_API_KEY}"}, "begins with ASSAY_NOTIFY_"),
        ({"url": "https://e.org/x?take=${ASSAY_NOTIFY_SLACK}"}, "in a part of an address"),
        ({"url": "https://e.org/${ASSAY_NOTIFY_SECRET}"}, "begins with ASSAY_NOTIFY_"),
        ({"url": "https://e.org/x", "kind": "pager"}, "expected 'slack' or 'webhook'"),
        ({"url": "https://e.org/x", "on": ["decison"]}, "decision"),
        ({"url": "https://e.org/x", "on": []}, "on"),
        ({"url": "https://e.org/x", "retries": 3}, "unknown key"),
        ({"kind": "slack"}, "notify.0.url: missing"),
    ],
)
def test_a_mistake_about_who_is_told_names_its_place(tmp_path, entry, told):
    text = mistake(tmp_path, notify=[entry])
    assert "notify.0" in text
    assert told in text


def test_the_time_of_a_stall_is_a_time(tmp_path):
    assert "stall_after" in mistake(tmp_path, stall_after="soon")
