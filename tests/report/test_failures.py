"""How frequent each kind of failure is, in the report of outputs that people judge."""

from collections import Counter
from pathlib import Path

import pytest

from tests.worker.answers import WRONG, plan_of, write_outputs
from worker.assessment import Assessment, assess
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.report.failures import failures_of
from worker.store.tally import tally_key


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
