"""Runs that RQ workers take."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from connector.supervised import tied
from tests.worker.simulate.simulated_pool import write_plan
from worker.service.context import Context
from worker.simulate.cases import Asked, prepare
from worker.simulate.spread import QUEUE, RunFailed, here, over_rq
from worker.store.settings import Settings


@pytest.fixture
def context(valkey_home: Path, valkey_url: str) -> Iterator[Context]:
    context = Context(Settings(valkey_home, None, None), valkey_url)
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    yield context
    assert len(queue) == 0
    context.close()


@contextmanager
def workers(n: int, url: str, home: Path, **more: str) -> Iterator[None]:
    """So many workers, each a process of its own, as `assay worker` begins them."""
    env = os.environ | {"REDIS_URL": url, "ASSAY_HOME": str(home)} | more
    root = Path(__file__).parents[3]
    command = tied([sys.executable, "-m", "worker.cli", "worker"])
    started = [subprocess.Popen(command, env=env, cwd=root) for _ in range(n)]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=300)


def in_order(runs):
    return sorted(
        ((at, replace(run, cpu_s=0.0)) for at, run in runs), key=lambda r: (r[0], r[1].number)
    )


def test_rq_workers_come_to_the_same_runs_as_this_machine_alone(
    context, valkey_url, valkey_home, tmp_path
):
    asked = Asked(truth="truth", strategies=("random", "thompson"), seed=5)
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", asked)

    with workers(2, valkey_url, valkey_home):
        elsewhere = in_order(over_rq(cases, 3, context))

    assert elsewhere == in_order(here(cases, 3, n_processes=1))


def test_workers_find_the_pool_in_their_own_home_if_it_is_not_where_it_was(
    context, valkey_url, valkey_home, tmp_path
):
    (case,) = prepare(write_plan(tmp_path), valkey_home / "pools", Asked(truth="truth"))
    moved = replace(
        case, pool=f"/gone/{Path(case.pool).name}", truth=f"/gone/{Path(str(case.truth)).name}"
    )

    with workers(1, valkey_url, valkey_home):
        runs = in_order(over_rq([moved], 2, context))

    assert runs == in_order(here([case], 2, n_processes=1))


def test_workers_on_other_machines_fetch_pool_and_truth_from_the_store(
    context, valkey_url, valkey_home, tmp_path
):
    store, pools = f"file://{tmp_path / 'store'}", tmp_path / "pools"
    (case,) = prepare(write_plan(tmp_path), pools, Asked(truth="truth"))
    expected = in_order(here([case], 2, n_processes=1))
    publishing = Context(Settings(valkey_home, None, None, pool_store=store), valkey_url)
    with pytest.raises(RunFailed, match="no worker"):
        list(over_rq([case], 1, publishing, patience_s=0.3))
    publishing.close()
    pools.rename(tmp_path / "not there")

    with workers(1, valkey_url, tmp_path / "elsewhere", ASSAY_POOL_STORE=store):
        runs = in_order(over_rq([case], 2, context))

    assert runs == expected
    fetched = {path.name for path in (tmp_path / "elsewhere" / "pools").iterdir()}
    assert fetched == {Path(str(name)).name for name in (case.pool, case.truth)}


def test_a_run_that_fails_elsewhere_says_why_here(context, valkey_url, valkey_home, tmp_path):
    (case,) = prepare(write_plan(tmp_path), tmp_path / "pools", Asked(truth="truth"))
    lost = replace(case, pool="/gone/nobody-compiled-this.arrow")

    with workers(1, valkey_url, valkey_home), pytest.raises(RunFailed, match="the compiled pool"):
        list(over_rq([lost], 2, context))


def test_without_workers_it_does_not_wait_for_ever(context, tmp_path):
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", Asked(truth="truth"))
    with pytest.raises(RunFailed, match="assay worker"):
        list(over_rq(cases, 1, context, patience_s=0.3))


def test_a_job_whose_worker_died_does_not_hide_why_the_runs_ended(context, tmp_path):
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", Asked(truth="truth"))
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)

    with ThreadPoolExecutor(1) as beside:
        runs = beside.submit(lambda: list(over_rq(cases, 1, context, patience_s=2.0)))
        while not (jobs := queue.jobs):
            assert not runs.done()
            time.sleep(0.01)
        # what a dead worker leaves: its execution is still listed, and expired by itself
        registry = jobs[0].execution_registry
        context.jobs.zadd(registry.key, {"of the dead": time.time() + 3600})
        with pytest.raises(RunFailed, match="assay worker"):
            runs.result()

    assert not context.jobs.exists(registry.key, jobs[0].key)


def test_processes_that_took_runs_are_gone_when_nobody_wants_them_any_more(tmp_path):
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", Asked(truth="truth"))
    runs = here(cases, 200, n_processes=2)
    next(runs)
    runs.close()
    # the executor's own thread reaps them too, so that joining them here would race with it
    deadline = time.monotonic() + 120
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert multiprocessing.active_children() == []
