"""The short form of `make calibration`: nothing published is grossly less sure than it says."""

from __future__ import annotations

import pytest

from tests.calibration.rows import over_pools, row_of
from tests.calibration.trying import SHORT, Job, rows_of


@pytest.mark.slow
@pytest.mark.parametrize("job", SHORT, ids=lambda job: f"{job.way} on {job.kind}")
def test_what_is_published_is_as_sure_as_it_says(job: Job):
    rows = rows_of(job)
    assert rows
    assert not [row for row in rows if row.fails]


def test_a_row_fails_only_where_chance_cannot_explain_it():
    few = row_of("identify", "b one rate", "group interval", 20, [(0.95, 0, 1)] * 2)
    many = row_of("identify", "b one rate", "group interval", 20, [(9.5, 6, 10)] * 20)
    right = row_of("identify", "b one rate", "group interval", 20, [(9.5, 9, 10)] * 20)
    assert (few.fails, many.fails, right.fails) == (False, True, False)


def test_what_one_run_says_many_times_counts_once():
    # one run in five is wrong of all its hundred numbers: these are five observations
    runs = [(95.0, 0, 100)] + [(95.0, 100, 100)] * 4
    row = row_of("identify", "b one rate", "reliability curve", 20, runs)
    assert row.came == 0.8
    assert row.low < 0.4
    assert row.high > 0.95


def test_claims_on_truths_of_the_model_may_not_be_right_less_often_than_they_say():
    found = [(0.95, 1, 1)] * 88 + [(0.95, 0, 1)] * 12
    assert not row_of("identify", "b one rate", "claim of 0.95", 0, found).fails
    assert row_of("identify", "a model", "claim of 0.95", 0, found * 4).fails


def test_what_is_not_claimed_of_one_truth_is_judged_over_pools():
    # .5 is said of ten pools: right in all runs of every second one, or in none of any
    never, always = [(0.5, 0, 1)] * 40, [(0.5, 1, 1)] * 40
    wrong = [row_of("identify", f"g {n}", "confidence", 20, never) for n in range(10)]
    mixed = wrong[:5] + [row_of("identify", f"g {n}", "confidence", 20, always) for n in range(5)]
    assert not [row for row in wrong if row.fails]
    assert [row.fails for row in over_pools(wrong) + over_pools(mixed)] == [True, False]
    assert row_of("identify", "g 1", "claim of 0.95", 0, [(0.95, 0, 1)] * 40).fails
    pairs = [row_of("compare", f"d {n}", "pair region", 20, never) for n in range(10)]
    assert not [row for row in pairs if row.fails]
    assert [(row.way, row.fails) for row in over_pools(pairs + mixed)] == [
        ("compare", True), ("every plan", False),
    ]  # fmt: skip
