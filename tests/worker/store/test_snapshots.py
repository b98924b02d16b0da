"""What is read while others write: state and records that belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.report.crowds import Crowd, crowd
from worker.report.gathering import gather
from worker.store.records import Record
from worker.store.snapshots import TRIES, taken_together
from worker.store.tally import tally_key

INFERRED = "{per_item: 2, rule: dawid-skene, gold: {items: gold.csv, rate: 0.2}}"


def keys(records: Iterable[Record]) -> Counter[str]:
    return Counter(
        tally_key(r.claim, r.cell, r.predicted, r.outcome) for r in records if r.outcome is not None
    )


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    """People label between every reading of the state and the reading of the records."""
    one = crowd(tmp_path, INFERRED, n_items=90, look_ahead=4)
    one.label((0.9, 0.9), 2)
    read = one.ledger.every_record

    def meanwhile() -> Iterator[str]:
        for author in (1, 2):
            one.answer(author, most=2)
        one.turn()
        return iter(read())

    monkeypatch.setattr(one.ledger, "every_record", meanwhile)
    return one


def test_what_is_read_in_peace_is_whole(tmp_path: Path):
    one = crowd(tmp_path, INFERRED)
    one.label((0.9, 0.9), 2)
    state, records = taken_together(one.ledger)
    assert keys(records) == Counter(state.tally)


def test_items_that_change_all_the_time_are_left_out(busy: Crowd):
    before = busy.turns
    state, records = taken_together(busy.ledger)
    assert busy.turns == before + TRIES, "an outcome changed during every try"
    assert 0 < keys(records).total() <= sum(state.tally.values())
    assert not keys(records) - Counter(state.tally)


def test_a_report_is_made_while_labels_pour_in(busy: Crowd):
    report = gather(busy.work, busy.header, busy.ledger)
    assert report.labels > 0
    assert report.disputed
