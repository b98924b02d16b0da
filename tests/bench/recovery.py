"""With a real Label Studio: how soon every assessment is read again when a server comes back.

Nobody labels meanwhile, so that what is measured is Assay and not how long Label Studio takes to
answer others; beside it stands how far two readings lie apart when nothing happens.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redis.exceptions import RedisError

from connector import local
from tests.bench.measuring import line, say
from tests.live.pools import insects
from tests.live.service import Service, service

TIMES, ASSESSMENTS, WATCHER_S = 5, 3, 3.0


def run() -> None:
    """Print the longest and the median of the times from a return to the last reading."""
    say(f"\nRecovery: {ASSESSMENTS} assessments, a watcher every {WATCHER_S:.0f} s, two workers")
    with (
        tempfile.TemporaryDirectory() as name,
        local.start(Path(name) / "studio") as studio,
        service(Path(name) / "home", studio) as running,
    ):
        running.spawn_all("--every", str(WATCHER_S), "--workers", "2")
        for _ in range(ASSESSMENTS):
            running.begin(insects(Path(name), stop="{mrr: {confidence: 0.9999}}").plan)
        time.sleep(2 * WATCHER_S)

        def valkey() -> None:
            os.kill(int(running.office.state.info()["process_id"]), signal.SIGKILL)
            while not _answers(running):
                time.sleep(0.01)

        def label_studio() -> None:
            studio.stop()
            time.sleep(5)
            studio.restart()  # returns with the first answer

        _measure(running, "nothing happens", lambda: None, "")
        _measure(running, "from Valkey's return (killed)", valkey, "5 s")
        goal = f"{WATCHER_S:.0f} s"
        _measure(running, "from Label Studio's return (stopped)", label_studio, goal)


def _measure(running: Service, what: str, fault: Callable[[], None], goal: str) -> None:
    took = []
    for _ in range(TIMES):
        fault()
        began, before = time.monotonic(), _read_at(running)
        while any(now == then for now, then in zip(_read_at(running), before, strict=True)):
            time.sleep(0.02)
        took.append(time.monotonic() - began)
        time.sleep(WATCHER_S)
    took.sort()
    line(
        f"{what}: every assessment read, median, longest",
        f"{took[TIMES // 2]:.1f}, {took[-1]:.1f} s",
        goal,
    )


def _answers(running: Service) -> bool:
    with suppress(RedisError, OSError):
        return bool(running.office.state.ping())
    return False


def _read_at(running: Service) -> list[str]:
    while True:
        with suppress(RedisError, OSError):
            office = running.office
            return [office.ledger(one).notes().get("polled_at", "") for one in office.ids()]
        time.sleep(0.02)
