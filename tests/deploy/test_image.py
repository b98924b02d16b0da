"""The image is built from the Dockerfile, and its commands run in a chroot of it."""

from __future__ import annotations

import shlex
import socket
from pathlib import Path

import pytest
import yaml

from tests.deploy.image import Image
from tests.machine import needs

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose.yaml"
pytestmark = [pytest.mark.long, needs("image")]


def _shell(image: Image, script: str) -> str:
    done = image.run("sh", "-euc", script)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_who_runs_is_not_root_and_may_write_its_own_folder_only(image: Image) -> None:
    assert _shell(image, "id -un; pwd; touch /var/lib/assay/x; rm /var/lib/assay/x").split() == [
        "assay",
        "/var/lib/assay",
    ]
    assert image.run("touch", "/opt/assay/x").returncode != 0
    assert image.run("ls", "/src").returncode != 0  # what it was built of is not in it
    assert "/var/lib/assay" in image.config(".OCIv1.Config.Volumes")
    assert image.config(".OCIv1.Config.Entrypoint") == "[assay]"


def test_the_receiver_is_found_healthy_by_the_compose_files_check(image: Image) -> None:
    """With its watcher, worker and doctor, on the embedded server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    service = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["receiver"]
    check = shlex.join(word.replace("8765", port) for word in service["healthcheck"]["test"][1:])
    said = _shell(
        image,
        f"""
        assay --help
        assay serve --port {port} > serve.log 2>&1 & serve=$!
        assay watch --every 1 > watch.log 2>&1 & watch=$!
        tries=0
        until {check} 2> check.log; do
          tries=$((tries + 1)); test $tries -lt 300; sleep 0.5
        done
        assay worker --burst
        assay doctor --json || test $? = 1 # it has no token of Label Studio
        kill $serve $watch; wait
        """,
    )
    assert "worker" in said
    assert "watcher" in said
