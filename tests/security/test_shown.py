"""Row 4 of the attacks, through whole turns: what annotators saw is what is counted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.site import Begun, begin
from worker.cli.doctor import Finding, _of_assessment
from worker.cli.printing import status_text
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.embedded import server
from worker.setup.lifecycle import stop
from worker.setup.replaying import replay
from worker.store.settings import Settings
from worker.turn.shown import OTHER_DATA

BUDGET = 6
SWAPPED = ('<Choice value="cat"/>', '<Choice value="cat" alias="dog"/>')


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Begun]:
    with server(tmp_path / "home", None) as url:
        context = Context(Settings(tmp_path / "home", url, None), url)
        rule = f"{{mrr: {{confidence: 0.999}}, budget: {BUDGET}}}"
        yield begin(context, tmp_path / "plan", "shown", stop=rule)
        context.close()


def n_labels(begun: Begun) -> int:
    return sum(begun.ledger.state().tally.values())


def sweep(begun: Begun) -> None:
    begun.ledger.set_metadata(swept_at=int(time.time()) - 21)
    begun.turn()


def assert_replayed(begun: Begun) -> None:
    assert replay(begun.work, begun.ledger, begun.desk).is_equal


def doctor_says(begun: Begun) -> list[Finding]:
    return _of_assessment(begun.context, begun.id)


def test_a_label_on_a_changed_text_is_shown_and_does_not_count(begun: Begun) -> None:
    task = begun.desk.next_task(1)
    assert task is not None
    before = begun.desk.data_of(task)
    begun.desk.change_data(task, {"text": "something else"})
    begun.label()
    assert n_labels(begun) == 0
    status = status_of(begun.context, begun.id, begun.work)
    assert [why["reason"] for why in status.rejected.values()] == [OTHER_DATA]
    assert f"of {before['item_id']}: {OTHER_DATA}." in status_text(status)
    assert [one.what for one in doctor_says(begun)] == [f"Tasks of {begun.id}"]
    assert_replayed(begun)

    begun.desk.change_data(task, before)
    begun.turn()
    assert n_labels(begun) == 1
    assert doctor_says(begun) == []
    assert_replayed(begun)


def test_the_answers_to_two_items_that_were_swapped_do_not_count(begun: Begun) -> None:
    one, other = begun.desk.task_ids()[:2]
    items = [begun.desk.data_of(task)["item_id"] for task in (one, other)]
    begun.label("cat")
    begun.label("dog")
    for task, item in ((one, items[1]), (other, items[0])):
        begun.desk.change_data(task, {"item_id": item})
    begun.turn()
    assert n_labels(begun) == 0
    assert_replayed(begun)

    for task, item in ((one, items[0]), (other, items[1])):
        begun.desk.change_data(task, {"item_id": item})
    begun.turn()
    assert n_labels(begun) == 2
    assert_replayed(begun)


def test_nothing_is_decided_or_imported_while_the_labelling_configuration_is_another_one(
    begun: Begun,
) -> None:
    begun.label()
    sweep(begun)
    begun.desk.config = begun.desk.config.replace(*SWAPPED)
    while (task := begun.desk.next_task(1)) is not None:
        begun.desk.annotate(task, "cat", 1)
        sweep(begun)
    status = status_of(begun.context, begun.id, begun.work)
    assert (status.status, status.labels) == ("running", 1)
    assert "Choices 'answer'" in status.labelling
    assert status.labelling in " ".join(status_text(status).split())
    assert f"Labelling of {begun.id}" in [one.what for one in doctor_says(begun)]
    assert len(begun.desk.task_ids()) <= BUDGET  # no new ones in place of the rejected
    assert_replayed(begun)

    begun.desk.config = begun.desk.config.replace(*reversed(SWAPPED))
    sweep(begun)
    while (task := begun.desk.next_task(1)) is not None:
        begun.desk.annotate(task, "cat", 1)
        begun.turn()
    begun.turn()
    assert begun.ledger.state().status == "stopped"
    assert n_labels(begun) == BUDGET
    assert doctor_says(begun) == []
    assert_replayed(begun)


def test_before_a_decision_every_answered_task_is_looked_at(begun: Begun) -> None:
    begun.label()
    sweep(begun)
    begun.desk.change_data(1, {"text": "something else"}, is_stamped=False)
    for _ in range(BUDGET - 1):
        begun.label()
    assert begun.ledger.state().status == "running"
    assert n_labels(begun) == BUDGET - 1


def test_a_configuration_that_was_changed_unseen_is_found_before_a_decision(begun: Begun) -> None:
    begun.label()
    sweep(begun)
    begun.desk.config = begun.desk.config.replace(*SWAPPED)
    for _ in range(BUDGET - 1):
        begun.label()
    assert begun.ledger.state().status == "running"
    assert n_labels(begun) == 1


def test_it_can_be_stopped_by_hand_with_what_was_asked_before(begun: Begun) -> None:
    begun.label()
    sweep(begun)
    begun.desk.config = begun.desk.config.replace(*SWAPPED)
    begun.label()
    sweep(begun)
    stop(begun.context, begun.id)
    begun.turn()
    (decided,) = map(json.loads, begun.ledger.decisions())
    assert (decided["reason"], decided["labels"]) == ("by hand", 1)


def test_a_task_that_names_an_item_and_shows_another_one_is_not_taken_for_ours(
    begun: Begun,
) -> None:
    state = begun.ledger.state()
    rows = begun.work.pool.rows_of(0)
    row = next(r for r in rows if r not in {u.row for u in state.unsettled.values()})
    item = begun.work.pool.item(row).item_id
    begun.desk.put([{"text": "something else", "item_id": item}])
    begun.turn()
    begun.turn()
    assert item not in begun.ledger.state().unsettled
