"""Workers on several hosts take turns of the same assessments through one server."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from rq import Worker

from tests.live.service import eventually
from tests.machine import needs
from tests.scale.crew import assert_all_counted, begin_all, carry_pools, label_all, worker
from tests.scale.desk import ToldDesk
from tests.scale.hosts import hosts
from tests.scale.servers import cluster, cluster_url, node
from worker.service.context import Context
from worker.store.settings import Settings

N_ASSESSMENTS, N_LABELS = 4, 25


@needs("hosts")
def test_workers_on_two_hosts_share_the_turns_and_lose_nothing(tmp_path: Path) -> None:
    with ExitStack() as stack:
        address, machines = stack.enter_context(hosts(2))
        server = stack.enter_context(node(tmp_path / "server", host=address))
        context = Context(Settings(tmp_path / "home", server.url, None), server.url)
        stack.callback(context.close)
        names = begin_all(context, tmp_path, N_ASSESSMENTS)
        desks = [ToldDesk(context.state, project) for project in range(N_ASSESSMENTS)]
        for machine in machines:
            home = tmp_path / machine.namespace
            carry_pools(tmp_path, home)
            stack.enter_context(worker(home, {"REDIS_URL": server.url}, machine.command))
        eventually(lambda: Worker.count(connection=context.jobs) == 2)

        label_all(context, desks, names, N_LABELS)

        seen = Worker.all(connection=context.jobs)
        took = {w.ip_address.partition(":")[0]: w.successful_job_count for w in seen}
        assert took.keys() == {machine.address for machine in machines}
        assert min(took.values()) > sum(took.values()) / 10
        assert_all_counted(context, desks, names)


def test_workers_with_state_on_a_cluster_and_jobs_elsewhere_lose_nothing(tmp_path: Path) -> None:
    with ExitStack() as stack:
        masters = stack.enter_context(cluster(tmp_path / "cluster"))
        jobs = stack.enter_context(node(tmp_path / "jobs"))
        state = cluster_url(masters)
        context = Context(Settings(tmp_path / "home", jobs.url, state), jobs.url)
        stack.callback(context.close)
        names = begin_all(context, tmp_path, N_ASSESSMENTS)
        desk_db = stack.enter_context(jobs.connect())
        desks = [ToldDesk(desk_db, project) for project in range(N_ASSESSMENTS)]
        for k in range(2):
            home = tmp_path / f"home-{k}"
            carry_pools(tmp_path, home)
            env = {"REDIS_URL": jobs.url, "ASSAY_STATE_URL": state}
            stack.enter_context(worker(home, env))

        label_all(context, desks, names, N_LABELS)

        assert_all_counted(context, desks, names)
        assert not list(desk_db.scan_iter("assay:{*"))
