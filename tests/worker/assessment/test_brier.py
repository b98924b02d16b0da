"""The Brier score of a pool: by its items' scores, and by the means of their bins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.pool.metrics_pool import CLASSES, N, plan_of, write_predictions
from worker.assessment import assess
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.pool import compile_pool
from worker.simulate.truths import all_labelled


@pytest.mark.parametrize("groups", ["predicted_class", "score_bin(5)", "region"])
def test_once_all_is_labelled_it_is_the_mean_squared_error_of_the_scores(tmp_path, groups):
    plan = plan_of(write_predictions(tmp_path), {"metric": "brier"}, groups=groups)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    pool, rng = work.pool, np.random.default_rng(4)
    outcome = (rng.random(N) > pool.score).astype(np.int64)
    done = all_labelled(work, outcome)
    squared = (pool.score - (outcome == 0)) ** 2
    group = np.repeat(pool.cell_group, pool.cell_size)
    for g in np.flatnonzero(pool.group_size):
        assert mean(done)[g] == pytest.approx(squared[group == g].mean(), abs=0.01)
    assert interval(done)[-1] == pytest.approx(mean(done)[[-1, -1]])


def test_bins_so_narrow_that_each_has_one_score_give_it_exactly(tmp_path):
    question = {"metric": "brier", "bins": "equal_mass(240)"}
    plan = plan_of(write_predictions(tmp_path), question)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    outcome = np.arange(N) % 2
    squared = (work.pool.score - (outcome == 0)) ** 2
    group = np.repeat(work.pool.cell_group, work.pool.cell_size)
    expected = [squared[group == g].mean() for g in range(len(CLASSES))]
    assert mean(all_labelled(work, outcome)) == pytest.approx(expected, abs=1e-6)
