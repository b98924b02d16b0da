"""Both ledgers against a model: any calls, in any order, by clients that come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)

from tests.amount import IS_SHORT
from tests.contract.ledger_machine import LedgerMachine
from worker.store import MemoryLedger

N_HISTORIES = 40 if IS_SHORT else 150
SETTINGS = settings(
    max_examples=N_HISTORIES,
    stateful_step_count=40,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def run(machine: type[LedgerMachine], how: settings = SETTINGS) -> None:
    run_state_machine_as_test(machine, settings=how)


def test_the_ledger_in_memory_is_the_model() -> None:
    run(LedgerMachine)


def test_the_ledger_in_valkey_is_the_model(valkey_url: str) -> None:
    run(type("ValkeyMachine", (LedgerMachine,), {"url": valkey_url}))


def test_a_ledger_that_counts_blindly_is_found_out() -> None:
    """The machine can fail: a twin that adds every answer, and takes none back."""

    class Blind(MemoryLedger):
        def commit(self, changes: Any) -> list[str]:
            return super().commit(
                [
                    replace(c, edits=tuple(e for e in c.edits if e.verb != "add" or e.value != -1))
                    for c in changes
                ]
            )

    class BlindMachine(LedgerMachine):
        def another_client(self) -> None:
            if not isinstance(self.ledger, Blind):
                self.ledger = Blind(self.name)

    first_one_found = settings(
        SETTINGS,
        max_examples=1_000,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
    )
    with pytest.raises(AssertionError):
        run(BlindMachine, first_one_found)
