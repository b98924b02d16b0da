"""Annotators read how much is done, why they wait, and thanks; and nothing that biases them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from connector.port import marker
from tests.promises.faults import FATES, Fate
from tests.promises.small import CLASSES, small_assessment
from tests.promises.world import Step, World, histories, new_world
from worker.assessment import Assessment
from worker.store import Header

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 80
OWN = "<p>Look twice.</p>"


def read_by_annotators(world: World) -> list[str]:
    """Card, instruction and tabs."""
    return [world.desk.description, world.desk.guidelines[0], *world.desk.tabs]


def labelled(world: World, n: int) -> None:
    """Let somebody answer until there are so many labels."""
    world.turn()
    while sum(world.ledger.state().tally.values()) < n:
        task = world.desk.next_task(0)
        assert task is not None
        world.desk.annotate(task, CLASSES[0], 0)
        world.turn()


def paused(world: World, why: str = "") -> None:
    assert world.ledger.move("running", "paused")
    world.ledger.set_metadata(paused_why=why)
    world.turn()


def resumed(world: World) -> None:
    assert world.ledger.move("paused", "running")
    world.turn()


@settings(max_examples=60)
@given(history=histories("ask_otherwise"))
def test_in_any_history_they_read_neither_a_class_nor_how_sure_it_is(
    short_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        for step in history:
            world.happen(step)
            world.ledger.set_metadata(described_at=0, tab_at=0)
            for text in read_by_annotators(world):
                assert not re.search(r"cat|dog|cow|%|sure|accura|posterior|credible", text), text


def test_only_a_plan_that_says_so_tells_them_the_finding(folder: Path, keeper: str | None) -> None:
    stop = "{mrr: {confidence: 0.9999}, budget: 4}"
    more = "label_studio: {show_finding: true}\n"
    with new_world(small_assessment(folder / "told", stop, more), folder, keeper) as world:
        labelled(world, 1)
        assert "least accurate class" in world.desk.description
        labelled(world, 4)
        (stop,) = map(json.loads, world.ledger.decisions())
        assert stop["text"] in world.desk.description
        assert stop["text"] in world.desk.guidelines[0]


def test_the_card_tells_how_much_is_done_and_the_tab_too(
    short_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        world.turn()
        assert world.desk.description.startswith("No item is labelled yet.")
        assert world.desk.tabs[-1] == "Assay: 0 labels"
        labelled(world, 1)
        world.ledger.set_metadata(described_at=0, tab_at=0)
        world.turn()
        # of a budget of four
        assert world.desk.description.startswith(
            "1 item is labelled so far: about a quarter of what is foreseen."
        )
        assert world.desk.tabs[-1] == "Assay: 1 label"


def test_a_pause_is_told_at_once_with_its_reason_and_goes_away_at_once(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        world.desk.guidelines = OWN, False
        labelled(world, 2)
        before = read_by_annotators(world)
        paused(world, "the photos are <being> sharpened.")

        card, (instruction, is_shown) = world.desk.description, world.desk.guidelines
        assert card.startswith(
            "Labelling is paused (the photos are <being> sharpened): nobody gets new items"
        )
        assert "2 items are labelled so far." in card
        assert "(the photos are &lt;being&gt; sharpened)" in instruction
        assert instruction.endswith(OWN), "who holds a task needs it"
        assert is_shown
        assert world.desk.tabs[-1] == "Assay: paused"
        calls = list(world.desk.calls)
        world.turn()
        new = world.desk.calls[len(calls) :]
        assert not {"describe", "announce", "tab"} & set(new), "told once"

        resumed(world)
        assert world.desk.guidelines == (OWN, False)
        assert "paused" not in " ".join(read_by_annotators(world))
        assert world.desk.tabs == [*before[2:-1], "Assay: 2 labels"]


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_the_workers_a_pause_is_told_once_and_the_instruction_comes_back(
    long_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(long_assessment, folder, keeper) as world:
            world.desk.guidelines = OWN, False
            labelled(world, 1)
            assert world.ledger.move("running", "paused")
            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()
            assert world.desk.guidelines[0].count("paused") == 1
            assert world.desk.guidelines[0].endswith(OWN)
            assert world.desk.description.startswith("Labelling is paused")

            assert world.ledger.move("paused", "running")
            is_hit |= len(world.turn(fate, at).calls) >= at
            world.turn()
            assert world.desk.guidelines == (OWN, False)
            assert world.ledger.metadata().get("announced", "") == ""
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_what_somebody_changes_in_the_instruction_during_a_pause_stays(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        world.desk.guidelines = OWN, True
        paused(world)
        better = world.desk.guidelines[0].replace("twice", "three times")
        world.desk.guidelines = better, True
        resumed(world)
        assert world.desk.guidelines == ("<p>Look three times.</p>", True)


def test_a_changed_labelling_configuration_is_told_to_whoever_labels_and_goes_away(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        world.desk.guidelines = OWN, False
        labelled(world, 2)
        world.happen(("ask_otherwise", 0, 0))
        world.settle()
        for text in read_by_annotators(world)[:2]:
            assert "do not label for now: the labelling setup of this project was changed" in text
        assert world.desk.tabs[-1] == "Assay: on hold"
        paused(world)
        assert "paused" in world.desk.guidelines[0]
        assert "do not label" in world.desk.guidelines[0]
        resumed(world)
        assert "paused" not in world.desk.guidelines[0]
        assert "do not label" in world.desk.guidelines[0]

        world.happen(("ask_otherwise", 0, 0))
        world.settle()
        assert world.desk.guidelines == (OWN, False)
        assert world.desk.description.startswith("2 items are labelled so far")


def test_what_an_older_release_told_of_its_decision_is_not_told_again_and_a_resume_takes_it_away(
    short_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        labelled(world, 4)
        world.settle()
        (stop,) = map(json.loads, world.ledger.decisions())
        old = "<p><b>Thank you: labelling has ended.</b></p><p>cat is worst</p>"
        line = f"{stop['text']} {marker(world.ledger.assessment)}"
        world.desk.guidelines, world.desk.description = (old, True), line
        before = {"guidelines_before": json.dumps([OWN, False]), "announced": ""}
        world.ledger.set_metadata(told_desk=1, described=line, **before)
        world.settle()
        assert world.desk.guidelines == (old, True)
        assert world.desk.description == line

        world.ledger.set_metadata(resume_until=6)
        assert world.ledger.move("stopped", "running")
        world.turn()
        assert world.desk.guidelines == (OWN, False)
        labelled(world, 6)
        world.turn()
        assert world.desk.guidelines[0].count("Thank you") == 1
        assert world.desk.guidelines[0].endswith(OWN)


def test_a_pause_that_another_machine_told_is_taken_away_by_the_resume_here(
    long_assessment: Small, folder: Path, keeper: str | None
) -> None:
    """Its export may have been made before its last turn; `resume` says so with a mark."""
    with new_world(long_assessment, folder, keeper) as world:
        world.desk.guidelines = OWN, True
        paused(world)
        world.ledger.set_metadata(announced="?", guidelines_before="")
        resumed(world)
        assert world.desk.guidelines == (OWN, True)
