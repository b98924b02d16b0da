"""Catching up with Label Studio: the cursor, contention, crashes in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from connector.errors import Unreachable
from connector.labels import TaskSnapshot
from tests.fakes import FakeDesk
from tests.worker.turn.synced import HEADER, RULES, begun, showing
from worker.store import Claim, MemoryLedger
from worker.store.changes import Change
from worker.store.tally import tally_key
from worker.turn.sync import (
    ATTEMPTS,
    BATCH,
    OVERLAP_US,
    Contention,
    catch_up,
    record,
    sweep,
)

AWAY = Unreachable("http://fake", "timeout")


def all_of(ledger: MemoryLedger) -> tuple[object, ...]:
    """Everything that it knows, but for the time of day at which it was read."""
    state = ledger.state()
    metadata = {name: value for name, value in state.metadata.items() if name != "polled_at"}
    return replace(state, metadata=metadata), ledger.records(["a"]), ledger.changes()


def cursor_of(ledger: MemoryLedger) -> int:
    return ledger.metadata().get("cursor", 0)


class TestCatchingUp:
    """Everything that changed is recorded before the cursor passes it."""

    def test_what_people_did_is_recorded(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b", "c")
        a, b, _ = showing(desk, "a", "b", "c")
        desk.annotate(a, "cat", author=1)
        desk.skip(b, author=1)

        catch_up(ledger, desk, RULES)

        state = ledger.state()
        assert dict(state.tally) == {"0:0:0:cat": 1}
        assert {i: (u.state, u.asked) for i, u in state.unsettled.items()} == {
            "b": ("open", (1,)),
            "c": ("open", ()),
        }
        assert cursor_of(ledger) == desk.now_us

    def test_catching_up_twice_changes_nothing(self) -> None:
        desk, ledger = FakeDesk(), begun("a")
        desk.annotate(showing(desk, "a")[0], "cat", author=1)
        catch_up(ledger, desk, RULES)
        before = all_of(ledger)

        catch_up(ledger, desk, RULES)

        assert all_of(ledger) == before

    def test_a_change_that_becomes_visible_late_is_read_in_the_overlap(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b")
        a, b = showing(desk, "a", "b")
        desk.now_us += 60_000_000
        desk.annotate(a, "cat", author=1)
        catch_up(ledger, desk, RULES)
        desk.now_us -= OVERLAP_US - 1_000_000  # stamped before what was seen, visible after it

        desk.annotate(b, "cat", author=1)
        catch_up(ledger, desk, RULES)

        assert dict(ledger.state().tally) == {"0:0:0:cat": 2}

    def test_what_the_cursor_passed_is_not_read_again(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b")
        showing(desk, "a")
        desk.now_us += 3 * OVERLAP_US
        showing(desk, "b")
        catch_up(ledger, desk, RULES)

        assert [snapshot.item for snapshot in desk.changes(cursor_of(ledger) - OVERLAP_US)] == ["b"]

    def test_a_reading_that_breaks_off_is_gone_on_with_by_the_next_one(
        self,
    ) -> None:
        class BreaksOff(FakeDesk):
            after = BATCH + 50

            def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
                for n, snapshot in enumerate(super().changes(since_us)):
                    if n == self.after:
                        raise AWAY
                    yield snapshot

        items = [f"item {n}" for n in range(BATCH + 100)]
        desk, ledger = BreaksOff(), begun(*items)
        for task in showing(desk, *items):
            desk.annotate(task, "cat", author=1)

        with pytest.raises(Unreachable):
            catch_up(ledger, desk, RULES)
        assert 0 < ledger.state().revision < len(items)
        first = [snapshot.at_us for snapshot in desk.snapshots()][:BATCH]
        assert min(first) < cursor_of(ledger) <= max(first)  # a long reading gets ahead

        desk.after = 10 * len(items)
        catch_up(ledger, desk, RULES)
        fold = Counter(tally_key(claim, 0, 0, "cat") for claim in range(len(items)))
        assert dict(ledger.state().tally) == fold
        assert cursor_of(ledger) == desk.now_us

    def test_tasks_of_others_in_the_project_are_no_items_of_ours(self) -> None:
        desk, ledger = FakeDesk(), begun("a")
        tasks = desk.put([{"item_id": "b"}, {"text": "no id at all"}])
        for task in tasks:
            desk.annotate(task, "cat", author=1)

        catch_up(ledger, desk, RULES)

        assert ledger.state().revision == 0
        assert {item for *_, item in ledger.tasks().values()} == {""}
        assert not sweep(ledger, desk, RULES)


class TestContention:
    """Others write at the same time."""

    def test_a_conflict_is_tried_again_on_what_is_there_now(self) -> None:
        class Interrupted(MemoryLedger):
            """Another worker records something just before our first commit."""

            def commit(self, changes: Sequence[Change]) -> list[str]:
                if others:
                    snapshot = others.pop()
                    record(self, [snapshot], 1, RULES)
                return super().commit(changes)

        desk = FakeDesk()
        a, second = showing(desk, "a", "a")
        desk.annotate(a, "cat", author=1)
        desk.annotate(second, "cow", author=2)
        mine, others = desk.read([second]), desk.read([a])
        ledger = Interrupted("a")
        ledger.begin(HEADER)
        assert ledger.claim(0, [Claim(0, "a", 0, 0, 0, {})])

        record(ledger, mine, 2, RULES)

        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}  # the first annotation
        assert set(ledger.tasks()) == {a, second}

    def test_it_gives_up_after_many_attempts_and_says_that_nothing_is_lost(self) -> None:
        class Busy(MemoryLedger):
            commits = 0

            def commit(self, changes: Sequence[Change]) -> list[str]:
                self.commits += 1
                return [change.item for change in changes]

        ledger = Busy("a")
        ledger.begin(HEADER)
        assert ledger.claim(0, [Claim(0, "a", 0, 0, 0, {})])

        with pytest.raises(Contention, match="Nothing is lost"):
            record(ledger, [TaskSnapshot(1, "a", 1, False, ())], 1, RULES)

        assert ledger.commits == ATTEMPTS
