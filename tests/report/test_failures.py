"""How frequent each kind of failure is, in the report of outputs that people judge."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeDesk
from tests.worker.answers import SCHEMA, WRONG, plan_of, write_outputs
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import Assessment, assess
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.report.failures import failures_of
from worker.report.gathering import gather
from worker.store import MemoryLedger
from worker.store.tally import tally_key
from worker.turn.loop import advance


def _tally(work: Assessment, rows: range, truth: list[int]) -> dict[str, int]:
    pool = work.pool
    return Counter(
        tally_key(claim, pool.item(row).cell, 0, pool.classes[truth[row]])
        for claim, row in enumerate(rows)
    )


@pytest.fixture
def work(tmp_path: Path) -> Assessment:
    write_outputs(tmp_path)
    plan = plan_of(tmp_path)
    return assess(plan, compile_pool(plan, tmp_path / "pools"))


def test_once_all_outputs_are_labelled_the_shares_are_known(work: Assessment) -> None:
    truth = read_truth(work.plan, work.pool, "human").tolist()
    found = failures_of(work, _tally(work, range(400), truth))
    assert [one.name for one in found] == WRONG
    for k, one in enumerate(found, start=1):
        share = truth.count(k) / 400
        assert one.labelled == truth.count(k)
        assert (one.mean, one.low, one.high) == pytest.approx((share, share, share), abs=1e-6)


def test_a_kind_that_was_never_seen_may_be_frequent_or_not_be_at_all(work: Assessment) -> None:
    truth = [0 if k == 2 else k for k in read_truth(work.plan, work.pool, "human").tolist()]
    wrong, unsafe = failures_of(work, _tally(work, range(0, 400, 10), truth))
    assert unsafe.labelled == 0
    assert unsafe.low == 0 < unsafe.mean < unsafe.high
    assert unsafe.mean < wrong.mean < 1


@pytest.mark.parametrize(
    "parts",
    [
        {"annotation": {"per_item": 3, "rule": "dawid-skene"}},
        {"annotation": {"per_item": 3, "rule": "majority"}},
        {"prior": {"kind": "informative"}},
        {"prior": {"kind": "uniform"}},
        {"population": "infinite"},
        {"stop": {"guarantee": "anytime"}},
        {"question": {"metric": "bias"}},
        {"question": {"task": "estimate", "metric": "ece"}, "pool": {"groups": "score_bin(5)"}},
        {"pool": {"score": None}},
        {"pool": {"groups": ["model", "topic"], "parents": "model"}},
        {"pool": {"opinions": [{"name": "model", "category": "model"}]}},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_is_asked_failures_are_told(tmp_path: Path, parts: dict[str, Any]) -> None:
    truth = write_outputs(tmp_path, n=120)
    plan = plan_of(tmp_path, **parts)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    people, ledger = plan.annotation.per_item, MemoryLedger(plan.assessment)
    header, desk = header_of(plan, work.pool), FakeDesk(SCHEMA, overlap=people)
    ledger.begin(header)
    for turn in range(12):
        advance(work, header, ledger, desk, tmp_path, f"turn-{turn}")
        for person in range(1, people + 1):
            if (task := desk.next_task(person)) is not None:
                item = desk.data_of(task)["item_id"]
                # who errs now and then leaves votes in doubt
                said = "Wrong" if person == turn % 9 else truth[item]
                desk.annotate(task, said, person)
    advance(work, header, ledger, desk, tmp_path, "last")
    found = gather(work, header, ledger).failures
    assert [one.name for one in found] == WRONG
    assert all(0 <= one.low <= one.mean <= one.high <= 1 for one in found)
