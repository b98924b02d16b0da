"""A replica that lags becomes the master: what it never heard of is read again from the desk."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis import Redis

from tests.promises.small import CLASSES, small_assessment
from tests.promises.world import N_PEOPLE, World
from tests.scale.address import address_of
from tests.scale.crew import (
    assert_all_counted,
    begin_all,
    carry_pools,
    label_all,
    wait_until_idle,
    worker,
)
from tests.scale.desk import ToldDesk
from tests.scale.roomy import roomy
from tests.scale.servers import caught_up, cut_off, node, pair, promote
from worker.assessment import Assessment
from worker.service.context import Context
from worker.service.server import connect
from worker.setup.replaying import replay
from worker.store import Header
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

N_STEPS = 12
# Of a turn that fills the queue.
N_CALLS = 19
Small = tuple[Assessment, Header]


@pytest.fixture(scope="module", params=["an item a cell", "six items a cell"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Small:
    folder, stop = tmp_path_factory.mktemp("failover"), "{mrr: {confidence: 0.9999}, budget: 14}"
    return small_assessment(folder, stop) if "an item" in request.param else roomy(folder, stop)


def label_one(world: World, n: int) -> None:
    who = n % N_PEOPLE
    task = world.desk.next_task(who)
    if task is not None:
        world.desk.annotate(task, CLASSES[n % len(CLASSES)], who)


def live(world: World, steps: range) -> None:
    for n in steps:
        world.turn()
        label_one(world, n)


@pytest.mark.parametrize("heard", [0, 1, 4, 9])
def test_what_a_lagging_replica_never_heard_of_is_neither_lost_nor_doubled(
    small: Small, tmp_path: Path, heard: int
) -> None:
    """`heard` of the steps reached the replica; claims, imports and labels after them did not."""
    work, header = small
    with (
        pair(tmp_path / "servers") as (master, replica),
        connect(master.url) as before,
        connect(replica.url) as after,
    ):
        world = World(work, header, begun(before, header), tmp_path / "files")
        live(world, range(heard))
        caught_up(master, replica)
        cut_off(replica)
        live(world, range(heard, N_STEPS))
        n_labels = len(world.true_outcomes())
        assert n_labels > heard
        master.kill()
        promote(replica)

        world.ledger = ValkeyLedger(after, header.assessment)
        assert len(world.kept_outcomes()) < n_labels
        world.ledger.drop_lease("worker-0")
        world.settle()
        assert_right(world)

        for n in range(N_STEPS, 3 * N_STEPS):
            world.turn()
            label_one(world, n)
        world.settle()
        assert world.ledger.state().status == "stopped"
        assert_right(world)


@pytest.mark.parametrize("small", ["an item a cell"], indirect=True)
@pytest.mark.parametrize("at", range(1, N_CALLS))
def test_a_turn_that_was_begun_at_the_lost_master_sends_nothing_again(
    small: Small, tmp_path: Path, at: int
) -> None:
    """The replica takes over before its `at`-th call: what it read it told to the old one alone."""
    work, header = small
    with ExitStack() as stack:
        master, replica = stack.enter_context(pair(tmp_path / "servers"))
        address = stack.enter_context(address_of(master))
        connection = stack.enter_context(connect(address.url))
        world = World(work, header, begun(connection, header), tmp_path / "files")
        live(world, range(2))
        caught_up(master, replica)
        cut_off(replica)
        live(world, range(2, 5))

        def take_over() -> None:
            address.leave()
            master.kill()
            promote(replica)
            address.move_to(replica)

        assert len(world.turn("stalls before", at, meanwhile=take_over).calls) >= at
        world.settle()
        assert_right(world)


def test_workers_go_on_with_the_promoted_replica_behind_the_same_address(tmp_path: Path) -> None:
    """State, jobs and what RQ knows of its workers go back to what the replica heard."""
    with ExitStack() as stack:
        master, replica = stack.enter_context(pair(tmp_path / "servers"))
        address = stack.enter_context(address_of(master))
        tool = stack.enter_context(stack.enter_context(node(tmp_path / "tool")).connect())
        context = Context(Settings(tmp_path / "home", address.url, None), address.url)
        stack.callback(context.close)
        names = begin_all(context, tmp_path, 3)
        desks = [ToldDesk(tool, project) for project in range(3)]
        url = f"redis://127.0.0.1:{tool.connection_pool.connection_kwargs['port']}/0"
        for k in range(2):
            home = tmp_path / f"home-{k}"
            carry_pools(tmp_path, home)
            stack.enter_context(worker(home, {"REDIS_URL": address.url, "SCALE_DESK_URL": url}))
        label_all(context, desks, names, 8)
        caught_up(master, replica)
        cut_off(replica)
        label_all(context, desks, names, 8)
        # A request that is on its way then may put an item there twice; the test before has each.
        wait_until_idle(context)

        address.leave()
        master.kill()
        promote(replica)
        # looked at before the workers find it, who read again what it lacks
        with connect(replica.url) as new:
            heard = [sum(ValkeyLedger(new, name).state().tally.values()) for name in names]
        assert max(heard) < 16  # something was lost
        address.move_to(replica)
        label_all(context, desks, names, 8)
        assert_all_counted(context, desks, names)


def begun(connection: Redis, header: Header) -> ValkeyLedger:
    ledger = ValkeyLedger(connection, header.assessment)
    ledger.begin(header)
    return ledger


def assert_right(world: World) -> None:
    """Nothing lost, counted twice or queued twice; everything is replayed."""
    assert world.kept_outcomes() == world.true_outcomes()
    assert world.kept_tally() == world.true_tally()
    assert [i for i, n in world.tasks_of_items().items() if n > 1] == []
    assert Counter(choice["item"] for choice in world.ledger.choices()) == Counter(
        world.tasks_of_items().keys()
    )
    assert replay(world.assessment, world.ledger, world.desk).is_equal
