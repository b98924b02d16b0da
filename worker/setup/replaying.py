"""Proving the state: rebuild it from Label Studio and the plan alone, and redo every choice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from connector.labels import Judgement
from connector.port import Desk
from worker.assessment import Assessment
from worker.assessment.queueing import unclaimed_cells
from worker.setup.exported import VERSION
from worker.store import Ledger
from worker.store.records import Record, load
from worker.store.rules import votes_of
from worker.store.tally import tally_key
from worker.turn.orphans import FOUND
from worker.turn.shown import as_counted, changed_labelling


@dataclass(frozen=True, slots=True)
class Replay:
    """How the rebuilt state compares with the kept one; all zero and equal is right."""

    answers: int  # annotations read
    labels: int
    items_judged_otherwise: tuple[str, ...]  # whose annotations are not the kept ones
    tally_differences: dict[str, tuple[int, int]]  # key -> (rebuilt, kept)
    items_queued_twice: int
    choices: int
    choices_not_repeated: tuple[int, ...]  # claim numbers
    is_decision_repeated: bool | None  # None when there is none, or labels changed since

    @property
    def is_equal(self) -> bool:
        return (
            not self.items_judged_otherwise
            and not self.tally_differences
            and not self.items_queued_twice
            and not self.choices_not_repeated
            and self.is_decision_repeated is not False
        )


def replay(assessment: Assessment, ledger: Ledger, desk: Desk) -> Replay:
    """Read the whole project again and compare: judgements, tally, queue, choices, decision.

    Equal tallies have equal beliefs: a belief is a function of plan, pool and tally.
    """
    choices = ledger.choices()
    # Which claim an item was is ours to know, not Label Studio's; `unrepeated_choices` proves it.
    claims = {choice["item"]: int(choice["claim"]) for choice in choices}
    judgements, twice = _judgements_in_label_studio(assessment, ledger, desk)
    rebuilt = _tally_of(assessment, judgements, claims)
    records = {record.item: record for record in map(load, ledger.every_record())}
    kept = dict(ledger.state().tally)
    differences = {
        key: (rebuilt.get(key, 0), kept.get(key, 0))
        for key in rebuilt.keys() | kept.keys()
        if rebuilt.get(key, 0) != kept.get(key, 0)
    }
    return Replay(
        answers=sum(map(len, judgements.values())),
        labels=sum(rebuilt.values()),
        items_judged_otherwise=tuple(
            item
            for item, record in sorted(records.items())
            if _told(record.judgements()) != _told(judgements.get(item, []))
        ),
        tally_differences=differences,
        items_queued_twice=twice,
        choices=len(choices),
        choices_not_repeated=tuple(unrepeated_choices(assessment, ledger)),
        is_decision_repeated=_is_decision_repeated(assessment, ledger),
    )


def _judgements_in_label_studio(
    assessment: Assessment, ledger: Ledger, desk: Desk
) -> tuple[dict[str, list[Judgement]], int]:
    """All annotations by item, and how many items have more than one task."""
    by_item: dict[str, list[Judgement]] = {}
    tasks: Counter[str] = Counter()
    snapshots = [
        snapshot for snapshot in desk.read([brief.task for brief in desk.census()]) if snapshot.item
    ]
    rows = assessment.pool.find({snapshot.item for snapshot in snapshots})
    changed = changed_labelling(ledger.metadata())
    for snapshot in snapshots:
        if (row := rows.get(snapshot.item)) is not None:
            snapshot = as_counted(snapshot, row, assessment.rules, changed)
        by_item.setdefault(snapshot.item, []).extend(snapshot.judgements)
        tasks[snapshot.item] += 1
    return by_item, sum(n > 1 for n in tasks.values())


def _tally_of(
    assessment: Assessment, by_item: Mapping[str, list[Judgement]], claims: Mapping[str, int]
) -> Counter[str]:
    rows = assessment.pool.find(list(by_item))
    tally: Counter[str] = Counter()
    for item, judgements in by_item.items():
        if item not in rows or item not in claims:
            continue
        found = assessment.pool.item(rows[item])
        outcome = assessment.rules.outcome(votes_of(judgements), found.row)
        if outcome is not None:
            tally[tally_key(claims[item], found.cell, found.predicted, outcome)] += 1
    return tally


def _told(judgements: Iterable[Judgement]) -> list[tuple[int, int | None, str, str | None]]:
    """Who said what; when Label Studio last touched it is not part of it."""
    return sorted((j.annotation, j.author, j.status, j.label) for j in judgements)


def unrepeated_choices(assessment: Assessment, ledger: Ledger) -> list[int]:
    """Make every logged choice again, from the labels that were there; return those that differ."""
    pool = assessment.pool
    tally: Counter[str] = Counter()
    records = {record.item: record for record in map(load, ledger.every_record())}
    changes = iter(ledger.changes())
    upcoming = next(changes, None)
    left = np.array(pool.cell_open, dtype=np.int64)
    differing, gold_left = [], len(pool.gold)
    for choice in ledger.choices():
        while upcoming is not None and upcoming["revision"] <= choice["revision"]:
            _apply(tally, upcoming, records[upcoming["item"]])
            upcoming = next(changes, None)
        if choice["strategy"] == "gold":
            is_next = choice["row"] == pool.next_row(-1, gold_left)
            if not (assessment.is_gold_due(choice["claim"]) and is_next):
                differing.append(choice["claim"])
            gold_left -= 1
            continue
        if choice["strategy"] == FOUND:
            cell = choice["cell"]
            if choice["row"] != pool.next_row(cell, gold_left if cell < 0 else int(left[cell])):
                differing.append(choice["claim"])
            if cell < 0:
                gold_left -= 1
            else:
                left[cell] -= 1
            continue
        pending = np.zeros_like(left)
        for cell, count in choice["pending"].items():
            pending[int(cell)] = count
        again = assessment.choose(assessment.believe(tally), left, pending, choice["claim"])
        row = pool.next_row(again.cell, int(left[again.cell]))
        if (again.cell, row) != (choice["cell"], choice["row"]):
            differing.append(choice["claim"])
        left[choice["cell"]] -= 1
    return differing


def _apply(tally: Counter[str], change: dict[str, Any], record: Record) -> None:
    for outcome, step in ((change["before"], -1), (change["now"], 1)):
        if outcome is not None:
            key = tally_key(record.claim, record.cell, record.predicted, outcome)
            tally[key] += step
            if not tally[key]:
                del tally[key]  # as the ledger does


def _is_decision_repeated(assessment: Assessment, ledger: Ledger) -> bool | None:
    decisions = ledger.decisions()
    state = ledger.state()
    if not decisions:
        return None
    latest = json.loads(decisions[-1])
    if latest["revision"] != state.revision:
        return None
    unclaimed = unclaimed_cells(assessment, state)
    belief = assessment.believe(state.tally)
    verdict = assessment.decide(belief, 0, assessment.earlier(state.tally), unclaimed)
    chosen = [assessment.group_names[g] for g in verdict.chosen]
    # The width of a guaranteed band depends on what was claimed, which a resume may change.
    is_comparable = assessment.confidence_sequence is None or latest["claims"] == state.claims
    return bool(
        chosen == latest["chosen"]
        and verdict.confidence == latest["confidence"]
        and (verdict.value == latest["value"] or not is_comparable)
    )


def export(
    assessment: Assessment, ledger: Ledger, kept: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Everything of an assessment, as JSON: plan, records, choices, decisions.

    Args:
        kept: as `moving.pack` gives it; `moving.unpack` reads this and the version alone.
    """
    header = ledger.header()
    assert header is not None, "only an assessment that was started is exported"
    state = ledger.state()
    return {
        "version": VERSION,
        "header": json.loads(header.dump()),
        "status": state.status,
        "revision": state.revision,
        "tally": dict(state.tally),
        "records": [json.loads(text) for text in ledger.every_record()],
        "choices": ledger.choices(),
        "changes": ledger.changes(),
        "rejected": {str(k): v for k, v in ledger.rejected().items()},
        "decisions": [json.loads(text) for text in ledger.decisions()],
        "groups": list(assessment.pool.group_names),
        "kept": kept,
    }
