"""Promise 5: same plan, seed, claim number, tally and pending items: same choice and decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from tests.promises.faults import FATES, Fate
from tests.promises.small import CLASSES
from tests.promises.world import Step, histories, live_through, new_world
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.setup.replaying import replay, unrepeated_choices
from worker.store import Header

Small = tuple[Assessment, Header]


@settings(max_examples=40)
@given(history=histories())
def test_after_any_history_every_logged_choice_can_be_made_again(
    long_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        live_through(world, history)

        assert unrepeated_choices(world.assessment, world.ledger) == []


# The budget is spent, and a label is deleted afterwards: a review of a question that is open again.
REOPENED: list[Step] = [
    ("turn", 0, 0), ("label", 0, 0), ("turn", 0, 0), *[("label", 0, 0)] * 3,
    ("turn", 0, 0), ("delete_annotation", 0, 0),
]  # fmt: skip


@settings(max_examples=25)
@given(history=histories("change_text", "swap_items", "ask_otherwise"))
@example(history=REOPENED)
def test_after_any_history_a_replay_from_label_studio_alone_finds_no_difference(
    short_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        live_through(world, history).settle()

        found = replay(world.assessment, world.ledger, world.desk)

        assert found.tally_differences == {}
        assert found.choices_not_repeated == ()
        assert found.is_decision_repeated is not False


@settings(max_examples=15)
@given(history=histories(max_size=25))
def test_both_ledgers_lead_to_the_same_choices_and_the_same_decisions(
    short_assessment: Small, folder: Path, valkey_url: str, history: list[Step]
) -> None:
    kept = []
    for keeper in (None, valkey_url):
        with new_world(short_assessment, folder, keeper) as world:
            live_through(world, history)
            decisions = [json.loads(text) for text in world.ledger.decisions()]
            kept.append((world.ledger.choices(), [_lasting(d) for d in decisions]))

    assert kept[0] == kept[1]


def _lasting(decision: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in decision.items() if key != "decided_at"}


@pytest.mark.parametrize("fate", FATES)
def test_what_happened_to_a_worker_does_not_change_what_is_chosen(
    long_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    def choices(fate: Fate | None, at: int) -> list[tuple[int, str]]:
        with new_world(long_assessment, folder, keeper) as world:
            world.turn()
            for label in CLASSES:
                task = world.desk.next_task(0)
                assert task is not None
                world.desk.annotate(task, label, 0)
            world.turn(fate, at)
            world.turn()
            return [(choice["claim"], choice["item"]) for choice in world.ledger.choices()]

    undisturbed = choices(None, 0)

    for at in range(1, 40, 3):
        chosen = choices(fate, at)
        assert chosen[: len(undisturbed)] == undisturbed
        # While it stalls in an import, people get other items.
        assert len(chosen) == len(undisturbed) or fate.startswith("stalls")


def test_another_seed_leads_to_other_choices(long_assessment: Small, folder: Path) -> None:
    assessment, header = long_assessment
    plan = load_plan(folder / "long" / "plan.yaml").model_copy(update={"seed": 2})
    logs = []
    for small in (long_assessment, (assess(plan, assessment.pool), header)):
        with new_world(small, folder, None) as world:
            live_through(world, [("turn", 0, 0), *[("label", 0, 0), ("turn", 0, 0)] * 8])
            logs.append([choice["item"] for choice in world.ledger.choices()])

    assert logs[0] != logs[1]
