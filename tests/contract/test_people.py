"""Somebody who labelled leaves Label Studio while an assessment runs; fake and real project."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connector.annotator import Annotator
from tests.contract.ledgers import header_of
from tests.contract.projects import Project, shown
from worker.store import Claim, MemoryLedger
from worker.store.records import load
from worker.store.rules import Rules
from worker.turn.sync import catch_up, sweep

ITEMS = ("a", "b", "c")
RULES = Rules()


@pytest.fixture
def annotator(newcomer: Callable[[], Annotator]) -> Callable[[], Annotator]:
    """Nobody who is needed later."""
    return newcomer


def read(project: Project, ledger: MemoryLedger) -> dict[str, str | None]:
    """What counts for each item once the project was read and swept."""
    catch_up(ledger, project.desk, RULES)
    sweep(ledger, project.desk, RULES)
    records = {record.item: record for record in map(load, ledger.every_record())}
    counted = sum(ledger.state().tally.values())
    assert counted == sum(record.outcome is not None for record in records.values())
    return {item: record.outcome for item, record in records.items()}


def begun(project: Project) -> tuple[MemoryLedger, list[int]]:
    ledger = MemoryLedger("people")
    ledger.begin(header_of("people"))
    assert ledger.claim(0, [Claim(n, item, n, 0, 0, {}) for n, item in enumerate(ITEMS)])
    tasks = project.desk.put(shown(ITEMS))
    project.annotate(tasks[0], "cat", 0)
    project.annotate(tasks[1], "dog", 1)
    assert read(project, ledger) == {"a": "cat", "b": "dog", "c": None}
    return ledger, tasks


def test_labels_of_a_user_who_was_deleted_are_rejected_with_their_reason_and_nobody_elses(
    project: Project,
) -> None:
    ledger, tasks = begun(project)
    leaver = project.author(0)

    project.delete_person(0)

    assert read(project, ledger) == {"a": None, "b": "dog", "c": None}
    reasons = {why["item"]: why["reason"] for why in ledger.rejected().values()}
    assert reasons == {"a": "nobody is named as its author"}
    assert set(ledger.state().authors) == {str(leaver), str(project.author(1))}  # as before
    assert leaver not in project.desk.people()
    project.annotate(tasks[2], "cow", 1)
    assert read(project, ledger) == {"a": None, "b": "dog", "c": "cow"}


def test_labels_of_a_user_who_was_taken_out_of_the_organization_count_on(project: Project) -> None:
    ledger, tasks = begun(project)

    project.dismiss(0)

    project.annotate(tasks[2], "cow", 1)
    assert read(project, ledger) == {"a": "cat", "b": "dog", "c": "cow"}
    assert not ledger.rejected()
