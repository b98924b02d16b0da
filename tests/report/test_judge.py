"""What a report says of the judge whose scores outputs have."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeDesk
from tests.report.at_work import AtWork
from tests.worker.answers import SCHEMA, plan_of, rates_of_judge, write_outputs
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import assess
from worker.pool import compile_pool
from worker.report.contents_people import JudgeRate
from worker.report.gathering import gather
from worker.report.page import page
from worker.store import MemoryLedger

ESTIMATE: dict[str, Any] = {"question": {"task": "estimate"}, "stop": {"rmse": 1e-4}}
N = 200


def at_work(folder: Path, n_labels: int, **parts: Any) -> AtWork:
    truth = write_outputs(folder, n=N)
    plan = plan_of(folder, **parts)
    work = assess(plan, compile_pool(plan, folder / "pools"))
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, work.pool)
    ledger.begin(header)
    begun = AtWork(work, header, ledger, FakeDesk(SCHEMA), truth, folder / "decisions")
    begun.label(n_labels)
    return begun


def told_of(begun: AtWork) -> tuple[JudgeRate, ...]:
    return gather(begun.work, begun.header, begun.ledger).judge


def test_once_all_is_labelled_its_rates_are_those_that_are_counted(tmp_path: Path) -> None:
    begun = at_work(tmp_path, N, **ESTIMATE)
    exact = rates_of_judge(tmp_path, begun.truth).values()
    for told, rate in zip(told_of(begun), exact, strict=True):
        assert (told.mean, told.low, told.high) == pytest.approx((rate, rate, rate), abs=1e-6)


def test_of_some_labels_its_rates_have_intervals_and_stand_on_the_page(tmp_path: Path) -> None:
    begun = at_work(tmp_path, 80, **ESTIMATE)
    exact = rates_of_judge(tmp_path, begun.truth).values()
    for told, rate in zip(told_of(begun), exact, strict=True):
        assert told.low <= rate <= told.high
        assert 0 < told.low < told.mean < told.high < 1
    shown = page(gather(begun.work, begun.header, begun.ledger))
    assert 'id="judge-table"' in shown


@pytest.mark.parametrize(
    "parts",
    [
        {},  # labels for a decision lie where it is open, and do not tell of the whole pool
        ESTIMATE | {"pool": {"score": None}},
        ESTIMATE | {"question": {"task": "estimate", "metric": "judge_tnr"}},
    ],
    ids=["identify", "no judge", "asked for"],
)
def test_nothing_is_said_where_labels_do_not_tell_it(tmp_path: Path, parts: Any) -> None:
    assert told_of(at_work(tmp_path, 12, **parts)) == ()
