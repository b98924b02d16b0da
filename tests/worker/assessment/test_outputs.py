"""What is believed of outputs that people judge."""

from pathlib import Path

import numpy as np

from tests.worker.answers import RIGHT, plan_of, write_outputs
from worker.assessment import assess
from worker.core.posterior.hypothetical import with_tally
from worker.core.posterior.summary import variance
from worker.pool import compile_pool

N, N_LABELS = 2000, 120


def test_the_pass_rate_of_all_outputs_is_about_as_sure_as_a_stratified_sample(tmp_path: Path):
    truth = write_outputs(tmp_path, n=N)
    plan = plan_of(
        tmp_path,
        question={"task": "estimate"},
        stop={"rmse": 1e-4},
        pool={"groups": "all_items"},
    )
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    pool = work.pool
    wrong = np.array([truth[item] not in RIGHT for item in pool.item_ids.to_pylist()])
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    rate = np.bincount(cell, ~wrong) / pool.cell_size
    some = np.random.default_rng(1).permutation(N)[:N_LABELS]
    counts = np.zeros((pool.n_cells, 2), dtype=np.int64)
    np.add.at(counts, (cell[some], wrong[some].astype(int)), 1)
    believed = work.refitted(with_tally(work.first, counts))
    sampled = (pool.cell_size / N) @ (rate * (1 - rate)) * (1 / N_LABELS - 1 / N)
    assert variance(believed)[0] <= 1.25 * sampled
