"""What is written when an item's record is replaced, and that it is read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.labels import Judgement, TaskSnapshot
from tests.worker.store.made_records import (
    FRESH,
    RULES,
    _lost,
    _outcome,
    _with,
    after,
    edits_of,
    snapshot,
    snapshots,
    some_judgements,
    valid,
)
from worker.errors import AssayError
from worker.store.changes import Edit, change
from worker.store.records import Record, Seen, dump, load
from worker.store.tally import tally_key

ASSETS = Path(__file__).parents[2] / "assets"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
stamps = st.integers(0, 2**52)
seens = st.builds(Seen, stamps, st.integers(0, 99), st.booleans(), some_judgements)
records = st.builds(
    Record,
    texts,
    claim=st.integers(0, 10**9),
    row=st.integers(0, 10**9),
    cell=st.integers(0, 10**4),
    predicted=st.integers(0, 10**4),
    tasks=st.dictionaries(st.integers(1, 99), seens, max_size=3).map(
        lambda found: tuple(sorted(found.items()))
    ),
    was_deleted=st.booleans(),
    outcome=st.none() | texts,
)


class TestChange:
    """What is written when a record is replaced."""

    @given(records)
    def test_nothing_is_written_for_an_equal_record(self, record: Record) -> None:
        assert change(dump(record), record, replace(record), RULES) is None

    def test_a_first_label_enters_the_tally(self) -> None:
        now = after(snapshot(5, 1, valid(4, "dog")))
        made = change(dump(FRESH), FRESH, now, RULES)

        assert made is not None
        assert Edit("add", "tally", "0:2:1:dog", 1) in made.edits
        assert (made.item, made.before, made.after) == ("a", dump(FRESH), dump(now))
        assert json.loads(made.note) == {"item": "a", "cell": 2, "before": None, "now": "dog"}

    def test_a_changed_label_moves_in_the_tally(self) -> None:
        before = after(snapshot(5, 1, valid(4, "dog")))
        edits = edits_of(before, _with(before, snapshot(5, 2, valid(4, "cat")), 2))

        moved = {edit for edit in edits if edit.hash == "tally"}
        assert moved == {
            Edit("add", "tally", "0:2:1:dog", -1),
            Edit("add", "tally", "0:2:1:cat", 1),
        }

    @given(st.lists(snapshots, min_size=1, max_size=8))
    def test_the_tally_is_moved_by_what_the_record_contributed(
        self, history: list[TaskSnapshot]
    ) -> None:
        tally: dict[str, int] = {}
        record = FRESH
        for reading, one in enumerate(history, start=1):
            before, record = record, _with(record, one, reading)
            made = change(dump(before), before, record, RULES)
            assert (made is not None and made.note != "") == (before.outcome != record.outcome)
            for edit in made.edits if made else ():
                if edit.hash == "tally":
                    tally[edit.key] = tally.get(edit.key, 0) + int(edit.value)

        contributed = (
            {} if record.outcome is None else {tally_key(FRESH.claim, 2, 1, record.outcome): 1}
        )
        assert {key: n for key, n in tally.items() if n} == contributed

    def test_a_task_that_is_gone_is_forgotten(self) -> None:
        before = after(snapshot(5, 1), snapshot(6, 1))

        assert Edit("del", "tasks", "5") in edits_of(before, _lost(before, 5))


class TestStoredForm:
    """JSON with a version."""

    @given(records)
    def test_what_is_written_is_read_back(self, record: Record) -> None:
        assert load(dump(record)) == record

    def test_a_record_of_version_1_is_read(self) -> None:
        record = load((ASSETS / "record-v1.json").read_text())

        assert (record.item, record.claim, record.row) == ('img "7":é', 3, 41)
        assert (record.cell, record.predicted, record.outcome) == (2, 1, "cat")
        assert record.was_deleted
        (first, seen), (second, unseen) = record.tasks
        assert (first, second) == (12, 15)
        assert seen.judgements[0] == Judgement(90, 5, "valid", "cat", "", 1750000000000000, 2.5)
        assert seen.judgements[1].reason == "nobody is named as its author"
        assert unseen == Seen(0, 3, False, ())
        assert record.outcome == _outcome(record.judgements())

    def test_a_record_of_a_newer_release_is_refused_with_the_cure(self) -> None:
        text = json.dumps(json.loads(dump(FRESH)) | {"v": 2})

        with pytest.raises(AssayError, match=r"version 2(?s:.*)upgrade"):
            load(text)
