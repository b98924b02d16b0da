"""A real Prometheus scrapes a real `assay serve`, and every alert fires once in it.

The rules are the file's own with one change: a minute is a second (`hurried`), in `for` and in the
ranges of expressions. What is compared with a number of seconds is compared with that number.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from connector.supervised import tied
from tests.deploy.test_alerts import ALERTS, documented
from tests.live.service import PATIENCE_S, Service, eventually
from tests.machine import needs
from tests.processes import free_port
from tests.test_monitoring import RULES
from tests.web.site import TOKEN, Begun, begin
from worker.service.context import Context
from worker.service.counters import count_turn
from worker.service.embedded import server
from worker.store.settings import Settings

# Nobody listens there, so that turns of the real worker fail.
NOWHERE = "http://127.0.0.1:9"
DAY_US = 86_400_000_000


def hurried(rules: str) -> str:
    """The same rules, in which a minute is a second."""
    return re.sub(r"\b(\d+)m\b", r"\1s", rules)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A server that scrapes and evaluates every second."""

    url: str

    def _ask(self, what: str) -> Any:
        return httpx.get(f"{self.url}/api/v1/{what}").raise_for_status().json()["data"]

    def health(self) -> list[str]:
        """The state of every target: up, down, unknown."""
        return [target["health"] for target in self._ask("targets")["activeTargets"]]

    def firing(self) -> dict[tuple[str, str], dict[str, str]]:
        """(Alert, assessment) -> its annotations as they are sent."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("assessment", "")): alert[
                "annotations"
            ]
            for alert in self._ask("alerts")["alerts"]
            if alert["state"] == "firing"
        }

    def faults(self) -> list[str]:
        """What went wrong as rules were evaluated."""
        rules = [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]
        assert len(rules) == len(RULES)
        return [rule["lastError"] for rule in rules if rule.get("lastError")]


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Prometheus]:
    """One with the operations page's configuration, on loopback, until the end of the context."""
    config = documented(folder)
    (job,) = config["scrape_configs"]
    job["static_configs"] = [{"targets": [target]}]
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(folder / "alerts.yaml")]
    (folder / "alerts.yaml").write_text(hurried(ALERTS.read_text(encoding="utf-8")))
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    command += [f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address={address}"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(tied(command), stdout=log, stderr=log)
    try:
        eventually(lambda: _answers(f"http://{address}/-/ready"))
        yield Prometheus(f"http://{address}")
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A home with an embedded Valkey; reading needs the token, nobody is where Label Studio was."""
    home = tmp_path / "home"
    more = {
        "ASSAY_HOME": str(home),
        "REDIS_URL": "",
        "ASSAY_STATE_URL": "",
        "LABEL_STUDIO_URL": NOWHERE,
        "LABEL_STUDIO_API_KEY": "a-token-that-nobody-takes",
        "ASSAY_WEBHOOK_SECRET": "only-for-tests",
        "ASSAY_DASHBOARD_TOKEN": TOKEN,
    }
    with server(home, None) as url:
        found = Service(
            home, dict(os.environ) | more, _context=Context(Settings(home, None, None), url)
        )
        try:
            yield found
        finally:
            found.close()


def break_things(context: Context, folder: Path) -> tuple[Begun, Begun, set[tuple[str, str]]]:
    """One assessment for each fault that there can be, and one that is well.

    Returns:
        The one that is well, the one whose turns are slow, and the alerts that are due, but for
        those of turns, with the assessments that they name.
    """
    begun = {
        name: begin(context, folder / name, name)
        for name in ("well", "slow", "damaged", "unread", "hookless", "behind", "idle")
    }
    begun["idle"].desk.now_us -= 2 * DAY_US
    for name in ("well", "hookless", "idle"):
        begun[name].label()
    context.enter("empty")  # no turn of it was ever taken
    context.ledger("empty").begin(replace(begun["well"].header, assessment="empty"))
    begun["unread"].ledger.set_metadata(polled_at=int(time.time()) - 130)
    context.state.hset("assay:{hookless}:counters", "webhook_at", time.time() - 400)
    context.wake("behind")
    context.state.hset("assay:{damaged}:meta", "header", "no header")
    return (
        begun["well"],
        begun["slow"],
        {
            ("AssayNoWorker", ""),
            ("AssayNoWatcher", ""),
            ("AssayUnreadable", "damaged"),
            ("AssayNotRead", "unread"),
            ("AssayWebhooksLost", "hookless"),
            ("AssayBehind", "behind"),
            ("AssayNobodyLabels", "idle"),
            ("AssayQueueEmpty", "empty"),
            ("AssaySlowTurns", "slow"),
        },
    )


@pytest.mark.long
@needs("prometheus")
def test_every_alert_fires_once_in_a_prometheus_that_scrapes_us_and_ends_with_its_cause(
    service: Service, tmp_path: Path
) -> None:
    context, port = service.context, free_port()
    well, slow, due = break_things(context, tmp_path)
    receiver = service.spawn(
        "serve", "--port", str(port), "--public-url", "https://assay.example.org"
    )
    eventually(lambda: _answers(f"http://127.0.0.1:{port}/healthz"))
    assert httpx.get(f"http://127.0.0.1:{port}/metrics").status_code == 401
    fired = dict[tuple[str, str], dict[str, str]]()

    def wait_for(
        watching: Prometheus, expected: set[tuple[str, str]], meanwhile: Callable[[], None]
    ) -> None:
        ends = time.monotonic() + PATIENCE_S
        while missing := expected - set(fired):
            assert time.monotonic() < ends, f"never fired: {sorted(missing)}"
            meanwhile()
            fired.update(watching.firing())
            time.sleep(0.2)

    def turn() -> None:
        well.turn()
        count_turn(context.state, slow.id, 8.0, 0)

    with prometheus(tmp_path, f"127.0.0.1:{port}") as watching:
        eventually(lambda: watching.health() == ["up"])
        wait_for(watching, due, turn)
        assert well.id not in {assessment for _, assessment in fired}

        for name in context.ids():
            if name != well.id:
                context.forget(name)
        service.spawn("watch", "--every", "0.5")
        service.spawn("worker")
        # No turns of ours beside: the watcher would leave what they had read to its next round.
        wait_for(watching, {("AssayTurnsFail", well.id)}, lambda: None)
        eventually(lambda: not due & set(watching.firing()))

        service.end(receiver)
        eventually(lambda: ("AssayNoWorker", "") in watching.firing())
        assert watching.faults() == []

    assert {alert for alert, _ in fired} == {rule["alert"] for rule in RULES}
    for (alert, assessment), words in fired.items():
        for text in words.values():
            assert not re.search(r"\{\{|<no value>|<error", text), alert
        assert assessment in words["summary"]
