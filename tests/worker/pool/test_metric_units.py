"""The cells that a metric asks for: its units, bins and strata, and their mean logits."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import special

from tests.worker.pool.metrics_pool import CLASSES, N, pool_of, write_predictions
from worker.errors import PlanError
from worker.plan import load_plan
from worker.pool import Pool, compile_pool

ANSWERS = Path(__file__).parents[3] / "samples" / "answers" / "plan.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_predictions(tmp_path)


def scores_of(folder: Path) -> dict[str, float]:
    """The score of every item by its id, read without our own code."""
    rows = pq.read_table(folder / "p.parquet").to_pylist()
    return {row["item_id"]: max(row[f"p_{name}"] for name in CLASSES) for row in rows}


def without_scores(folder: Path, **parts: Any) -> Pool:
    columns = {"probabilities": None, "predicted": "said"}
    return pool_of(folder, {}, **columns, **parts)


def test_the_cells_of_a_calibration_error_are_class_by_bin(folder):
    pool = pool_of(folder, {"metric": "ece", "bins": 5}, strata=1)

    assert pool.unit_names == tuple(f"score {k / 5:.2f}-{(k + 1) / 5:.2f}" for k in range(5))
    pairs = list(zip(pool.cell_group.tolist(), pool.cell_unit.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    for row in range(pool.n_items):
        cell = pool.item(row).cell
        assert int(pool.cell_unit[cell]) == min(int(pool.score[row] * 5), 4)
        assert int(pool.cell_group[cell]) == int(pool.predicted[row])


def test_bins_of_equal_mass_are_cut_at_scores_that_all_groups_share(folder):
    pool = pool_of(folder, {"metric": "ece", "bins": "equal_mass(4)"})
    sizes = np.bincount(pool.cell_unit, weights=pool.cell_size)
    assert sizes.tolist() == [N / 4] * 4


def test_strata_may_lie_inside_bins(folder):
    one = pool_of(folder, {"metric": "ece", "bins": 2}, strata=1)
    two = pool_of(folder, {"metric": "ece", "bins": 2})
    assert two.n_cells > one.n_cells
    order = np.lexsort((two.cell_mean_score, two.cell_unit, two.cell_group))
    assert order.tolist() == list(range(two.n_cells))


def test_where_the_groups_are_score_bins_the_bins_of_the_metric_are_the_groups(folder):
    pool = pool_of(folder, {"metric": "ece"}, groups="score_bin(10)", strata=1)
    assert pool.unit_names == ("",)
    assert pool.n_cells == int((pool.group_size > 0).sum())


def test_the_units_of_a_recall_are_what_was_predicted(folder):
    pool = pool_of(folder, {"metric": "recall", "positive": "dog"}, groups="region", strata=1)
    assert pool.unit_names == ("predicted another class", "predicted dog")
    assert pool.cell_group.tolist() == [0, 0, 1, 1]
    assert pool.cell_unit.tolist() == [0, 1, 0, 1]
    for cell in range(pool.n_cells):
        said = {pool.classes[int(pool.predicted[row])] == "dog" for row in pool.rows_of(cell)}
        assert said == {bool(pool.cell_unit[cell])}


def test_a_positive_class_that_is_not_known_is_refused_with_the_nearest(folder):
    with pytest.raises(PlanError, match=r"question\.positive: the class 'dgo' is not known"):
        pool_of(folder, {"metric": "recall", "positive": "dgo"}, groups="region")


def test_mean_logits_are_those_of_the_clipped_scores(folder):
    pool = pool_of(folder, {}, classes=[*CLASSES])
    score = scores_of(folder)
    clipped = np.clip([score[item] for item in pool.item_ids.to_pylist()], 1e-7, 1 - 1e-7)
    logits = np.log(clipped / (1 - clipped))
    for cell in range(pool.n_cells):
        rows = pool.rows_of(cell)
        assert pool.cell_mean_logit[cell] == pytest.approx(logits[rows.start : rows.stop].mean())
    for group in range(3):
        assert pool.group_mean_logit[group] == pytest.approx(logits[pool.predicted == group].mean())


def test_a_group_without_items_has_no_mean_logit(folder):
    pool = pool_of(folder, {}, probabilities=None, predicted="said", score="sure",
                   classes=["ant", *CLASSES])  # fmt: skip
    assert np.isnan(pool.group_mean_logit).tolist() == [True, False, False, False]


def test_scores_of_exactly_one_have_a_finite_logit(folder):
    table = {"item_id": ["a", "b"], "said": ["cat", "dog"], "sure": [1.0, 0.0]}
    pq.write_table(pa.table(table), folder / "p.parquet")
    pool = pool_of(folder, {}, probabilities=None, predicted="said", score="sure",
                   data={"text": "item_id"})  # fmt: skip
    assert np.abs(pool.cell_mean_logit) == pytest.approx([special.logit(1 - 1e-7)] * 2)


def test_a_pool_without_scores_has_one_cell_a_group_and_no_means(folder):
    pool = without_scores(folder)
    assert not pool.has_scores
    assert pool.n_cells == 3
    assert np.isnan(pool.cell_mean_score).all()
    assert np.isnan(pool.cell_mean_logit).all()
    assert np.isnan(pool.score).all()
    assert pool_of(folder, {}).has_scores


def test_outputs_that_a_judge_calls_right_and_others_are_told_apart_in_every_group(tmp_path):
    pool = compile_pool(load_plan(ANSWERS, for_simulation=True), tmp_path)
    assert pool.is_judged
    for cell in range(pool.n_cells):
        said = {bool(pool.score[row] >= 0.5) for row in pool.rows_of(cell)}
        assert said == {pool.unit_names[pool.cell_unit[cell]] == "called right by the judge"}
