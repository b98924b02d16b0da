"""What is to be told is told: tried again after failures and deaths, and given up in sight."""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.notices.receiver import receiver
from tests.promises.faults import Killed
from worker.notices import outbox
from worker.notices.messages import Event
from worker.notices.outbox import NotSent
from worker.notices.sending import send
from worker.plan import Plan
from worker.store import Ledger, MemoryLedger
from worker.store.valkey import ValkeyLedger

EVENT = Event("report:1", "report", "A new report.", 3, "2026-01-01T00:00:00+00:00")


def plan_that_tells(*urls: str, on: tuple[str, ...] = ("report",), kind: str = "slack") -> Plan:
    told = [{"url": url, "kind": kind, "on": on, "allow_private": True} for url in urls]
    return Plan.model_validate(
        {
            "assessment": "mine",
            "pool": {"predictions": "p.csv", "predicted": "predicted", "data": {"t": "t"}},
            "question": {"task": "identify"},
            "notify": told,
        }
    )


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "valkey"])
def ledger(request, assessment_id) -> Ledger:
    if request.param == "memory":
        return MemoryLedger(assessment_id)
    return ValkeyLedger(request.getfixturevalue("valkey"), assessment_id)


@pytest.fixture
def got():
    with receiver() as running:
        yield running


def test_an_event_is_put_once_for_every_address_that_wants_to_hear_of_it(ledger):
    plan = plan_that_tells("https://a.example/", "https://b.example/")
    for _ in range(3):
        outbox.put(ledger, plan, EVENT)
        outbox.put(ledger, plan, replace(EVENT, id="stall:1", kind="stall"))
    assert [(n.event, n.target) for n in outbox.waiting(ledger)] == [(EVENT, 0), (EVENT, 1)]


def test_a_receiver_that_fails_at_first_is_tried_again_later_and_then_told_once(ledger, got):
    plan, clock = plan_that_tells(got.url), Clock()
    got.answers = [500, 503, 302]
    outbox.put(ledger, plan, EVENT)
    for n in range(3):
        outbox.deliver(ledger, plan, send, clock)
        assert len(got.bodies) == n + 1
        (notice,) = outbox.waiting(ledger)
        assert "answered" in notice.error
        clock.now += 20
        outbox.deliver(ledger, plan, send, clock)  # too early
        assert len(got.bodies) == n + 1
        clock.now += 300
    outbox.deliver(ledger, plan, send, clock)
    assert len(got.bodies) == 4
    assert outbox.waiting(ledger) == []

    outbox.put(ledger, plan, EVENT)
    assert outbox.waiting(ledger) == []


def test_who_dies_between_sending_and_crossing_out_tells_it_twice_with_the_same_id(
    ledger, got, monkeypatch
):
    monkeypatch.setenv("ASSAY_NOTIFY_SECRET", "a secret")
    plan, clock = plan_that_tells(got.url, kind="webhook"), Clock()
    outbox.put(ledger, plan, EVENT)

    def sends_and_dies(*args):
        send(*args)
        raise Killed

    with pytest.raises(Killed):
        outbox.deliver(ledger, plan, sends_and_dies, clock)
    outbox.deliver(ledger, plan, send, clock)
    assert len(got.bodies) == 1, "it is not known yet that the first one died"
    clock.now += 60
    outbox.deliver(ledger, plan, send, clock)

    first, second = got.told
    assert first == second
    assert first["id"] == f"{ledger.assessment}/report:1"
    assert outbox.waiting(ledger) == []


def test_it_is_given_up_after_eight_tries_in_about_an_hour_and_stays_in_sight(ledger):
    plan, clock = plan_that_tells("https://a.example/"), Clock()
    tried: list[float] = []

    def fails(*_):
        tried.append(clock.now)
        raise NotSent("nobody there")

    outbox.put(ledger, plan, EVENT)
    for _ in range(6 * 3600):
        outbox.deliver(ledger, plan, fails, clock)
        if outbox.given_up(ledger):
            break
        clock.now += 1
    assert len(tried) == outbox.TRIES
    assert 0.75 * 3600 < tried[-1] - tried[0] < 1.5 * 3600
    waits = [b - a for a, b in itertools.pairwise(tried)]
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    (lost,) = outbox.given_up(ledger)
    assert lost.error == "nobody there"
    assert not outbox.is_due(lost, clock.now + 1e9)


def test_of_those_that_were_given_up_the_newest_are_kept(ledger):
    plan, clock = plan_that_tells("https://a.example/"), Clock()

    def fails(*_):
        raise NotSent("nobody there")

    for n in range(30):
        outbox.put(ledger, plan, replace(EVENT, id=f"report:{n}", at=f"2026-01-{n + 1:02d}"))
    for _ in range(outbox.TRIES):
        outbox.deliver(ledger, plan, fails, clock)
        clock.now += 7200
    kept = outbox.given_up(ledger)
    assert len(kept) == outbox.MOST_GIVEN_UP == len(outbox.waiting(ledger))
    assert kept[-1].event.id == "report:29"


def test_one_dead_address_does_not_keep_the_others_from_hearing(ledger, got):
    plan, clock = plan_that_tells("https://nobody.invalid/", got.url), Clock()
    outbox.put(ledger, plan, EVENT)
    outbox.deliver(ledger, plan, send, clock)
    assert len(got.bodies) == 1
    assert [n.target for n in outbox.waiting(ledger)] == [0]


@given(st.integers(0, outbox.TRIES - 1), st.text(max_size=20))
def test_waits_double_with_a_bounded_jitter_and_outlast_a_try(tries, key):
    wait_s = outbox.wait_after(key, tries)
    assert 0.8 <= wait_s / (30 * 2**tries) <= 1.2
    assert wait_s > 10
    assert wait_s == outbox.wait_after(key, tries)


STEPS = st.lists(st.sampled_from(["tell", "fail", "die before", "die after", "wait"]), max_size=7)


@given(st.lists(STEPS, min_size=1, max_size=3))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_dies_every_notice_arrives_or_is_seen_to_be_given_up(workers):
    ledger, clock = MemoryLedger("mine"), Clock()
    plan = plan_that_tells("https://a.example/", "https://b.example/")
    outbox.put(ledger, plan, EVENT)
    arrived: Counter[str] = Counter()
    for what in itertools.chain(*itertools.zip_longest(*workers)):

        def acts(target, _assessment, _event, _decision, what=what):
            if what == "fail":
                raise NotSent("no")
            if what == "die before":
                raise Killed
            arrived[target.url] += 1
            if what == "die after":
                raise Killed

        if what == "wait":
            clock.now += 40
        elif what is not None:
            with suppress(Killed):
                outbox.deliver(ledger, plan, acts, clock)

    def arrives(target, *_):
        arrived[target.url] += 1

    for _ in range(outbox.TRIES + 1):
        clock.now += 7200
        outbox.deliver(ledger, plan, arrives, clock)
    lost = {plan.notify[n.target].url for n in outbox.given_up(ledger)}
    assert set(arrived) | lost == {"https://a.example/", "https://b.example/"}
    assert len(outbox.waiting(ledger)) == len(lost)
