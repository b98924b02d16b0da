"""With a real Label Studio: how soon all goes on when a server comes back or a worker is killed.

At most one person labels meanwhile, so that what is measured is Assay and not how long Label Studio
takes to answer others; beside it stands how far two readings lie apart when nothing happens.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from redis.exceptions import RedisError
from rq import Worker
from rq.serializers import JSONSerializer

from connector import local
from connector.annotator import sign_up
from tests.bench.measuring import line, say
from tests.live.pools import insects
from tests.live.proxy import Trap, proxy_to
from tests.live.service import Service, eventually, service

TIMES, ASSESSMENTS, WATCHER_S = 5, 3, 3.0


def run() -> None:
    """Print medians and the longest times."""
    with (
        tempfile.TemporaryDirectory() as name,
        local.start(Path(name) / "studio") as studio,
    ):
        _servers(Path(name), studio)
        say(f"\nOne person, a watcher every {WATCHER_S:.0f} s, two workers; kill -9 at an import")
        _takeover(Path(name) / "plain", studio, _plain, "plain processes", "10 s")
        _takeover(Path(name) / "up", studio, _under_up, "under `assay up`", "3 s")


def _servers(folder: Path, studio: local.LabelStudioServer) -> None:
    say(f"\nRecovery: {ASSESSMENTS} assessments, a watcher every {WATCHER_S:.0f} s, two workers")
    with service(folder / "home", studio) as running:
        running.spawn_all("--every", str(WATCHER_S), "--workers", "2")
        for _ in range(ASSESSMENTS):
            running.begin(insects(folder, stop="{mrr: {confidence: 0.9999}}").plan)
        time.sleep(2 * WATCHER_S)

        def valkey() -> None:
            os.kill(int(running.context.state.info()["process_id"]), signal.SIGKILL)
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


def _plain(running: Service) -> None:
    running.spawn("watch", "--every", str(WATCHER_S))
    for _ in range(2):
        running.spawn("worker")


def _under_up(running: Service) -> None:
    running.spawn_all("--every", str(WATCHER_S), "--workers", "2")


def _takeover(
    folder: Path,
    studio: local.LabelStudioServer,
    begin: Callable[[Service], None],
    what: str,
    goal: str,
) -> None:
    """Kill who imports the only task that a person waits for; until that or another is there."""
    folder.mkdir()
    took = []
    with (
        proxy_to(studio.url) as proxy,
        service(folder / "home", studio, {"LABEL_STUDIO_URL": proxy.url}) as running,
        sign_up(studio.url, studio.token, f"{folder.name}@example.com", "long-enough-7") as person,
    ):
        begin(running)
        one = "queue: {look_ahead: 1}\n"
        trial = insects(folder, stop="{rmse: 0.001}", task="estimate", more=one)
        project = running.begin(trial.plan)
        for _ in range(TIMES):
            task = eventually(lambda: person.next_task(project))
            eventually(lambda: len(_workers(running)) == 2)
            kill = partial(_kill_who_is_at_a_turn, running, trial.assessment)
            proxy.trap = trap = Trap("before it reaches Label Studio", kill)
            trial.submit(person, task)
            assert trap.sprung.wait(60), "nobody imports anything"
            killed = time.monotonic()
            while person.next_task(project) is None:
                time.sleep(0.1)
            took.append(time.monotonic() - killed)
            if begin is _plain:
                running.spawn("worker")
            time.sleep(WATCHER_S)
    took.sort()
    text = f"{took[len(took) // 2]:.1f}, {took[-1]:.1f} s"
    line(f"{what}: from the kill until the person had a task, median, longest", text, goal)


def _workers(running: Service) -> list[Worker]:
    """Those that live; RQ remembers the dead for a while."""
    alive = []
    for process in running.processes:
        process.poll()  # or one that was killed stays as a zombie
    for worker in Worker.all(connection=running.context.jobs, serializer=JSONSerializer):
        with suppress(ProcessLookupError):
            os.kill(worker.pid, 0)
            alive.append(worker)
    return alive


def _kill_who_is_at_a_turn(running: Service, assessment: str) -> None:
    holder = str(running.context.state.get(f"assay:{{{assessment}}}:lease"))
    (pid,) = (worker.pid for worker in _workers(running) if holder.startswith(worker.name))
    os.kill(pid, signal.SIGKILL)


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
        return bool(running.context.state.ping())
    return False


def _read_at(running: Service) -> list[str]:
    while True:
        with suppress(RedisError, OSError):
            context = running.context
            return [context.ledger(one).metadata().get("polled_at", "") for one in context.ids()]
        time.sleep(0.02)
