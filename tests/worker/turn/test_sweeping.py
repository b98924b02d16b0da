"""Taking stock: what no change tells is found by counting."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from connector.errors import NotFound
from connector.labels import TaskSnapshot
from tests.fakes import FakeDesk
from tests.worker.turn.synced import RULES, begun, showing
from worker.turn.sync import (
    BATCH,
    OVERLAP_US,
    SWEEP_S,
    catch_up,
    sweep,
    sweep_is_due,
    take_stock,
)


class TestSweeping:
    """What no change tells is found by counting."""

    def test_equal_counts_cost_one_question_and_one_page_of_answered_tasks(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b")
        a, b = showing(desk, "a", "b")
        desk.annotate(a, "cat", author=1)
        desk.skip(b, author=1)
        catch_up(ledger, desk, RULES)
        desk.calls.clear()

        assert not sweep(ledger, desk, RULES)

        assert desk.calls == ["counters", "read"]

    def test_a_deleted_task_takes_its_label_out_of_the_tally(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b")
        a, b = showing(desk, "a", "b")
        for task in (a, b):
            desk.annotate(task, "cat", author=1)
        catch_up(ledger, desk, RULES)
        desk.delete_task(a)
        catch_up(ledger, desk, RULES)
        assert dict(ledger.state().tally) == {"0:0:0:cat": 2}  # no change told of it

        assert sweep(ledger, desk, RULES)

        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}
        assert ledger.state().unsettled["a"].state == "deleted"
        assert not sweep(ledger, desk, RULES)

    def test_a_deleted_task_whose_id_came_again_is_noticed(self) -> None:
        desk, ledger = FakeDesk(), begun("a", "b")
        (task,) = showing(desk, "a")
        desk.annotate(task, "cat", author=1)
        catch_up(ledger, desk, RULES)
        desk.delete_task(task)
        assert showing(desk, "b") == [task]

        catch_up(ledger, desk, RULES)

        state = ledger.state()
        assert dict(state.tally) == {}
        assert {i: u.state for i, u in state.unsettled.items()} == {"a": "deleted", "b": "open"}
        assert not sweep(ledger, desk, RULES)

    def test_a_change_that_slipped_through_is_found(self) -> None:
        desk, ledger = FakeDesk(), begun("a")
        (task,) = showing(desk, "a")
        catch_up(ledger, desk, RULES)
        ledger.advance_cursor(desk.now_us + 10 * OVERLAP_US)
        desk.annotate(task, "cat", author=1)
        catch_up(ledger, desk, RULES)
        assert ledger.state().revision == 0

        assert sweep(ledger, desk, RULES)

        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}

    def test_foreign_tasks_that_vanish_are_forgotten(self) -> None:
        desk, ledger = FakeDesk(), begun("a")
        (task,) = showing(desk, "a stranger's")
        catch_up(ledger, desk, RULES)
        desk.delete_task(task)

        assert sweep(ledger, desk, RULES)

        assert ledger.tasks() == {}

    def test_a_project_that_is_gone_empties_nothing(self) -> None:
        desk, ledger = FakeDesk(), begun("a")
        desk.annotate(showing(desk, "a")[0], "cat", author=1)
        catch_up(ledger, desk, RULES)
        desk.is_gone = True

        for read in (catch_up, sweep):
            with pytest.raises(NotFound):
                read(ledger, desk, RULES)

        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}

    def test_it_is_due_after_a_while_and_when_a_clock_was_put_back(self) -> None:
        ledger = begun()
        assert sweep_is_due(ledger.metadata(), now_s=1_000_000.0)
        ledger.set_metadata(swept_at=1_000_000)

        assert not sweep_is_due(ledger.metadata(), now_s=1_000_000 + SWEEP_S - 1)
        assert sweep_is_due(ledger.metadata(), now_s=1_000_000 + SWEEP_S)
        assert sweep_is_due(ledger.metadata(), now_s=1_000_000 - SWEEP_S)

    def test_taking_stock_of_many_tasks_reads_only_those_that_differ(self) -> None:
        class Watched(FakeDesk):
            def __init__(self) -> None:
                super().__init__()
                self.asked: list[int] = []

            def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
                self.asked += tasks
                return super().read(tasks)

        items = [f"item {n}" for n in range(BATCH + 20)]
        desk, ledger = Watched(), begun(*items)
        tasks = showing(desk, *items)
        catch_up(ledger, desk, RULES)
        desk.annotate(tasks[3], "cat", author=1)

        take_stock(ledger, desk, RULES)

        assert desk.asked == [tasks[3]]
        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}
