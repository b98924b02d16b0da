"""A borrowed project gets its settings back, wherever a worker dies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.ledgers import header_of
from tests.fakes import FakeDesk
from worker.store import MemoryLedger
from worker.turn.overriding import override_settings, restore_settings

THEIRS = {"sampling": "Sequential sampling", "model_version": "v1"}
OURS = {"sampling": "Uncertainty sampling", "model_version": "assay-x-1-00000000"}


class Died(Exception):
    """A worker died here."""


class Borrowed(FakeDesk):
    """A project with settings of its own; a worker may die before or after each call."""

    def __init__(self) -> None:
        super().__init__()
        self.now: dict[str, Any] = dict(THEIRS)
        self.writes = 0
        self.dies: tuple[str, bool] | None = None

    def settings(self) -> dict[str, Any]:
        return dict(self.now)

    def take_over(self) -> None:
        self._write("take_over", OURS)

    def restore_settings(self, settings: Mapping[str, Any]) -> None:
        self._write("restore_settings", settings)

    def _write(self, name: str, settings: Mapping[str, Any]) -> None:
        if self.dies == (name, False):
            self.dies = None
            raise Died
        self.now, self.writes = dict(settings), self.writes + 1
        if self.dies == (name, True):
            self.dies = None
            raise Died


@pytest.fixture
def ledger() -> MemoryLedger:
    begun = MemoryLedger("x")
    begun.begin(header_of("x"))
    return begun


def test_a_project_is_taken_over_once_and_given_back_once(ledger: MemoryLedger) -> None:
    desk = Borrowed()
    for _ in range(3):
        override_settings(ledger, desk)
    assert (desk.now, desk.writes) == (OURS, 1)
    for _ in range(3):
        restore_settings(ledger, desk)
    assert (desk.now, desk.writes) == (THEIRS, 2)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["take_over", "restore_settings"])
def test_a_worker_that_dies_at_any_step_changes_nothing_in_the_end(
    ledger: MemoryLedger, step: str, after: bool
) -> None:
    desk = Borrowed()
    desk.dies = (step, after)
    for turn in (override_settings, restore_settings):
        try:
            turn(ledger, desk)
        except Died:
            turn(ledger, desk)
        assert desk.now == (OURS if turn is override_settings else THEIRS)


@pytest.mark.parametrize("after", [False, True])
def test_a_resume_after_a_death_takes_the_project_over_again(
    ledger: MemoryLedger, after: bool
) -> None:
    desk = Borrowed()
    override_settings(ledger, desk)
    desk.dies = ("restore_settings", after)
    with pytest.raises(Died):
        restore_settings(ledger, desk)

    override_settings(ledger, desk)
    assert desk.now == OURS
    restore_settings(ledger, desk)
    assert desk.now == THEIRS


def test_settings_that_change_between_two_loans_are_put_back_as_they_were_last(
    ledger: MemoryLedger,
) -> None:
    desk = Borrowed()
    override_settings(ledger, desk)
    restore_settings(ledger, desk)
    desk.now["model_version"] = "v2"
    override_settings(ledger, desk)
    restore_settings(ledger, desk)
    assert desk.now == THEIRS | {"model_version": "v2"}


def test_a_project_of_our_own_is_left_alone(ledger: MemoryLedger) -> None:
    desk = FakeDesk()
    override_settings(ledger, desk)
    restore_settings(ledger, desk)
    assert desk.calls == []
    assert "settings_before" not in ledger.metadata()
