"""Promises 1, 3, 5 and 6 where all votes on an item count, and none of them is right or wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from connector.labels import Judgement
from tests.promises.small import CLASSES, N_ITEMS, item_name, shown, small_assessment
from tests.promises.world import N_PEOPLE, Step, World, histories, live_through, new_world
from worker.assessment import Assessment, assess
from worker.plan import load_plan, plan_hash
from worker.pool import compile_pool
from worker.setup.replaying import unrepeated_choices
from worker.store import Header
from worker.store.records import load
from worker.store.tally import tally_key

Small = tuple[Assessment, Header]


@pytest.fixture(scope="module")
def judged(folder: Path) -> Small:
    """A small assessment in which two people vote on an item."""
    home = folder / "frequencies"
    _, header = small_assessment(home, "{mrr: {confidence: 0.9999}}")
    names = [f"p_{name}" for name in CLASSES]
    rows = []
    for n in range(N_ITEMS):
        p = [0.2, 0.2, 0.2]
        p[n % 3] += 0.4
        numbers = ",".join(f"{x:g}" for x in p)
        rows.append(f"{item_name(n)},{shown(item_name(n))},{numbers}\n")
    text = f"item_id,text,{','.join(names)}\n" + "".join(rows)
    (home / "predictions.csv").write_text(text, encoding="utf-8")
    (home / "plan.yaml").write_text(
        "assessment: small\n"
        "pool: {predictions: predictions.csv, data: {text: text}, strata: 2,"
        f" probabilities: [{', '.join(names)}]}}\n"
        "question: {task: evaluate}\nannotation: {per_item: 2, skips: 3}\n"
        "stop: {width: 0.001, budget: 8}\n",
        encoding="utf-8",
    )
    plan = load_plan(home / "plan.yaml")
    pool = compile_pool(plan, home / "pools")
    kept = replace(
        header, plan=plan.model_dump_json(), plan_hash=plan_hash(plan), pool_hash=pool.hash,
        pool_file=str(pool.path), pool_sha256=pool.file_sha256, pool_stat=pool.stat,
    )  # fmt: skip
    return assess(plan, pool), kept


def true_outcomes(world: World) -> dict[str, str]:
    """Item -> its row and the votes on it, worked out from what Label Studio holds alone."""
    said: dict[str, list[Judgement]] = {}
    for snapshot in world.desk.snapshots():
        if snapshot.item:
            said.setdefault(snapshot.item, []).extend(snapshot.judgements)
    rows = world.assessment.pool.find(list(said))
    outcomes = {}
    for item, judgements in said.items():
        votes: dict[int, str] = {}
        for j in sorted(judgements, key=lambda j: j.annotation):
            if j.label is not None and j.author is not None:
                votes.setdefault(j.author, j.label)
        if votes:
            counts = dict(sorted(Counter(votes.values()).items()))
            outcomes[item] = f"{rows[item]}:{json.dumps(counts, separators=(',', ':'))}"
    return outcomes


def assert_all_is_counted_once(world: World) -> None:
    assert world.kept_outcomes() == true_outcomes(world)
    records = map(load, world.ledger.every_record())
    fold = Counter(
        tally_key(r.claim, r.cell, r.predicted, r.outcome) for r in records if r.outcome is not None
    )
    tally = dict(world.ledger.state().tally)
    assert tally == fold
    belief = world.assessment.believe(tally)
    assert belief.soft_labels is not None
    votes = sum(
        sum(json.loads(o.partition(":")[2]).values()) for o in true_outcomes(world).values()
    )
    assert belief.soft_labels.n_votes == votes


@settings(max_examples=20)
@given(history=histories(max_size=25))
def test_after_any_history_every_vote_is_counted_once(
    judged: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(judged, folder, keeper) as world:
        live_through(world, history).settle()

        assert_all_is_counted_once(world)
        assert not unrepeated_choices(world.assessment, world.ledger)


def test_everybody_is_served_until_the_budget_is_spent_and_one_decision_follows(
    judged: Small, folder: Path
) -> None:
    with new_world(judged, folder, None) as world:
        world.turn()
        while world.ledger.state().status == "running":
            served = [who for who in range(N_PEOPLE) if world.desk.next_task(who) is not None]
            assert served, "nobody has anything to do, and nothing is decided"
            for who in served:
                if (task := world.desk.next_task(who)) is not None:
                    world.desk.annotate(task, CLASSES[(task + who) % 3], who)
            world.turn()
        world.settle()

        assert_all_is_counted_once(world)
        stops = [d for d in map(json.loads, world.ledger.decisions()) if d["kind"] == "stop"]
        assert [d["reason"] for d in stops] == ["budget"]
        assert stops[0]["evaluation"]["per_item"] == 2
        assert max(world.tasks_of_items().values()) == 1
