"""State on a Valkey in cluster mode: the ledger's contract, a life of an assessment, and moving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

# The very same tests that hold a ledger on a single server to its contract.
from tests.contract.ledgers import header_of
from tests.contract.test_ledger import TestBeginning, TestNotices, TestStoredVersions
from tests.contract.test_ledger_claims import TestClaims, TestDecisions, TestLease
from tests.contract.test_ledger_commits import TestCommits
from tests.contract.test_ledger_state import TestState
from tests.promises.small import small_assessment
from tests.promises.world import Step, live_through, new_world
from tests.scale.servers import Node, cluster, cluster_url, node
from tests.worker.setup.test_moving import DECISION
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import NoServer, UnfitServer, check, connect
from worker.setup.exported import VERSION, NotMovable
from worker.setup.moving import pack, unpack
from worker.store import Ledger
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

__all__ = [
    "TestBeginning",
    "TestClaims",
    "TestCommits",
    "TestDecisions",
    "TestLease",
    "TestNotices",
    "TestState",
    "TestStoredVersions",
]

A_LIFE: list[Step] = [
    *[("turn", 0, 0), ("label", 0, 1), ("bad_turn", 1, 9), ("label", 1, 0), ("skip", 0, 0)],
    *[("lost_import", 1, 0), ("label", 2, 2), ("edit", 0, 2), ("bad_turn", 0, 14)],
    *[("label", 0, 0), ("nonsense", 1, 0), ("turn", 0, 0), ("delete_annotation", 1, 0)],
    *[("delete_task", 2, 0), ("long_pause", 0, 0), ("lost_import", 0, 0), ("label", 1, 1)],
]


@pytest.fixture(scope="module")
def masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    with cluster(tmp_path_factory.mktemp("cluster") / "nodes") as nodes:
        yield nodes


@pytest.fixture
def valkey(masters: list[Node]) -> Iterator[Redis]:
    with connect(cluster_url(masters)) as connection:
        yield connection


@pytest.fixture
def ledger(valkey: Redis, assessment_id: str) -> Ledger:
    begun = ValkeyLedger(valkey, assessment_id)
    begun.begin(header_of(assessment_id))
    return begun


def test_an_assessment_is_kept_right_whatever_happens_to_its_workers(
    masters: list[Node], tmp_path: Path
) -> None:
    small = small_assessment(tmp_path / "plan", "{mrr: {confidence: 0.9999}}")
    for turned in range(3):
        with new_world(small, tmp_path / f"files-{turned}", cluster_url(masters)) as world:
            live_through(world, A_LIFE[:1] + A_LIFE[turned:]).settle()

            assert world.kept_outcomes() == world.true_outcomes()
            assert world.kept_tally() == world.true_tally()
            assert max(world.tasks_of_items().values()) == 1


def test_assessments_spread_over_the_masters_and_none_over_two(
    masters: list[Node], valkey: Redis
) -> None:
    names = [f"spread-{n}" for n in range(30)]
    for name in names:
        ledger = ValkeyLedger(valkey, name)
        ledger.begin(header_of(name))
        ledger.set_metadata(told_file=1)

    held = []
    for one in masters:
        with one.connect() as connection:
            keys = [str(key) for key in connection.scan_iter("assay:{spread-*")]
            held.append({key.partition("}")[0].partition("{")[2] for key in keys})
    assert all(held)
    assert sorted(name for names_there in held for name in names_there) == sorted(names)


def test_an_assessment_moves_from_a_single_server_to_a_cluster_and_back(
    valkey: Redis, tmp_path: Path, assessment_id: str
) -> None:
    _, header = small_assessment(tmp_path / "plan", "{mrr: {confidence: 0.9999}}")
    header = replace(header, assessment=assessment_id)
    with server(tmp_path, None) as url, connect(url) as single:
        ledger = ValkeyLedger(single, assessment_id)
        ledger.begin(header)
        ledger.set_metadata(cursor=12)
        ledger.publish(0, DECISION, stops=True)
        kept = pack(single, assessment_id)
        single.flushall()

        assert unpack(valkey, {"version": VERSION, "kept": kept}) == header
        assert pack(valkey, assessment_id) == kept
        with pytest.raises(NotMovable, match="here already"):
            unpack(valkey, {"version": VERSION, "kept": kept})
        unpack(single, {"version": VERSION, "kept": pack(valkey, assessment_id)})
        assert pack(single, assessment_id) == kept


def test_a_process_keeps_state_on_the_cluster_and_jobs_on_another_server(
    masters: list[Node], tmp_path: Path, assessment_id: str
) -> None:
    with node(tmp_path / "jobs") as jobs:
        settings = Settings(tmp_path, jobs.url, cluster_url(masters))
        context = Context(settings, jobs.url)
        context.ledger(assessment_id).begin(header_of(assessment_id))
        context.enter(assessment_id)

        assert assessment_id in context.ids()
        assert context.wake(assessment_id)

        with jobs.connect() as connection:
            keys = set(connection.scan_iter())
        assert keys
        assert all(str(key).startswith("rq:") for key in keys)
        context.close()


def test_a_cluster_is_checked_node_by_node(masters: list[Node]) -> None:
    url = cluster_url(masters)
    with connect(url) as connection, masters[-1].connect() as last:
        assert check(connection, url)["aof"] == "yes"
        last.config_set("maxmemory-policy", "allkeys-lru")
        try:
            with pytest.raises(UnfitServer, match="allkeys-lru"):
                check(connection, url)
        finally:
            last.config_set("maxmemory-policy", "noeviction")


def test_a_clusters_node_that_is_named_as_a_single_server_is_refused_with_the_cure(
    masters: list[Node],
) -> None:
    with (
        connect(masters[0].url) as connection,
        pytest.raises(UnfitServer, match=r"redis\+cluster://"),
    ):
        check(connection, masters[0].url)


def test_rq_is_not_let_near_a_cluster(masters: list[Node]) -> None:
    with pytest.raises(NoServer, match=r"REDIS_URL.*single server"):
        connect(cluster_url(masters), text=False)


def test_a_cluster_that_is_away_is_named_without_its_password() -> None:
    with pytest.raises(NoServer, match="ASSAY_STATE_URL") as caught:
        connect("redis+cluster://:s3cret@127.0.0.1:1", is_patient=False)
    assert "s3cret" not in str(caught.value)


def test_a_cluster_that_went_away_is_waited_for_as_a_single_server_is(
    tmp_path: Path, assessment_id: str
) -> None:
    with (
        cluster(tmp_path / "nodes") as nodes,
        connect(cluster_url(nodes), is_patient=False) as connection,
    ):
        ledger = ValkeyLedger(connection, assessment_id)
        ledger.begin(header_of(assessment_id))
        for one in nodes:
            one.kill()

        calls = (ledger.state, ledger.metadata, lambda: ledger.move("running", "paused"))
        for call in calls * 2:
            with pytest.raises(RedisError):
                call()
