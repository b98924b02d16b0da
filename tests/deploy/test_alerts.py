"""The alert rules by Prometheus' own tool: each fires when it should, and only then."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.machine import needs
from tests.test_monitoring import RULES
from tests.web.site import TOKEN

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "alerts.yaml"
WELL = {
    "assay_workers": "2x3000",
    "assay_watched": "1x3000",
    'assay_readable{assessment="well"}': "1x3000",
    'assay_running{assessment="well"}': "1x3000",
    'assay_open_items{assessment="well"}': "5x3000",
    'assay_labels_total{assessment="well"}': "0+1x3000",
    'assay_pending_events{assessment="well"}': "0x3000",
    'assay_events_behind{assessment="well"}': "1x3000",
    'assay_poll_age_seconds{assessment="well"}': "3x3000",
    'assay_webhook_gap_seconds{assessment="well"}': "0+60x3000",
    'assay_label_age_seconds{assessment="well"}': "0+60x1439 5x1561",
    'assay_job_failures_total{assessment="well"}': "0x60 5x2940",
    'assay_advance_seconds_bucket{assessment="well",le="5.0"}': "0+10x3000",
    'assay_advance_seconds_bucket{assessment="well",le="+Inf"}': "0+10x3000",
}


@dataclass(frozen=True, slots=True)
class Case:
    """What goes wrong beside an assessment that is well, and when somebody is told.

    series: values a minute, as promtool writes them; `{}` stands for the assessment's label.
    quiet, fires: minutes at which no alert fires, and at which `alert` alone does; None: never.
    """

    alert: str
    series: dict[str, str]
    quiet: tuple[int, ...]
    fires: int | None


RUNS = {"assay_running{}": "1x3000"}
PAUSED = {"assay_running{}": "0x3000"}
BEHIND = {"assay_webhook_gap_seconds{}": "0+60x30", "assay_label_age_seconds{}": "10x30"}
CASES = {
    "no worker": Case("AssayNoWorker", {"assay_workers": "2 2 0x5"}, (2,), 3),
    "receiver away": Case("AssayNoWorker", {"assay_workers": "2 stale _x5"}, (1,), 2),
    "no watcher": Case("AssayNoWatcher", {"assay_watched": "1 1 0x5"}, (2,), 3),
    "damaged": Case("AssayUnreadable", {"assay_readable{}": "1 1 0x5"}, (2,), 3),
    "not read": Case("AssayNotRead", RUNS | {"assay_poll_age_seconds{}": "0+60x9"}, (4,), 5),
    "not read as it is paused": Case(
        "AssayNotRead", PAUSED | {"assay_poll_age_seconds{}": "0+60x9"}, (9,), None
    ),
    "webhooks lost": Case("AssayWebhooksLost", RUNS | BEHIND, (10,), 11),
    "webhooks lost, two receivers": Case(
        "AssayWebhooksLost",
        {
            name.replace("{}", f'{{assessment="a",instance="{instance}"}}'): values
            for instance in ("one", "two")
            for name, values in (RUNS | BEHIND).items()
        },
        (10,),
        11,
    ),
    "no webhook ever": Case(
        "AssayWebhooksLost", RUNS | {"assay_label_age_seconds{}": "10x30"}, (30,), None
    ),
    "turns fail": Case(
        "AssayTurnsFail", RUNS | {"assay_job_failures_total{}": "0+1x10 10x30"}, (4, 30), 10
    ),
    "queue empty": Case("AssayQueueEmpty", RUNS | {"assay_open_items{}": "5 0x9"}, (5,), 6),
    "queue empty as it is paused": Case(
        "AssayQueueEmpty", PAUSED | {"assay_open_items{}": "0x9"}, (9,), None
    ),
    "turns wait": Case("AssayBehind", {"assay_pending_events{}": "0 1x9"}, (5,), 6),
    "webhooks wait": Case("AssayBehind", {"assay_events_behind{}": "10 11x9"}, (5,), 6),
    "slow turns": Case(
        "AssaySlowTurns",
        {
            'assay_advance_seconds_bucket{assessment="a",le="5.0"}': "0x40",
            'assay_advance_seconds_bucket{assessment="a",le="10.0"}': "0+10x40",
            'assay_advance_seconds_bucket{assessment="a",le="+Inf"}': "0+10x40",
        },
        (15,),
        16,
    ),
    "nobody labels": Case(
        "AssayNobodyLabels", RUNS | {"assay_label_age_seconds{}": "86000+60x9"}, (6,), 7
    ),
    "nobody has labelled yet": Case(
        "AssayNobodyLabels", RUNS | {"assay_labels_total{}": "0x2000"}, (1439,), 1440
    ),
}


def promtool(*arguments: str | Path) -> str:
    """Run it; return what it said.

    Raises:
        AssertionError: it found a fault.
    """
    done = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documented(folder: Path) -> dict[str, Any]:
    """The configuration of the operations page, with its files in `folder`."""
    page = (DEPLOY / "operations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    config: dict[str, Any] = yaml.safe_load(block)
    token = folder / "assay_dashboard_token"
    token.write_text(TOKEN)
    config["scrape_configs"][0]["authorization"]["credentials_file"] = str(token)
    return config


def test_every_alert_is_tried() -> None:
    assert {case.alert for case in CASES.values()} == {rule["alert"] for rule in RULES}


@needs("prometheus")
def test_prometheus_takes_the_rules_and_the_configuration_of_the_operations_page(
    tmp_path: Path,
) -> None:
    assert f"{len(RULES)} rules found" in promtool("check", "rules", ALERTS)
    config = documented(tmp_path)
    (target,) = config["scrape_configs"][0]["static_configs"][0]["targets"]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert compose["services"]["receiver"]["ports"] == [f"{target}:8765"]
    config["rule_files"] = [str(ALERTS)]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    promtool("check", "config", tmp_path / "prometheus.yml")


@needs("prometheus")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_alert_fires_when_it_should_and_no_other_does(case: Case, tmp_path: Path) -> None:
    mine = {name.replace("{}", '{assessment="a"}'): values for name, values in case.series.items()}
    told = "count by (alertname) (ALERTS{alertstate='firing'})"
    moments = {minute: list[dict[str, Any]]() for minute in case.quiet}
    if case.fires is not None:
        n = len({label for name in mine for label in re.findall(r'instance="\w+"', name)}) or 1
        moments[case.fires] = [{"labels": f'{{alertname="{case.alert}"}}', "value": n}]
    page = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": values} for name, values in (WELL | mine).items()
                ],
                "promql_expr_test": [
                    {"expr": told, "eval_time": f"{minute}m", "exp_samples": samples}
                    for minute, samples in moments.items()
                ],
            }
        ],
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(page))
    promtool("test", "rules", tmp_path / "test.yaml")
