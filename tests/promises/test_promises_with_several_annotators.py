"""Promises 1, 3, 5 and 6 where several people judge an item, and gold items are among them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from connector.labels import Judgement
from tests.promises.faults import FATES, Fate
from tests.promises.small import CLASSES, small_assessment
from tests.promises.world import LONG_US, N_PEOPLE, Step, World, histories, live_through, new_world
from worker.assessment import Assessment
from worker.core.crowd import inference
from worker.setup.replaying import unrepeated_choices
from worker.store import Header
from worker.store.records import load
from worker.store.tally import tally_key

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 60
PLANS = {
    "majority": "{per_item: 2, per_item_max: 3, rule: majority, skips: 3}",
    "dawid-skene": "{per_item: 2, rule: dawid-skene, item_confidence: 0.9, skips: 3,"
    " gold: {items: gold.csv, rate: 0.3}}",
    "first": "{per_item: 2, rule: first, skips: 3}",
}


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """How well the classes of items are inferred is no matter here; a turn takes a tenth of it."""
    monkeypatch.setattr(inference, "_FEWEST", 1)
    monkeypatch.setattr(inference, "_MOST", 1)


@pytest.fixture(scope="module", params=PLANS)
def several(request: pytest.FixtureRequest, folder: Path) -> Small:
    """A small assessment in which two people judge an item."""
    home = folder / f"several-{request.param}"
    home.mkdir(exist_ok=True)
    rows = [f"gold-{n},the picture of gold-{n},{CLASSES[n % 3]}\n" for n in range(4)]
    (home / "gold.csv").write_text("item_id,text,label\n" + "".join(rows), encoding="utf-8")
    stop = "{mrr: {confidence: 0.9999}, budget: 12}"
    return small_assessment(home, stop, f"annotation: {PLANS[request.param]}\n")


def true_outcomes(world: World) -> dict[str, str]:
    """Item -> what its votes add up to, worked out from what Label Studio holds alone."""
    judged: dict[str, list[Judgement]] = {}
    for snapshot in world.desk.snapshots():
        if snapshot.item:
            judged.setdefault(snapshot.item, []).extend(snapshot.judgements)
    outcomes = {}
    for item, judgements in judged.items():
        votes: dict[int, str] = {}
        for j in sorted(judgements, key=lambda j: j.annotation):
            if j.label is not None and j.author is not None and j.author not in votes:
                votes[j.author] = j.label
        said = _added_up(world.assessment.rules.kind, votes)
        if said is not None:
            outcomes[item] = said
    return outcomes


def _added_up(rule: str, votes: dict[int, str]) -> str | None:
    given = list(votes.values())
    if rule == "dawid-skene":
        return (
            json.dumps({str(w): votes[w] for w in sorted(votes)}, separators=(",", ":"))
            if votes
            else None
        )
    if rule == "first":
        return given[0] if given else None
    if len(given) < 2 or (given[0] != given[1] and len(given) < 3):
        return None
    if given[0] == given[1] or given[2] not in given[:2]:
        return given[0] if given[0] == given[1] else "\n".join(sorted(given[:3]))
    return given[2]


def assert_all_is_counted_once(world: World) -> None:
    assert world.kept_outcomes() == true_outcomes(world)
    records = map(load, world.ledger.every_record())
    fold = Counter(
        tally_key(r.claim, r.cell, r.predicted, r.outcome) for r in records if r.outcome is not None
    )
    assert dict(world.ledger.state().tally) == fold


@settings(max_examples=40)
@given(history=histories())
def test_after_any_history_every_vote_is_counted_once(
    several: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(several, folder, keeper) as world:
        live_through(world, history).settle()

        assert_all_is_counted_once(world)
        assert not unrepeated_choices(world.assessment, world.ledger)


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_a_worker_every_vote_is_counted_once(
    several: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(several, folder, keeper) as world:
            world.turn()
            first, *_ = world.desk.task_ids()
            world.desk.annotate(first, CLASSES[1], author=0)
            world.turn()
            world.desk.now_us += LONG_US
            world.desk.annotate(first, CLASSES[0], author=1)

            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()

            assert_all_is_counted_once(world)
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_everybody_is_served_until_every_item_has_its_votes(several: Small, folder: Path) -> None:
    """People who label one after the other never meet an empty queue before the budget is spent."""
    with new_world(several, folder, None) as world:
        world.turn()
        voters: Counter[int] = Counter()
        while world.ledger.state().status == "running":
            served = [who for who in range(N_PEOPLE) if world.desk.next_task(who) is not None]
            assert served, "nobody has anything to do, and nothing is decided"
            task = world.desk.next_task(served[0])
            assert task is not None
            for who in served[:2]:
                if world.desk.next_task(who) is not None:
                    task = world.desk.next_task(who)
                    assert task is not None
                    world.desk.annotate(task, CLASSES[(task + who) % 3], who)
                    voters[who] += 1
            world.turn()
        world.settle()

        assert_all_is_counted_once(world)
        assert max(world.tasks_of_items().values()) == 1
        assert not [t for who in range(N_PEOPLE) if (t := world.desk.next_task(who)) is not None]
        assert len([d for d in world.ledger.decisions() if json.loads(d)["kind"] == "stop"]) == 1
