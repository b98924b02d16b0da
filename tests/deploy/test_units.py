"""The systemd units: read as INI here, and by systemd itself where it is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.machine import needs
from worker.cli.main import cli
from worker.service.connections import MOST, OTHER_FILES
from worker.store.settings import SECRETS

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
HARDENED = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectKernelModules": "yes",
    "ProtectControlGroups": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes",
    "LockPersonality": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "UMask": "0077",
    "StateDirectoryMode": "0700",
    "SystemCallErrorNumber": "EPERM",
}


def keys(unit: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_there_is_one_for_every_process() -> None:
    assert [unit.name for unit in UNITS] == [
        "assay-receiver.service",
        "assay-watcher.service",
        "assay-worker@.service",
    ]


def test_the_receiver_may_open_as_many_files_as_it_takes_connections() -> None:
    (unit,) = [unit for unit in UNITS if "receiver" in unit.name]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    for limit in (
        keys(unit)["LimitNOFILE"][0],
        compose["services"]["receiver"]["ulimits"]["nofile"],
    ):
        assert int(limit) >= MOST + OTHER_FILES


def test_no_process_can_fill_the_journal_or_the_disk_with_its_lines() -> None:
    for unit in UNITS:
        said = keys(unit)
        assert int(said["LogRateLimitBurst"][0]) / int(said["LogRateLimitIntervalSec"][0]) < 10
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    for name in ("receiver", "watcher", "worker"):
        assert compose["services"][name]["logging"]["options"]["max-size"] == "10m"


def test_commands_get_user_settings_and_secrets_as_a_worker_does() -> None:
    page = (DEPLOY / "operations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(as_assay\(\).*?)^```", page, re.MULTILINE | re.DOTALL)
    script = "systemd-run() { printf '%s\\n' \"$*\"; }\n" + block
    told = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True)
    worker = keys(DEPLOY / "systemd" / "assay-worker@.service")
    for line in told.stdout.splitlines():
        options, _, command = line.partition(" /usr/bin/env ")
        assert f"--uid={worker['User'][0]} --gid={worker['Group'][0]}" in options
        for option in re.findall(r"-p (\S+)", options):
            name, _, value = option.partition("=")
            assert value in worker[name], option
        handed = set(re.findall(r"LoadCredential=(\w+):", options))
        named = re.findall(r"(\w+_FILE)=\$\{CREDENTIALS_DIRECTORY\}/(\w+)", command)
        assert {secret for _, secret in named} == handed == {"redis_url", "label_studio_api_key"}
        assert {f"{name}=%d/{secret}" for name, secret in named} <= set(worker["Environment"])
    ran = re.findall(r"/opt/assay/bin/assay (\w+)", told.stdout)
    assert ran == ["doctor", "start", "report"]
    assert set(ran) <= set(cli.commands)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
class TestUnit:
    """What each of them says."""

    def test_it_runs_a_command_of_ours_with_options_that_there_are(self, unit: Path) -> None:
        (line,) = keys(unit)["ExecStart"]
        program, name, *options = line.split()
        assert program == "/opt/assay/bin/assay"
        cli.commands[name].make_context(name, options)

    def test_it_is_not_root_and_may_do_little(self, unit: Path) -> None:
        found = keys(unit)
        assert found["User"] == ["assay"]
        assert {name: found[name] for name in HARDENED} == {k: [v] for k, v in HARDENED.items()}
        assert found["SystemCallFilter"] == ["@system-service", "~@privileged @resources"]

    def test_it_comes_back_however_often_it_ends(self, unit: Path) -> None:
        found = keys(unit)
        assert (found["Restart"], found["StartLimitIntervalSec"]) == (["always"], ["0"])

    def test_its_secrets_are_files_that_are_handed_to_it_alone(self, unit: Path) -> None:
        found = keys(unit)
        handed = {line.split(":")[0] for line in found["LoadCredential"]}
        named = dict(line.split("=") for line in found["Environment"])
        assert {value.removeprefix("%d/") for value in named.values()} == handed
        assert set(named) <= {f"{name}_FILE" for name in SECRETS}

    @needs("systemd")
    def test_systemd_takes_it_and_finds_it_hardened(self, unit: Path, tmp_path: Path) -> None:
        text = unit.read_text(encoding="utf-8").replace("/opt/assay/bin/assay", sys.executable)
        copy = tmp_path / unit.name.replace("@.", "@1.")
        copy.write_text(text, encoding="utf-8")
        said = _systemd("verify", str(copy))
        assert (said.returncode, said.stderr) == (0, "")
        said = _systemd("security", "--offline=true", "--threshold=20", "--no-pager", str(copy))
        assert said.returncode == 0, said.stdout
        level = re.search(r"exposure level for \S+: ([\d.]+)", said.stdout)
        assert level is not None
        assert float(level[1]) <= 2.0  # of 10, which is no protection at all


def _systemd(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, timeout=300, check=False
    )
