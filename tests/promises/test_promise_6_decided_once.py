"""Promise 6: a decision is published once, and what comes later never alters it silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.promises.faults import FATES, Fate
from tests.promises.small import CLASSES, small_assessment
from tests.promises.world import Step, World, histories, live_through, new_world
from worker.assessment import Assessment
from worker.store import Header

Small = tuple[Assessment, Header]
MORE_CALLS_THAN_A_TURN_MAKES = 80


def published(world: World) -> list[dict[str, Any]]:
    return [json.loads(text) for text in world.ledger.decisions()]


def label_up_to(world: World, labels: int) -> None:
    """Label until the assessment has so many labels or stops."""
    world.turn()
    while sum(world.ledger.state().tally.values()) < labels:
        task = world.desk.next_task(0)
        assert task is not None
        world.desk.annotate(task, CLASSES[0], 0)
        world.turn()


def open_tasks(world: World) -> list[int]:
    return [
        snapshot.task
        for snapshot in world.desk.snapshots()
        if snapshot.item and not snapshot.is_closed
    ]


def told(world: World) -> dict[str, Any]:
    text = (world.folder / "decision.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


@settings(max_examples=60)
@given(history=histories())
def test_in_any_history_what_was_published_stays_and_a_revision_is_decided_once(
    short_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        seen: list[str] = []
        for step in history:
            world.happen(step)
            now = world.ledger.decisions()
            assert now[: len(seen)] == seen
            seen = now
        decisions = published(world)

        kinds = [d["kind"] for d in decisions]
        assert kinds == ["stop", *["review"] * (len(kinds) - 1)][: len(kinds)]
        revisions = [d["revision"] for d in decisions]
        assert revisions == sorted(set(revisions))
        assert (world.ledger.state().status == "stopped") == bool(decisions)


@settings(max_examples=40)
@given(history=histories(max_size=25))
def test_after_the_stop_the_queue_stays_empty_and_the_file_tells_the_stop_with_its_reviews(
    short_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        label_up_to(world, 4)
        assert world.ledger.state().status == "stopped"
        stop = published(world)[0]

        live_through(world, history).settle()

        assert world.ledger.state().status == "stopped"
        decisions = published(world)
        assert told(world) == {**stop, "reviews": decisions[1:]}
        latest = decisions[-1]
        assert latest["labels"] == sum(world.true_tally().values())
        assert all(d["since"] in ("confirmed", "weakened", "overturned") for d in decisions[1:])
        assert open_tasks(world) == []


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_the_worker_that_stops_the_decision_is_published_and_told_once(
    short_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(short_assessment, folder, keeper) as world:
            label_up_to(world, 3)
            task = world.desk.next_task(0)
            assert task is not None
            world.desk.annotate(task, CLASSES[0], 0)

            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()

            (decision,) = published(world)
            assert (decision["kind"], decision["labels"]) == ("stop", 4)
            assert told(world) == {**decision, "reviews": []}
            for read in (world.desk.description, world.desk.guidelines[0]):
                assert read.count("Thank you: labelling has ended") == 1
            assert open_tasks(world) == []
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_the_worker_that_sees_a_late_edit_it_is_reviewed_once(
    short_assessment: Small, folder: Path, keeper: str | None, fate: Fate
) -> None:
    for at in range(1, MORE_CALLS_THAN_A_TURN_MAKES):
        with new_world(short_assessment, folder, keeper) as world:
            label_up_to(world, 4)
            first = world.desk.task_ids()[0]
            (annotation,) = next(
                snapshot for snapshot in world.desk.snapshots() if snapshot.task == first
            ).judgements
            world.desk.edit(annotation.annotation, CLASSES[1])

            is_hit = len(world.turn(fate, at).calls) >= at
            world.turn()

            stop, review = published(world)
            assert (stop["kind"], review["kind"]) == ("stop", "review")
            assert told(world) == {**stop, "reviews": [review]}
        if not is_hit:
            return
    pytest.fail("a turn makes more calls than this test tries")


def test_a_resume_of_what_is_labelled_whole_stops_again_with_the_decision_that_is_there(
    folder: Path, keeper: str | None
) -> None:
    # more looks than so few labels have: not answered before the last one
    endless = small_assessment(folder / "endless", "{mrr: {confidence: 0.9999}, looks: 9}")
    with new_world(endless, folder, keeper) as world:
        label_up_to(world, world.assessment.pool.n_items)
        world.settle()
        (stop,) = published(world)
        assert stop["reason"] == "exhausted"

        world.ledger.set_metadata(resume_until=stop["labels"] + 5)
        assert world.ledger.move("stopped", "running")
        world.turn()
        world.turn()

        assert world.ledger.state().status == "stopped"
        assert published(world) == [stop]
        assert "nothing left to label" in world.desk.guidelines[0]


def test_only_resume_opens_the_queue_again_and_then_there_is_a_second_stop(
    short_assessment: Small, folder: Path, keeper: str | None
) -> None:
    with new_world(short_assessment, folder, keeper) as world:
        world.desk.guidelines = "<p>Look twice.</p>", False
        label_up_to(world, 4)
        world.settle()
        assert world.desk.next_task(0) is None

        world.ledger.set_metadata(resume_until=6)
        assert "nothing left to label" in world.desk.guidelines[0]
        assert world.ledger.move("stopped", "running")
        world.turn()
        assert world.desk.guidelines == ("<p>Look twice.</p>", False)
        label_up_to(world, 6)
        world.turn()
        assert "nothing left to label" in world.desk.guidelines[0]

        assert [(d["kind"], d["labels"]) for d in published(world)] == [("stop", 4), ("stop", 6)]
        assert world.desk.next_task(0) is None
