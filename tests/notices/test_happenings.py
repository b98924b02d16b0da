"""Decisions, failures and stalls are noticed, each once, however often anybody looks."""

from __future__ import annotations

import json

import pytest

from tests.notices.test_outbox import plan_that_tells
from tests.promises.small import small_assessment
from tests.promises.world import new_world
from worker.notices import outbox
from worker.notices.happenings import LASTS_S, look_for_trouble, note_decisions
from worker.notices.stalls import EMPTY_S
from worker.store import MemoryLedger

PLAN = plan_that_tells("https://a.example/", on=("decision", "stall", "failure"))
START = 1_800_000_000.0


@pytest.fixture
def world(tmp_path):
    small = small_assessment(tmp_path, "{mrr: {threshold: 1, confidence: 0.999}}")
    with new_world(small, tmp_path, None) as new:
        yield new


def told(ledger) -> list[str]:
    return [notice.event.text for notice in outbox.waiting(ledger)]


def look(ledger, now: float) -> list[str]:
    look_for_trouble(ledger, PLAN, ledger.state(), now)
    return [notice.event.id for notice in outbox.waiting(ledger)]


def decided(revision: int, kind: str = "stop", since: str | None = None) -> str:
    text = f"{kind} {since}" if since else kind
    return json.dumps({"kind": kind, "since": since, "revision": revision, "text": text,
                       "decided_at": f"2026-01-01T00:00:{revision:02d}+00:00"})  # fmt: skip


def test_a_decision_is_told_once_with_its_words(world):
    for n in range(40):
        world.turn()
        note_decisions(world.ledger, PLAN)
        world.happen(("label", n, 0))
    stop = json.loads(world.ledger.decisions()[0])
    (notice,) = outbox.waiting(world.ledger)
    assert notice.event.kind == "decision"
    assert notice.event.text == stop["text"]
    assert notice.event.revision == stop["revision"]
    assert world.ledger.metadata()["decided_at"] == stop["decided_at"]


def test_later_labels_are_told_only_when_they_say_another_thing(world):
    ledger = world.ledger
    reviews = ["confirmed", "weakened", "weakened", "confirmed", "overturned"]
    ledger.publish(0, decided(0), stops=True)
    note_decisions(ledger, PLAN)
    ledger._decided.clear()
    for n, since in enumerate(reviews, start=1):
        ledger._decisions.append(decided(n, "review", since))
        note_decisions(ledger, PLAN)
        note_decisions(ledger, PLAN)
    assert told(ledger) == ["stop", "review weakened", "review confirmed", "review overturned"]


def test_an_error_that_lasts_is_told_once_and_again_when_it_comes_back(world):
    ledger = world.ledger
    ledger.set_metadata(error="Unreachable: http://ls:8080 after 3 s")
    assert look(ledger, START) == []
    assert look(ledger, START + LASTS_S / 2) == []
    (first,) = look(ledger, START + LASTS_S)
    ledger.set_metadata(error="Unreachable: http://ls:8080 after 9 s")
    assert look(ledger, START + 60) == [first]

    ledger.set_metadata(error="")
    assert look(ledger, START + 90) == [first]
    ledger.set_metadata(error="Unreachable: http://ls:8080 after 3 s")
    look(ledger, START + 100)
    assert len(look(ledger, START + 100 + LASTS_S)) == 2
    assert "Failing: Unreachable" in told(ledger)[0]


def test_another_error_is_another_notice(world):
    ledger = world.ledger
    ledger.set_metadata(error="one")
    look(ledger, START)
    assert len(look(ledger, START + LASTS_S)) == 1
    ledger.set_metadata(error="two")
    assert len(look(ledger, START + 2 * LASTS_S)) == 2
    ledger.set_metadata(error="one")
    assert len(look(ledger, START + 3 * LASTS_S)) == 2


def test_a_failure_that_is_over_in_seconds_is_nobodys_trouble(world):
    for n in range(5):
        world.ledger.set_metadata(error="restarting")
        look(world.ledger, START + 100 * n)
        world.ledger.set_metadata(error="")
        assert look(world.ledger, START + 100 * n + LASTS_S) == []


def test_nobody_labelling_for_hours_is_told_once_until_somebody_labels(world):
    ledger = world.ledger
    world.turn()
    for hours in range(8):
        found = look(ledger, START + 3600 * hours)
        assert len(found) == (1 if hours >= 4 else 0)
    assert told(ledger) == ["Nobody has labelled for 4 hours; the question is still open."]

    world.desk.now_us = int((START + 8 * 3600) * 1e6)
    world.happen(("label", 0, 0))
    world.turn()
    last = max(ledger.state().authors.values()) / 1e6
    assert len(look(ledger, last + 3 * 3600)) == 1
    assert len(look(ledger, last + 5 * 3600)) == 2


def test_a_pause_is_no_stall_and_what_came_before_it_does_not_count_after(world):
    ledger = world.ledger
    world.turn()
    look(ledger, START)
    assert ledger.move("running", "paused")
    assert look(ledger, START + 24 * 3600) == []
    assert ledger.move("paused", "running")
    assert look(ledger, START + 25 * 3600) == []
    assert len(look(ledger, START + 29 * 3600)) == 1


def test_a_queue_that_stays_empty_is_told_and_one_that_fills_again_is_not(world):
    ledger = world.ledger  # nothing was imported yet
    assert look(ledger, START) == []
    assert look(ledger, START + EMPTY_S - 1) == []
    (found,) = look(ledger, START + EMPTY_S)
    assert found.startswith("stall:empty:")
    assert ledger.metadata()["empty_since"] == START
    world.turn()
    assert look(ledger, START + 2 * EMPTY_S) == [found]
    assert "empty_since" not in ledger.metadata()


def test_nothing_is_noted_for_a_plan_that_tells_nobody():
    ledger = MemoryLedger("mine")
    ledger.set_metadata(error="broken")
    look_for_trouble(ledger, plan_that_tells(), ledger.state(), START)
    assert set(ledger.metadata()) == {"error"}
