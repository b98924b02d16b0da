"""Proving the state: rebuild it from Label Studio and the plan alone, and redo every choice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from connector.desk import Desk
from worker.assessment import Assessment
from worker.changes import tally_key
from worker.filling import unclaimed_cells
from worker.ledger import Ledger
from worker.records import Record, load, outcome_of


@dataclass(frozen=True, slots=True)
class Replay:
    """How the rebuilt state compares with the kept one; all zero and equal is right."""

    answers: int  # annotations read
    labels: int
    tally_differences: dict[str, tuple[int, int]]  # key -> (rebuilt, kept)
    items_queued_twice: int
    choices: int
    choices_not_repeated: tuple[int, ...]  # claim numbers
    is_decision_repeated: bool | None  # None when there is none, or labels changed since

    @property
    def is_equal(self) -> bool:
        return (
            not self.tally_differences
            and not self.items_queued_twice
            and not self.choices_not_repeated
            and self.is_decision_repeated is not False
        )


def replay(assessment: Assessment, ledger: Ledger, desk: Desk) -> Replay:
    """Read the whole project again and compare: tally, queue, choices, decision."""
    choices = ledger.choices()
    # Which claim an item was is ours to know, not Label Studio's; `unrepeated_choices` proves it.
    claims = {choice["item"]: int(choice["claim"]) for choice in choices}
    rebuilt, answers, twice = _tally_from_label_studio(assessment, desk, claims)
    kept = dict(ledger.standing().tally)
    differences = {
        key: (rebuilt.get(key, 0), kept.get(key, 0))
        for key in rebuilt.keys() | kept.keys()
        if rebuilt.get(key, 0) != kept.get(key, 0)
    }
    return Replay(
        answers=answers,
        labels=sum(rebuilt.values()),
        tally_differences=differences,
        items_queued_twice=twice,
        choices=len(choices),
        choices_not_repeated=tuple(unrepeated_choices(assessment, ledger)),
        is_decision_repeated=_is_decision_repeated(assessment, ledger),
    )


def _tally_from_label_studio(
    assessment: Assessment, desk: Desk, claims: Mapping[str, int]
) -> tuple[Counter[str], int, int]:
    looks = desk.read([brief.task for brief in desk.census()])
    by_item: dict[str, list[Any]] = {}
    tasks: Counter[str] = Counter()
    for look in looks:
        if look.item:
            by_item.setdefault(look.item, []).extend(look.judgements)
            tasks[look.item] += 1
    rows = assessment.pool.find(list(by_item))
    tally: Counter[str] = Counter()
    for item, judgements in by_item.items():
        outcome = outcome_of(judgements)
        if outcome is not None and item in rows and item in claims:
            found = assessment.pool.item(rows[item])
            tally[tally_key(claims[item], found.cell, found.predicted, outcome)] += 1
    return tally, sum(map(len, by_item.values())), sum(n > 1 for n in tasks.values())


def unrepeated_choices(assessment: Assessment, ledger: Ledger) -> list[int]:
    """Make every logged choice again, from the labels that were there; return those that differ."""
    pool = assessment.pool
    tally: Counter[str] = Counter()
    records = {record.item: record for record in map(load, ledger.every_record())}
    changes = iter(ledger.changes())
    upcoming = next(changes, None)
    left = np.array(pool.cell_size, dtype=np.int64)
    differing = []
    for choice in ledger.choices():
        while upcoming is not None and upcoming["revision"] <= choice["revision"]:
            _apply(tally, upcoming, records[upcoming["item"]])
            upcoming = next(changes, None)
        pending = np.zeros_like(left)
        for cell, count in choice["pending"].items():
            pending[int(cell)] = count
        again = assessment.choose(assessment.believe(tally), left, pending, choice["claim"])
        row = int(pool.cell_start[again.cell] + pool.cell_size[again.cell] - left[again.cell])
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
    standing = ledger.standing()
    if not decisions:
        return None
    latest = json.loads(decisions[-1])
    if latest["revision"] != standing.revision:
        return None
    unclaimed = unclaimed_cells(assessment, standing)
    belief = assessment.believe(standing.tally)
    verdict = assessment.decide(belief, 0, assessment.earlier(standing.tally), unclaimed)
    chosen = [assessment.pool.group_names[g] for g in verdict.chosen]
    # The width of a guaranteed band depends on what was claimed, which a resume may change.
    is_comparable = assessment.guard is None or latest["claims"] == standing.claims
    return bool(
        chosen == latest["chosen"]
        and verdict.confidence == latest["confidence"]
        and (verdict.value == latest["value"] or not is_comparable)
    )


def export(assessment: Assessment, ledger: Ledger) -> dict[str, Any]:
    """Everything that is kept of an assessment, as JSON: plan, records, choices, decisions."""
    header = ledger.header()
    assert header is not None, "only an assessment that was started is exported"
    standing = ledger.standing()
    return {
        "version": 1,
        "header": json.loads(header.dump()),
        "status": standing.status,
        "revision": standing.revision,
        "tally": dict(standing.tally),
        "records": [json.loads(text) for text in ledger.every_record()],
        "choices": ledger.choices(),
        "changes": ledger.changes(),
        "rejected": {str(k): v for k, v in ledger.rejected().items()},
        "decisions": [json.loads(text) for text in ledger.decisions()],
        "groups": list(assessment.pool.group_names),
    }
