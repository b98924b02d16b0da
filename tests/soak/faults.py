"""What goes wrong, one fault at a time; each leaves the world as it found it."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from connector.local import LabelStudioServer
from tests.live.proxy import Moment, Proxy, Trap
from tests.live.service import Service
from tests.soak.crew import FAKETIME, Crew
from tests.soak.relay import Mood, Relay
from worker.turn.leasing import LEASE_MS

HOUR_S = 3600
NOTHING = "nothing"
POWER_CUT = "everything killed at once"
_BEFORE: Moment = "before it reaches Label Studio"
_AFTER: Moment = "before its answer comes back"


@dataclass(slots=True)
class World:
    """All that can be harmed."""

    crew: Crew
    studio: LabelStudioServer
    proxy: Proxy
    relay: Relay
    service: Service
    disk: Path | None
    rng: random.Random


Fault = Callable[[World], None]


def kill_worker(world: World) -> None:
    """kill -9 of a worker (it runs its jobs in its own process, there is no other to kill)."""
    world.crew.signal(world.rng.choice(world.crew.workers()), signal.SIGKILL)


def kill_watcher(world: World) -> None:
    """kill -9 of the watcher."""
    world.crew.signal("watcher", signal.SIGKILL)


def kill_receiver(world: World) -> None:
    """kill -9 of the receiver."""
    world.crew.signal("receiver", signal.SIGKILL)


def kill_valkey(world: World) -> None:
    """kill -9 of the server that keeps the state."""
    with suppress(Exception):
        pid = int(world.service.context.state.info()["process_id"])
        _kill(pid)


def power_cut(world: World) -> None:
    """kill -9 of everything at once."""
    world.crew.rest.set()
    kill_valkey(world)
    world.crew.kill_all()
    time.sleep(2)
    world.crew.rest.clear()


def import_cut(moment: Moment, world: World) -> None:
    """All workers are killed in the middle of an import."""

    def spring() -> None:
        for name in world.crew.workers():
            world.crew.signal(name, signal.SIGKILL)

    _trap(world, Trap(moment, spring))


def answer_lost(moment: Moment, world: World) -> None:
    """The connection is cut in the middle of an import; the worker lives."""
    _trap(world, Trap(moment, lambda: None))


def _trap(world: World, trap: Trap) -> None:
    world.proxy.trap = trap
    trap.sprung.wait(20)
    world.proxy.trap = None


def studio_away(world: World) -> None:
    """Label Studio is stopped and comes back."""
    world.studio.stop()
    time.sleep(world.rng.uniform(2, 6))
    world.studio.restart()


def freeze_worker(world: World) -> None:
    """SIGSTOP of a worker until its leases are long over; then it goes on where it was."""
    name = world.rng.choice(world.crew.workers())
    world.crew.signal(name, signal.SIGSTOP)
    time.sleep(LEASE_MS / 1000 + 5)
    world.crew.signal(name, signal.SIGCONT)


def webhooks(mood: Mood, world: World) -> None:
    """Webhooks are dropped, delayed, doubled or reordered for a while."""
    world.relay.mood = mood
    time.sleep(8)
    world.relay.mood = "pass"


def clock_jumps(world: World) -> None:
    """The watcher and a worker live an hour ahead, then an hour behind."""
    for ahead_s in (HOUR_S, -HOUR_S):
        world.crew.clock.write_text(f"{ahead_s:+d}\n", encoding="utf-8")
        time.sleep(4)
    world.crew.clock.write_text("+0\n", encoding="utf-8")


def disk_full(world: World) -> None:
    """The disk of the state's server has no room."""
    assert world.disk is not None
    filler = world.disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
    except OSError:
        pass
    time.sleep(5)
    filler.unlink()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def all_faults(world: World) -> dict[str, Fault]:
    """Every fault that this machine can bring about, by its name in the table."""
    faults: dict[str, Fault] = {
        NOTHING: lambda _: None,  # what the others are to be compared with
        "worker killed": kill_worker,
        "watcher killed": kill_watcher,
        "receiver killed": kill_receiver,
        "Valkey killed": kill_valkey,
        POWER_CUT: power_cut,
        "workers killed before an import": lambda w: import_cut(
            "before it reaches Label Studio", w
        ),
        "workers killed before its answer": lambda w: import_cut("before its answer comes back", w),
        "connection cut before an import": lambda w: answer_lost(
            "before it reaches Label Studio", w
        ),
        "connection cut before its answer": lambda w: answer_lost(
            "before its answer comes back", w
        ),
        "Label Studio stopped": studio_away,
        "worker frozen past its lease": freeze_worker,
        "webhooks dropped": lambda w: webhooks("drop", w),
        "webhooks delayed": lambda w: webhooks("delay", w),
        "webhooks doubled": lambda w: webhooks("double", w),
        "webhooks reordered": lambda w: webhooks("reorder", w),
    }
    if FAKETIME is not None:
        faults["clocks an hour off"] = clock_jumps
    if world.disk is not None:
        faults["disk full"] = disk_full
    return faults


def is_kill_under_up(kind: str) -> bool:
    """Whether somebody is killed, and `assay up` is there to see it."""
    return "killed" in kind and kind != POWER_CUT
