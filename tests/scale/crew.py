"""Real workers at a desk that lies in a server, and people who answer whatever is open."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rq import Queue
from rq.registry import StartedJobRegistry

from connector.supervised import tied
from tests.bench.measuring import write_pool
from tests.bench.turn import header_of
from tests.live.service import eventually
from tests.scale.desk import ToldDesk
from worker.assessment import assess, reopen
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.context import Context
from worker.service.job_data import QUEUE
from worker.setup.replaying import unrepeated_choices
from worker.store.records import load
from worker.watcher import look_around

# For a lease that a server brings back with an older state, and for a machine that is busy.
PATIENCE_S = 300.0

_NEVER = "stop: {mrr: {confidence: 0.9999999}}\n"


def begin_all(context: Context, folder: Path, n: int) -> list[str]:
    """Begin assessments whose pool lies where only `carry_pools` brings it; return their names."""
    plan = load_plan(write_pool(folder / "plan", 4, 200, "scale", _NEVER))
    work = assess(plan, compile_pool(plan, folder / "compiled"))
    names = [f"scale-{k}" for k in range(n)]
    for project, name in enumerate(names):
        own = plan.model_copy(update={"assessment": name, "seed": project})
        header = replace(
            header_of(work),
            assessment=name,
            plan=own.model_dump_json(),
            project=project,
            pool_file=f"/nowhere/{work.pool.path.name}",
        )
        context.ledger(name).begin(header)
        context.enter(name)
        context.wake(name)
    carry_pools(folder, context.settings.home)
    return names


def carry_pools(folder: Path, home: Path) -> None:
    """Copy the compiled pool to another home, as to another machine."""
    shutil.copytree(folder / "compiled", home / "pools", dirs_exist_ok=True)


@contextmanager
def worker(
    home: Path, settings: Mapping[str, str], through: Callable[..., list[str]] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process with a home of its own; `through` says on which host."""
    home.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "tests.scale.desk_worker"]
    env = os.environ | {"ASSAY_HOME": str(home)} | dict(settings)
    with (home / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            tied(words if through is None else through(*words)), env=env, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def label_all(context: Context, desks: Sequence[ToldDesk], names: Sequence[str], n: int) -> None:
    """Answer what is open, wake and watch, until each desk has n answers more."""
    given, rounds, next_round = [0] * len(names), 0, 0.0
    deadline = time.monotonic() + PATIENCE_S
    while min(given) < n:
        assert time.monotonic() < deadline, f"only {given} of {n} tasks came"
        if time.monotonic() >= next_round:
            look_around(context, rounds)
            rounds, next_round = rounds + 1, time.monotonic() + 1
        for k, desk in enumerate(desks):
            if given[k] < n and (task := desk.take()) is not None:
                desk.answer(*task, f"class-{(given[k] + k) % 4:04d}")
                given[k] += 1
            context.wake(names[k])
        time.sleep(0.01)


def wait_until_idle(context: Context) -> None:
    """Until no worker is at a turn and none is asked for, so that no import is under way."""
    queue = Queue(QUEUE, connection=context.jobs)
    at_work = StartedJobRegistry(QUEUE, connection=context.jobs)
    eventually(lambda: not queue.count and not at_work.get_job_count(cleanup=False), PATIENCE_S)


def assert_all_counted(context: Context, desks: Sequence[ToldDesk], names: Sequence[str]) -> None:
    """Everything that was answered is counted once, nothing is queued twice, choices replay."""
    assert_each_counted_once(context, desks, names)
    for desk in desks:
        tasks = desk.read([brief.task for brief in desk.census()])
        assert max(Counter(snapshot.item for snapshot in tasks).values()) == 1


def assert_each_counted_once(
    context: Context, desks: Sequence[ToldDesk], names: Sequence[str]
) -> None:
    """Everything that was answered is counted once, nobody is asked again, choices replay.

    An item may have a second task that was withdrawn before anybody saw it.
    """
    for desk, name in zip(desks, names, strict=True):
        ledger = context.ledger(name)
        snapshots = list(desk.answers())
        said = {snapshot.item: snapshot.judgements[0].label for snapshot in snapshots}
        assert len(said) == len(snapshots)

        def is_counted(said: Mapping[str, str | None] = said, name: str = name) -> bool:
            look_around(
                context, 0
            )  # a job that a dead server remembers is nudged past by the watcher
            time.sleep(0.5)
            return sum(context.ledger(name).state().tally.values()) >= len(said)

        eventually(is_counted, PATIENCE_S)
        records = [load(text) for text in ledger.every_record()]
        assert {r.item: r.outcome for r in records if r.outcome is not None} == said

        def is_asked_once(desk: ToldDesk = desk, said: Mapping[str, str | None] = said) -> bool:
            served = Counter(desk.items_served())
            return not served.keys() & said.keys() and max(served.values(), default=1) == 1

        eventually(is_asked_once, PATIENCE_S)
        work = reopen(context.header(name), context.settings.pools)
        assert not unrepeated_choices(work, ledger)
