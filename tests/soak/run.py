"""One fault run, from the first annotation to the verdict."""

from __future__ import annotations

import random
import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from redis.exceptions import RedisError

from connector.annotator import Annotator, sign_up
from connector.local import LabelStudioServer, free_port, start
from tests.live.pools import Trial, insects
from tests.live.proxy import proxy_to
from tests.live.service import Service, eventually, service
from tests.soak.crew import crew, small_disk
from tests.soak.faults import World, all_faults
from tests.soak.people import People, Wait
from tests.soak.relay import relay_to
from tests.soak.verdict import Found, agrees, verdict

N_WORKERS, SIZE = 3, 500
CALM_S = 3.0  # between two faults
PATIENCE_S = 120.0
Say = Callable[[str], None]


class Span(NamedTuple):
    """A fault of some kind, by the monotonic clock."""

    kind: str
    began: float
    ended: float


@dataclass(slots=True)
class Report:
    """What a run did and found.

    recovery_s: by the kind of fault, the seconds from its end until a worker had the lease of every
        running assessment and had read it from Label Studio again; for "nothing", between two such
        readings.
    spans: from when each fault happened until all was read again.
    """

    seconds: float = 0.0
    events: Counter[str] = field(default_factory=Counter)
    recovery_s: dict[str, list[float]] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    webhooks: int = 0
    restarts: int = 0
    found: dict[str, Found] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Every assessment came through."""
        return bool(self.found) and all(one.is_right for one in self.found.values())

    def waits_s(self, kind: str) -> list[float]:
        """How long people waited for each task that they wanted during a fault of this kind."""
        spans = [span for span in self.spans if span.kind == kind]
        return [
            wait.ended - wait.began
            for wait in self.waits
            if any(wait.began < span.ended and span.began < wait.ended for span in spans)
        ]


def run(
    folder: Path,
    seconds: float,
    seed: int,
    module: str = "worker.cli",
    say: Say = print,
    n_people: int = 4,
    think_s: float = 0.0,
) -> Report:
    """Take one run of about so many seconds; ten minutes are enough for each kind of fault.

    Args:
        module: what the processes run; `tests.soak.broken` counts blindly.
        think_s: see `People`; Label Studio is at its limit if nobody thinks.
    """
    rng, report = random.Random(seed), Report()
    with ExitStack() as until_the_end:
        enter = until_the_end.enter_context
        studio = enter(start(folder / "studio", say=say))
        proxy = enter(proxy_to(studio.url))
        port = free_port()
        relay = enter(relay_to(f"http://127.0.0.1:{port}", random.Random(seed)))
        home = folder / "home"
        disk = home / "valkey" if enter(small_disk(home / "valkey")) else None
        at_work = enter(service(home, studio, {"LABEL_STUDIO_URL": proxy.url, "ASSAY_LOG": "json"}))
        ours = enter(crew(at_work, port, relay.url, N_WORKERS, module))
        eventually(lambda: len(ours.workers()) == N_WORKERS)
        world = World(ours, studio, proxy, relay, at_work, disk, rng)
        trials = {at_work.begin(trial.plan): trial for trial in _trials(folder)}
        names = [trial.assessment for trial in trials.values()]
        people = People(trials, set(trials), think_s=think_s)
        with ThreadPoolExecutor(n_people + 1) as days:
            busy = [days.submit(_tell, at_work, people)]
            for n in range(n_people):
                person = enter(_person(studio))
                busy.append(days.submit(people.work, person, random.Random(seed * 100 + n)))
            try:
                _harm(world, names, seconds, report, people, say)
            finally:
                people.over.set()
        for one in busy:
            one.result()  # nobody gave up
        report.events, report.waits = people.done, people.waits
        report.webhooks, report.restarts = relay.heard, ours.restarts
        say("Everybody went home; waiting until all is read ...")
        _settle(world, trials)
        for project, trial in trials.items():
            newcomer = enter(_person(studio))
            report.found[trial.assessment] = verdict(at_work, studio, trial, project, newcomer)
    return report


def _trials(folder: Path) -> list[Trial]:
    """Questions that stay open for long, one that is soon answered, one with a budget."""
    looks = "queue: {look_ahead: 6}\n"
    return [
        insects(folder, "{rmse: 0.0001}", "estimate", SIZE, looks),
        insects(folder, "{mrr: {confidence: 0.9999}}", "identify", SIZE, looks),
        insects(folder, "{budget: 120}", "identify", SIZE, looks),
    ]


def _tell(service: Service, people: People) -> None:
    """Tell people of new tasks, and where the question is answered."""
    while not people.over.wait(0.2):
        for project, trial in people.trials.items():
            with suppress(RedisError):
                state = service.context.ledger(trial.assessment).state()
                tasks = [task for u in state.unsettled.values() for task in u.tasks]
                people.newest[project] = max(tasks, default=0)
                (people.open.add if state.status == "running" else people.open.discard)(project)


def _person(studio: LabelStudioServer) -> Annotator:
    email = f"person-{secrets.token_hex(6)}@example.com"
    return sign_up(studio.url, studio.token, email, secrets.token_urlsafe(16))


def _harm(
    world: World, names: list[str], seconds: float, report: Report, people: People, say: Say
) -> None:
    began = time.monotonic()
    faults = all_faults(world)
    to_come: list[str] = []
    while time.monotonic() - began < seconds:
        if not to_come:
            to_come = list(faults)
            world.rng.shuffle(to_come)
        kind = to_come.pop()
        time.sleep(CALM_S * world.rng.uniform(0.5, 1.5))
        happened = time.monotonic()
        faults[kind](world)
        took_s = _recovered(world, names, kind)
        report.recovery_s.setdefault(kind, []).append(took_s)
        report.spans.append(Span(kind, happened, time.monotonic()))
        passed_s, deeds = time.monotonic() - began, sum(people.done.values())
        say(f"{passed_s:5.0f} s  {kind:34s} back after {took_s:5.1f} s  ({deeds} deeds)")
    report.seconds = time.monotonic() - began


def _read_at(world: World, names: list[str]) -> dict[str, str]:
    """When every assessment was last read from Label Studio, by the clock of whoever read it.

    Only of those that are running: ended ones are read at every tenth round of the watcher.
    """
    while True:
        try:
            now = {name: world.service.context.ledger(name).state() for name in names}
            return {
                k: s.metadata.get("polled_at", "") for k, s in now.items() if s.status == "running"
            }
        except RedisError:
            time.sleep(0.1)


def _recovered(world: World, names: list[str], kind: str) -> float:
    """Wait until somebody read every assessment again; how long that took."""
    began = time.monotonic()
    before = _read_at(world, names)
    while True:
        now = _read_at(world, names)
        if all(now[name] != before.get(name) for name in now):
            return time.monotonic() - began
        if time.monotonic() - began > PATIENCE_S:
            raise AssertionError(f"after {kind!r} nobody read for {PATIENCE_S:.0f} s: {now}")
        time.sleep(0.1)


def _settle(world: World, trials: dict[int, Trial]) -> None:
    """Until the records are the export's; then all are stopped by hand and their queues emptied."""
    at_work, studio = world.service, world.studio
    deadline = time.monotonic() + PATIENCE_S
    for project, trial in trials.items():
        # What stays different is what the verdict is about.
        while not agrees(at_work, studio, trial, project) and time.monotonic() < deadline:
            time.sleep(0.5)
        if at_work.status(trial.assessment)["status"] == "running":
            at_work.run("stop", trial.assessment)
    for trial in trials.values():
        eventually(lambda one=trial: at_work.status(one.assessment)["open_items"] == 0, PATIENCE_S)
