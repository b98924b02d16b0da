"""Any calls of a ledger, in any order, by clients that come and go, beside the model."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from connector.labels import TaskSnapshot
from tests.contract.ledger_events import ITEMS, Census, snapshots
from tests.contract.ledger_leases import NUMBERS, LeaseRules
from tests.contract.ledger_model import Model
from tests.contract.ledgers import RULES, claims_of, header_of
from worker.service.server import connect
from worker.store import AlreadyStarted, Ledger, MemoryLedger
from worker.store.changes import Change, Edit
from worker.store.metadata import read_metadata
from worker.store.records import load
from worker.store.valkey import ValkeyLedger
from worker.turn.sync import record, take_stock

STATUSES = st.sampled_from(["running", "paused", "stopped"])
NAMES = st.sampled_from(["x", 'y"'])
# The metadata that the model follows; a reading may leave others beside the state.
NOTED = ("x", 'y"', "n", "cursor", "latest_answered")


class LedgerMachine(LeaseRules, RuleBasedStateMachine):
    """What workers call, one after the other, with whatever is out of date."""

    url: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.name = f"machine-{secrets.token_hex(6)}"
        self.model = Model()
        self.connection = connect(self.url) if self.url else None
        self.ledger: Ledger = MemoryLedger(self.name)
        self.another_client()
        self.seen_records: list[tuple[str, str]] = []  # what writers saw, now or long ago

    def teardown(self) -> None:
        if self.connection is not None:
            keys = list(self.connection.scan_iter(f"assay:{{{self.name}}}:*", count=1000))
            self.connection.delete(*keys)
            self.connection.close()

    @initialize()
    def begin(self) -> None:
        assert self.ledger.header() is None
        assert self.ledger.state().status == "starting"
        assert not self.ledger.claim(0, claims_of(["a"]))
        self.ledger.begin(header_of(self.name))

    @rule()
    def begin_again(self) -> None:
        with pytest.raises(AlreadyStarted):
            self.ledger.begin(header_of(self.name))
        assert self.ledger.header() == header_of(self.name)

    @rule()
    def another_client(self) -> None:
        """A worker died; the next one opens the same ledger."""
        if self.connection is not None:
            self.ledger = ValkeyLedger(self.connection, self.name)

    @rule()
    def the_server_forgets_its_scripts(self) -> None:
        """As after a failover: the next call is answered NOSCRIPT."""
        if self.connection is not None:
            self.connection.script_flush()

    @rule(
        items=st.lists(st.sampled_from(ITEMS), max_size=3, unique=True),
        late=st.sampled_from([0, 0, 0, 1]),
        ahead=st.sampled_from([0, 0, 0, -1, 1]),
    )
    def claim(self, items: list[str], late: int, ahead: int) -> None:
        m = self.model
        is_fresh = not late and not ahead and not set(items) & set(m.claims)
        fits = bool(items) and m.status == "running" and is_fresh
        claims = claims_of(items, len(m.claims) + ahead)
        assert self.ledger.claim(m.revision - late, claims) == fits
        if fits:
            m.claims += items

    @rule(seen=st.lists(snapshots(), min_size=1, max_size=3, unique_by=lambda k: k.task))
    def read(self, seen: list[TaskSnapshot]) -> None:
        self.arrive(seen, lag=0)

    @rule(snapshot=snapshots(), lag=st.integers(1, 3))
    def read_late(self, snapshot: TaskSnapshot, lag: int) -> None:
        """A reading that was taken before others arrives after them."""
        self.arrive([snapshot], lag)

    def arrive(self, seen: list[TaskSnapshot], lag: int) -> None:
        self.remember_records()
        self.model.readings += 1
        assert self.ledger.next_reading() == self.model.readings
        reading = max(1, self.model.readings - lag)
        record(self.ledger, seen, reading, RULES)
        # within one reading the order by stamps decides which of two snapshots comes first
        latest = {snapshot.task: snapshot for snapshot in sorted(seen, key=lambda k: k.at_us)}
        shown = self.model.shown
        self.model.vanish(t for t, k in latest.items() if t in shown and shown[t].item != k.item)
        self.model.read(list(latest.values()), reading)

    def remember_records(self) -> None:
        self.seen_records += self.ledger.records(ITEMS).items()

    @rule(data=st.data(), kept=st.booleans(), value=st.integers(1, 9))
    def commit(self, data: st.DataObject, kept: bool, value: int) -> None:
        """Writers with what they saw, some of it long ago: each change is whole or a conflict."""
        self.remember_records()
        self.seen_records.append(("nobody claimed it", "{}"))
        chosen = data.draw(st.lists(st.sampled_from(self.seen_records), max_size=3))
        verbs = data.draw(st.lists(st.sampled_from(["set", "del", "add", "max"]), max_size=3))
        edits = tuple(Edit(verb, "notes", "n", value) for verb in verbs)  # type: ignore[arg-type]
        now = self.ledger.records(ITEMS)
        changes = [
            Change(item, text, text if kept else text + " ", edits, "") for item, text in chosen
        ]
        conflicts = []
        for change in changes:
            if now.get(change.item) != change.before:
                conflicts.append(change.item)
                continue
            now[change.item] = change.after
            for edit in edits:
                self.edit_note(edit.verb, value)
        assert self.ledger.commit(changes) == conflicts
        assert self.ledger.records(ITEMS) == now

    def edit_note(self, verb: str, value: int) -> None:
        notes, old = self.model.notes, int(self.model.notes.get("n", 0))
        notes["n"] = str({"set": value, "del": 0, "add": old + value, "max": max(old, value)}[verb])
        if verb == "del":
            del notes["n"]

    @rule(gone=st.sets(st.integers(1, 6), max_size=3))
    def census(self, gone: set[int]) -> None:
        """The project is compared with what is known; some of its tasks were deleted."""
        take_stock(self.ledger, Census(self.model, gone), RULES)
        self.model.readings += 1
        self.model.vanish(gone & set(self.model.shown))
        for task in gone:
            self.model.foreign.pop(task, None)

    @rule(task=st.integers(7, 9), at_us=st.integers(0, 9))
    def mark_foreign(self, task: int, at_us: int) -> None:
        self.ledger.mark_foreign({task: f"{at_us}:1:0:"})
        self.ledger.mark_foreign({})
        self.model.foreign[task] = (at_us, 1, 0)

    @rule(tasks=st.sets(st.integers(7, 9)))
    def forget_foreign(self, tasks: set[int]) -> None:
        self.ledger.forget_foreign(sorted(tasks))
        for task in tasks:
            self.model.foreign.pop(task, None)

    @rule(late=st.sampled_from([0, 0, 0, 1, -1]), stops=st.booleans())
    def publish(self, late: int, stops: bool) -> None:
        m, revision = self.model, self.model.revision - late
        text = json.dumps({"revision": revision, "n": len(m.decisions)})
        may_stop = not stops or m.status in ("running", "paused")
        fits = not late and revision not in m.decided and may_stop
        assert self.ledger.publish(revision, text, stops=stops) == fits
        if fits:
            m.decided.add(revision)
            m.decisions.append(text)
            m.status = "stopped" if stops else m.status

    @rule(before=STATUSES, after=STATUSES)
    def move(self, before: Any, after: Any) -> None:
        fits = self.model.status == before
        assert self.ledger.move(before, after) == fits
        if fits:
            self.model.status = after

    @rule(notes=st.dictionaries(NAMES, st.sampled_from(["", "1", "näh", 7]), min_size=1))
    def set_metadata(self, notes: dict[str, str | int]) -> None:
        self.ledger.set_metadata(**notes)
        self.model.notes |= {name: str(value) for name, value in notes.items()}

    @rule(name=NAMES, before=st.sampled_from(["", "1", "7"]), after=st.sampled_from(["1", ""]))
    def compare_and_set(self, name: str, before: str, after: str) -> None:
        fits = self.model.notes.get(name, "") == before
        assert self.ledger.compare_and_set(name, before, after) == fits
        if fits:
            self.model.notes[name] = after

    @rule(to_us=st.integers(0, 2**53))
    def advance_cursor(self, to_us: int) -> None:
        self.ledger.advance_cursor(to_us)
        self.model.notes["cursor"] = str(max(int(self.model.notes.get("cursor", 0)), to_us))

    @rule(notice=NAMES, text=st.sampled_from(["a", "b"]))
    def put_notice(self, notice: str, text: str) -> None:
        fits = notice not in self.model.noticed
        assert self.ledger.put_notice(notice, text) == fits
        if fits:
            self.model.noticed.add(notice)
            self.model.notices[notice] = text

    @rule(notice=NAMES, before=st.sampled_from(["a", "b"]), after=st.sampled_from(["", "b"]))
    def replace_notice(self, notice: str, before: str, after: str) -> None:
        fits = self.model.notices.get(notice) == before
        assert self.ledger.replace_notice(notice, before, after) == fits
        if fits:
            self.model.notices[notice] = after
            if not after:
                del self.model.notices[notice]

    @rule()
    def wake(self) -> None:
        self.model.wakes += 1
        assert self.ledger.wake() == self.model.wakes

    @invariant()
    def it_stands_as_the_model(self) -> None:
        m, state = self.model, self.ledger.state()
        counters = (state.status, state.revision, state.claims, state.n_rejected)
        if self.ledger.header() is None:
            return
        assert counters == (m.status, m.revision, len(m.claims), len(m.rejected()))
        assert dict(state.tally) == m.tally()
        assert dict(state.taken) == ({0: len(m.claims)} if m.claims else {})
        assert dict(state.authors) == m.authors
        assert dict(state.metadata) == self.ledger.metadata()
        assert {k: v for k, v in state.metadata.items() if k in NOTED} == read_metadata(m.notes)
        unsettled = {
            item: (kept.state, kept.tasks, kept.open_tasks)
            for item, kept in state.unsettled.items()
        }
        assert unsettled == m.unsettled()
        assert all(kept.claim == m.claims.index(i) for i, kept in state.unsettled.items())

    @invariant()
    def its_parts_are_those_of_the_model(self) -> None:
        m, ledger = self.model, self.ledger
        assert (ledger.revision(), ledger.wakes()) == (m.revision, m.wakes)
        assert ledger.in_doubt(NUMBERS) == m.doubtful
        assert ledger.tasks() == m.tasks()
        assert ledger.items_of(range(10)) == {t: brief[3] for t, brief in m.tasks().items()}
        said = {a: (kept["item"], kept["reason"]) for a, kept in ledger.rejected().items()}
        assert said == m.rejected()
        assert [choice["item"] for choice in ledger.choices()] == m.claims
        assert [choice["claim"] for choice in ledger.choices()] == list(range(len(m.claims)))
        log = ledger.changes()
        assert [change["revision"] for change in log] == list(range(1, m.revision + 1))
        for item in ITEMS:  # what one reading changes has no order among items
            told = [(c["before"], c["now"]) for c in log if c["item"] == item]
            assert told == [(before, now) for of, before, now in m.log if of == item]
        assert (ledger.decisions(), ledger.notices()) == (m.decisions, m.notices)
        records = [load(text) for text in ledger.every_record()]
        kept = {r.item: (r.claim, r.outcome) for r in records}
        assert kept == {item: (n, m.outcomes.get(item)) for n, item in enumerate(m.claims)}
        assert len(records) == len(kept)
