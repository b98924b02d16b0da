"""The image is built from the Dockerfile, and looked at in a chroot of it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from tests.deploy.guarded import COMPOSE, guarded_server
from tests.deploy.image import Image
from tests.machine import needs
from tests.processes import free_port

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


def test_its_receiver_passes_the_check_of_the_compose_file(image: Image, tmp_path: Path) -> None:
    receiver = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["receiver"]
    port = str(free_port())
    check = [word.replace("8765", port) for word in receiver["healthcheck"]["test"][1:]]
    with guarded_server(tmp_path, "a-password") as valkey:
        said = _shell(
            image,
            f"""
            export REDIS_URL={valkey.url} ASSAY_WEBHOOK_SECRET={"only-for-tests" * 2}
            export ASSAY_DASHBOARD_TOKEN={"only-for-tests" * 2} http_proxy=http://127.0.0.1:9
            assay serve --host 127.0.0.1 --port {port} & serving=$!
            for second in $(seq 60); do
                if {shlex.join(check)}; then kill $serving; wait $serving; echo healthy; exit; fi
                sleep 1
            done
            """,
        )
    assert said.split()[-1] == "healthy"
