"""`deploy/compose.yaml` is as the specification and this project want it; no engine is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Command

from worker.cli.main import cli
from worker.store.settings import SECRETS

DEPLOY = Path(__file__).parents[2] / "deploy"
FILE = DEPLOY / "compose.yaml"
TEXT = FILE.read_text(encoding="utf-8")
PAGE = (DEPLOY / "operations.md").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("receiver", "watcher", "worker", "assay")


def test_it_is_what_the_compose_specification_allows() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", FILE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SERVICES)
class TestEveryService:
    """What holds for ours and for the servers."""

    def test_it_has_a_health_check_or_says_why_not(self, name: str) -> None:
        service = SERVICES[name]
        if "healthcheck" in service:
            check = service["healthcheck"]
            assert {"test", "interval", "timeout", "retries"} <= set(check)
        else:
            assert len(service["x-no-healthcheck"]) > 20

    def test_it_comes_back_by_itself_unless_it_is_a_command(self, name: str) -> None:
        expected = "no" if SERVICES[name].get("profiles") == ["commands"] else "unless-stopped"
        assert SERVICES[name]["restart"] == expected

    def test_its_image_has_a_version(self, name: str) -> None:
        assert re.fullmatch(r"[a-z/-]+:\d[\w.-]*", SERVICES[name]["image"])

    def test_its_secrets_are_there_and_it_has_no_other(self, name: str) -> None:
        service = SERVICES[name]
        named = set(re.findall(r"/run/secrets/(\w+)", str(service)))
        assert named == set(service.get("secrets", []))
        assert named <= set(COMPOSE["secrets"])

    def test_no_secret_stands_in_it_in_plain(self, name: str) -> None:
        for key, value in SERVICES[name].get("environment", {}).items():
            is_secret = re.search(r"PASSWORD|SECRET|TOKEN|API_KEY|REDIS_URL", key)
            assert not is_secret or (key.endswith("_FILE") and value.startswith("/run/secrets/"))

    def test_it_waits_for_the_health_of_what_it_needs(self, name: str) -> None:
        for other, how in SERVICES[name].get("depends_on", {}).items():
            assert "healthcheck" in SERVICES[other]
            assert how == {"condition": "service_healthy"}

    def test_what_it_keeps_is_on_a_volume_that_is_declared(self, name: str) -> None:
        for volume in SERVICES[name].get("volumes", []):
            source = volume.split(":")[0]
            if not source.startswith("."):
                assert source in COMPOSE["volumes"]
            else:  # what is not there is made by whoever follows the page
                made = f"mkdir -p {source.removeprefix('../')}\n"
                assert (DEPLOY / source).exists() or made in PAGE

    def test_only_this_machine_reaches_its_ports(self, name: str) -> None:
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


def test_every_secret_is_a_file_that_somebody_needs() -> None:
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    assert all(s == {"file": f"../secrets/{name}"} for name, s in COMPOSE["secrets"].items())


@pytest.mark.parametrize("name", OURS)
class TestOurServices:
    """What holds for the services of this project."""

    def test_its_command_is_one_of_ours_with_options_that_there_are(self, name: str) -> None:
        first, *options = SERVICES[name]["command"]
        command = cli.commands[first]
        assert isinstance(command, Command)
        command.make_context(first, options)

    def test_it_is_not_root_writes_nowhere_else_and_gains_nothing(self, name: str) -> None:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "USER assay" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")

    def test_the_secrets_that_it_names_by_file_are_some_that_are_read(self, name: str) -> None:
        files = {key for key in SERVICES[name]["environment"] if key.endswith("_FILE")}
        assert files <= {f"{secret}_FILE" for secret in SECRETS}


def test_label_studio_takes_the_receivers_address() -> None:
    (url,) = (word for word in SERVICES["receiver"]["command"] if word.startswith("http"))
    host = url.split("/")[2].split(":")[0]
    assert "." in host  # Django's rule for addresses
    assert host in SERVICES["receiver"]["networks"]["default"]["aliases"]


def test_people_are_shown_label_studio_where_it_says_that_it_is() -> None:
    shown = {SERVICES[name]["environment"]["LABEL_STUDIO_PUBLIC_URL"] for name in OURS}
    assert shown == {SERVICES["label-studio"]["environment"]["LABEL_STUDIO_HOST"]}


def test_the_watcher_knows_no_more_than_where_the_state_is() -> None:
    assert SERVICES["watcher"]["secrets"] == ["redis_url"]
