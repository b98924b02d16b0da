"""The compose file's check of the receiver is run beside one with the compose file's settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from connector.supervised import tied
from tests.live.service import eventually
from tests.processes import free_port

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose.yaml"
# Docker gives every container the proxies that its user has set. This one answers nobody.
PROXY = {"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}


def test_the_receiver_is_found_healthy_also_where_the_machine_has_a_proxy(
    valkey_url: str, tmp_path: Path
) -> None:
    port = str(free_port())
    receiver = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["receiver"]
    words = [word.replace("8765", port) for word in receiver["command"]]
    words[words.index("0.0.0.0")] = "127.0.0.1"  # other machines have no business here
    check = [word.replace("8765", port) for word in receiver["healthcheck"]["test"][1:]]
    check[check.index("python")] = sys.executable
    env = {"ASSAY_HOME": str(tmp_path / "home"), **PROXY}
    for name, value in receiver["environment"].items():
        if name.endswith("_FILE"):
            file = tmp_path / Path(value).name
            file.write_text(valkey_url if name == "REDIS_URL_FILE" else "only-for-tests" * 2)
            env[name] = str(file)

    def is_healthy() -> bool:
        assert serving.poll() is None, (tmp_path / "log").read_text()
        return subprocess.run(check, env=PROXY, check=False, capture_output=True).returncode == 0

    with (tmp_path / "log").open("w") as log:
        command = tied([sys.executable, "-m", "worker.cli", *words])
        serving = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        eventually(is_healthy)
    finally:
        serving.terminate()
        serving.wait()
    assert subprocess.run(check, env=PROXY, check=False, capture_output=True).returncode != 0
