"""Whatever is killed, comes back or is away for a while: nothing is lost, nothing counted twice."""

from __future__ import annotations

import os
import signal
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import get_args

import pytest

from connector.annotator import Annotator, AnnotatorError, sign_up
from connector.local import LabelStudioServer, start
from tests.live.pools import (
    SignUp,
    Trial,
    assert_no_item_twice,
    assert_tally_is_label_studios,
    exported,
    insects,
    outcomes_of,
    shown_items,
)
from tests.live.proxy import Moment, Proxy, Trap, proxy_to
from tests.live.service import PATIENCE_S, Service, eventually, service
from worker.store.rules import Rules
from worker.turn.leasing import LEASE_MS
from worker.turn.refill import CUT_MS

pytestmark = pytest.mark.live


def kill_the_worker_at_its_first_import(
    at_work: Service, proxy: Proxy, trial: Trial, moment: Moment
) -> int:
    """Begin; kill -9 the worker in the given moment, then start another one. Return the project."""
    at_work.spawn("watch", "--every", "1")
    eventually((at_work.home / "valkey" / "socket").exists)
    project = at_work.begin(trial.plan)
    worker = at_work.spawn("worker")
    trap = Trap(moment, worker.kill)
    proxy.trap = trap
    assert trap.sprung.wait(60), "the worker imports nothing"
    at_work.end(worker)
    assert worker.returncode == -signal.SIGKILL
    states = {r.state(Rules()) for r in at_work.records(trial.assessment).values()}
    assert states == {"intended"}
    at_work.spawn("worker")
    return project


def assert_nothing_is_lost_or_doubled(
    at_work: Service,
    proxy: Proxy,
    studio: LabelStudioServer,
    trial: Trial,
    project: int,
    person: Annotator,
    moment: Moment,
) -> None:
    eventually(lambda: at_work.status(trial.assessment)["open_items"] == 3)
    shown = {item for item, r in at_work.records(trial.assessment).items() if r.tasks}
    assert shown_items(studio, project) == Counter(shown)
    # What was sent and never arrived may still be on its way: people get other items meanwhile.
    is_lost = moment == "before it reaches Label Studio"
    claimed = set(at_work.records(trial.assessment))
    assert (len(shown), len(claimed)) == (3, 6 if is_lost else 3)
    assert proxy.imports == 1
    end_doubts(at_work, trial)
    assert proxy.imports == (2 if is_lost else 1)
    assert set(at_work.records(trial.assessment)) == claimed
    assert_no_item_twice(at_work, studio, trial.assessment, project)

    trial.answer(person, project)
    eventually(lambda: at_work.labels(trial.assessment) == 1)
    assert_tally_is_label_studios(at_work, studio, trial, project)
    assert at_work.json("replay", trial.assessment)["is_equal"] is True


def test_a_worker_killed_between_claim_and_import_neither_loses_nor_doubles_an_item(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    with ExitStack() as open_until_the_end, ThreadPoolExecutor() as at_once:
        # Both moments at once, since each waits for the dead worker's lease to run out.
        cases = []
        for n, moment in enumerate(get_args(Moment)):
            proxy = open_until_the_end.enter_context(proxy_to(label_studio.url))
            home, env = tmp_path / str(n), {"LABEL_STUDIO_URL": proxy.url}
            at_work = open_until_the_end.enter_context(service(home, label_studio, env))
            trial = insects(tmp_path)
            kill = kill_the_worker_at_its_first_import
            project = at_once.submit(kill, at_work, proxy, trial, moment)
            cases.append((at_work, proxy, trial, project, moment))
        for at_work, proxy, trial, project, moment in cases:
            assert_nothing_is_lost_or_doubled(
                at_work, proxy, label_studio, trial, project.result(), annotator(), moment
            )


def label_until(done: Event, trial: Trial, project: int, person: Annotator) -> int:
    """Answer truthfully, every third task wrongly at first, until told; return how often."""
    answered = 0
    while not done.is_set():
        task = person.next_task(project)
        if task is None:
            done.wait(0.2)
            continue
        item = task["data"]["item_id"]
        if answered % 3 == 2:
            annotation = trial.submit(person, task, trial.another(item))
            person.edit(annotation["id"], trial.truth[item])
        else:
            trial.submit(person, task)
        answered += 1
    return answered


def wait_for_more_labels(up: Service, trial: Trial, more: int, busy: list[Future[int]]) -> None:
    goal = up.labels(trial.assessment) + more

    def is_there() -> bool:
        for person in busy:
            assert not person.done(), f"an annotator gave up: {person.exception()!r}"
        return up.labels(trial.assessment) >= goal

    eventually(is_there)


def end_doubts(at_work: Service, trial: Trial) -> None:
    """Take an import that a kill left in doubt for over now, and wait until all claims have tasks.

    Otherwise nobody looks it up for five minutes. Only who has the lease may say so: at a worker's
    import that is under way it would be done twice.
    """
    ledger = at_work.context.ledger(trial.assessment)
    eventually(lambda: ledger.take_lease("test-1", LEASE_MS))
    if unsettled := ledger.state().unsettled.values():
        ledger.doubt([u.claim for u in unsettled], 0)
    ledger.drop_lease("test-1")
    at_work.context.wake(trial.assessment)
    eventually(lambda: all(r.tasks for r in at_work.records(trial.assessment).values()))


def test_after_valkey_and_a_worker_were_killed_mid_run_the_tally_is_that_of_label_studios_export(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    # A question that stays open until nearly all is labelled, so that all of this can happen.
    trial = insects(tmp_path, stop="{rmse: 0.001}", task="estimate")
    done = Event()
    with service(tmp_path / "home", label_studio) as up, ThreadPoolExecutor() as people:
        up.spawn_all("--workers", "2")
        project = up.begin(trial.plan)
        busy = [people.submit(label_until, done, trial, project, annotator()) for _ in range(2)]
        try:
            wait_for_more_labels(up, trial, 4, busy)
            os.kill(int(up.context.state.info()["process_id"]), signal.SIGKILL)
            wait_for_more_labels(up, trial, 4, busy)
            os.kill(up.pids()["worker-1"], signal.SIGKILL)
            wait_for_more_labels(up, trial, 4, busy)
        finally:
            done.set()
        answered = sum(person.result() for person in busy)

        outcomes = eventually(lambda: outcomes_of(exported(label_studio, project), trial))
        eventually(lambda: up.labels(trial.assessment) == len(outcomes))

        assert answered >= len(outcomes) >= 12
        eventually(
            lambda: (
                {i: r.outcome for i, r in up.records(trial.assessment).items() if r.outcome}
                == outcomes
            )
        )
        assert_tally_is_label_studios(up, label_studio, trial, project)
        end_doubts(up, trial)  # a kill may have hit an import
        assert_no_item_twice(up, label_studio, trial.assessment, project)
        said = up.run("replay", trial.assessment)
        assert said.code == 0, said.out + said.err


def test_without_a_receiver_the_watcher_finds_every_label(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    with service(tmp_path / "home", label_studio) as up:
        up.spawn_all()
        project = up.begin(trial.plan)
        ada = annotator()
        trial.answer(ada, project)
        eventually(lambda: up.labels(trial.assessment) == 1)

        # Stopped and not killed: `up` would start another one. Label Studio's calls time out.
        os.kill(up.pids()["receiver"], signal.SIGSTOP)
        try:
            for _ in range(2):
                trial.answer(ada, project)
            eventually(lambda: up.labels(trial.assessment) == 3)
        finally:
            os.kill(up.pids()["receiver"], signal.SIGCONT)

        os.kill(up.pids()["receiver"], signal.SIGKILL)
        trial.answer(ada, project)
        eventually(lambda: up.labels(trial.assessment) == 4)
        assert_tally_is_label_studios(up, label_studio, trial, project)


def test_while_label_studio_is_away_nothing_is_lost_and_the_status_says_so(
    tmp_path: Path,
) -> None:
    trial = insects(tmp_path, stop="{budget: 6}")
    name = trial.assessment
    with start(tmp_path / "studio") as studio, service(tmp_path / "home", studio) as up:
        up.spawn_all()
        project = up.begin(trial.plan)
        with sign_up(studio.url, studio.token, "ada@example.com", "long-enough-7") as ada:
            trial.answer(ada, project)
            eventually(lambda: up.labels(name) == 1)
            trial.answer(ada, project)
            studio.stop()

            error = eventually(lambda: up.status(name)["error"])
            assert f"Label Studio at {studio.url} did not answer" in error
            with suppress(AnnotatorError):
                ada.next_task(project)

            studio.restart()
            eventually(lambda: up.labels(name) == 2)
            trial.answer(ada, project)
            eventually(lambda: up.labels(name) == 3)
            # What was being imported when it went away is looked up once that is surely over.
            ledger = up.context.ledger(name)
            eventually(
                lambda: all(u.tasks for u in ledger.state().unsettled.values()),
                PATIENCE_S + CUT_MS / 1000,
            )
        eventually(lambda: up.status(name)["error"] == "")
        assert_tally_is_label_studios(up, studio, trial, project)
        assert_no_item_twice(up, studio, name, project)
