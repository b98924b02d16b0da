"""Any history, delivered in any way, ends as the truth does; on both ledgers alike."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from connector.labels import TaskSnapshot
from tests.contract.ledgers import (
    RULES,
    claimed,
    header_of,
)
from tests.fakes import FakeDesk
from worker.service.server import connect
from worker.store import (
    Ledger,
    MemoryLedger,
)
from worker.store.valkey import ValkeyLedger
from worker.turn.sync import record, take_stock

ITEMS = ("a", "b:é", 'c"')
steps = st.lists(
    st.tuples(
        st.sampled_from(["annotate", "odd", "skip", "edit", "delete", "remove", "put", "close"]),
        st.integers(0, 20),
        st.sampled_from(["cat", "dog", "cow"]),
    ),
    max_size=14,
)


def take_step(desk: FakeDesk, action: str, n: int, label: str) -> None:
    """Do one thing to one of the tasks or annotations there are."""
    tasks = desk.task_ids()
    annotations = [j.annotation for snapshot in desk.snapshots() for j in snapshot.judgements]
    if action == "put":
        desk.put([{"item_id": [*ITEMS, "a stranger's", ""][n % 5]}])
    elif action in ("edit", "delete") and annotations:
        annotation = annotations[n % len(annotations)]
        if action == "edit":
            desk.edit(annotation, label)
        else:
            desk.delete_annotation(annotation)
    elif tasks:
        task = tasks[n % len(tasks)]
        if action == "annotate":
            desk.annotate(task, label, author=n % 3)
        elif action == "odd":
            desk.submit(task, [], author=n % 3)
        elif action == "skip":
            desk.skip(task, author=n % 3)
        elif action == "remove":
            desk.delete_task(task)
        elif action == "close":
            desk.close([task])


def fold(snapshots: Sequence[TaskSnapshot], items: Sequence[str]) -> dict[str, int]:
    """The tally that the truth amounts to: of each item, the lowest valid annotation."""
    tally: Counter[str] = Counter()
    for number, item in enumerate(items):
        labels = {
            j.annotation: str(j.label)
            for snapshot in snapshots
            if snapshot.item == item
            for j in snapshot.judgements
            if j.status == "valid"
        }
        if labels:
            tally[f"0:0:{number % 3}:{labels[min(labels)]}"] += 1
    return dict(tally)


@settings(max_examples=120)
@given(history=steps, data=st.data())
def test_any_delivery_of_any_history_ends_with_the_fold_of_the_last_snapshots_on_both_ledgers(
    valkey_url: str, history: list[tuple[str, int, str]], data: st.DataObject
) -> None:
    desk = FakeDesk()
    desk.put([{"item_id": item} for item in ITEMS])
    readings = [desk.snapshots()]  # everything as it was, after each step
    for step in history:
        take_step(desk, *step)
        readings.append(desk.snapshots())
    deliveries = data.draw(
        st.lists(
            st.integers(1, len(readings)).flatmap(
                lambda n: st.tuples(
                    st.just(n),
                    st.lists(st.sampled_from(readings[n - 1]), max_size=6)
                    if readings[n - 1]
                    else st.just([]),
                )
            ),
            max_size=12,
        ),
        label="what arrives: (number of the reading, its snapshots)",
    )

    with connect(valkey_url) as connection:
        name = secrets.token_hex(8)
        twins: list[Ledger] = [MemoryLedger(name), ValkeyLedger(connection, name)]
        for ledger in twins:
            ledger.begin(header_of(name))
            claimed(ledger, *ITEMS)
            for reading, snapshots in deliveries:
                record(ledger, snapshots, reading, RULES)
            for _ in readings:
                ledger.next_reading()
            take_stock(ledger, desk, RULES)
        memory, stored = twins

        assert dict(memory.state().tally) == fold(desk.snapshots(), ITEMS)
        assert set(memory.tasks()) == set(desk.task_ids())
        rejected = [
            j.annotation
            for snapshot in desk.snapshots()
            if snapshot.item in ITEMS
            for j in snapshot.judgements
            if j.status == "rejected"
        ]
        assert sorted(memory.rejected()) == sorted(rejected)
        assert_equal(memory, stored)


@settings(max_examples=60)
@given(
    history=steps.map(lambda made: [step for step in made if step[0] != "remove"]),
    order=st.randoms(use_true_random=False),
)
def test_readings_in_any_order_and_twice_amount_to_the_last_one(
    valkey_url: str, history: list[tuple[str, int, str]], order: Random
) -> None:
    desk = FakeDesk()
    desk.put([{"item_id": item} for item in ITEMS])
    snapshots = desk.snapshots()
    for step in history:
        take_step(desk, *step)
        snapshots += desk.snapshots()
    sent = list(enumerate(snapshots, start=1)) * 2
    order.shuffle(sent)

    with connect(valkey_url) as connection:
        name = secrets.token_hex(8)
        twins: list[Ledger] = [MemoryLedger(name), ValkeyLedger(connection, name)]
        for ledger in twins:
            ledger.begin(header_of(name))
            claimed(ledger, *ITEMS)
            for reading, snapshot in sent:
                record(ledger, [snapshot], reading, RULES)

        assert dict(twins[0].state().tally) == fold(desk.snapshots(), ITEMS)
        assert_equal(*twins)


def assert_equal(memory: Ledger, stored: Ledger) -> None:
    """Hold the twins to saying the same about everything."""
    assert stored.state() == memory.state()
    assert stored.records(ITEMS) == memory.records(ITEMS)
    assert stored.tasks() == memory.tasks()
    assert stored.rejected() == memory.rejected()
    assert stored.changes() == memory.changes()
    assert stored.choices() == memory.choices()
