"""The operations page speaks of what there is: secrets, commands, alerts, units, settings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.test_monitoring import RULES
from worker.cli.main import cli

DEPLOY = Path(__file__).parents[2] / "deploy"
PAGE = (DEPLOY / "operations.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMPOSE["secrets"])
def test_every_secret_is_made(name: str) -> None:
    made = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    assert name in made


def test_after_the_first_start_others_may_read_the_plans_and_not_the_secrets(
    tmp_path: Path,
) -> None:
    begin, go_on = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[:2]
    script = f'docker() {{ :; }}\n{begin}echo "assessment: a" > plans/plan.yaml\n{go_on}'
    subprocess.run(["sh", "-euc", script], cwd=tmp_path, check=True)
    assert (tmp_path / "plans").stat().st_mode & 0o005 == 0o005
    assert (tmp_path / "plans" / "plan.yaml").stat().st_mode & 0o004
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_every_command_is_one_of_ours() -> None:
    named = set(re.findall(r"(?:`assay |rm assay )([a-z]+)", PAGE))
    assert {"serve", "watch", "worker", "doctor", "start", "replay", "export"} <= named
    assert named <= set(cli.commands)


def test_every_alert_has_its_paragraph_and_there_is_no_other() -> None:
    told = re.findall(r"^\*\*(Assay\w+)\.\*\* ", PAGE, re.MULTILINE)
    assert told == [rule["alert"] for rule in RULES]


def test_every_file_that_it_names_is_there() -> None:
    named = re.findall(r"`((?:deploy/)?[\w.-]+\.(?:yaml|conf|example|md))`", PAGE)
    assert named
    for name in set(named):
        assert (DEPLOY / name.removeprefix("deploy/")).exists(), name


def test_the_threat_model_names_tests_that_there_are() -> None:
    text = (DEPLOY / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert len(named) >= 8
    for name in named:
        assert (DEPLOY.parent / name).exists(), name
