"""The truth that a simulation reads: in the pool's order, or refused with what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.worker.pool.metrics_pool import N, plan_of, pool_of, write_predictions
from worker.errors import PredictionsError
from worker.pool import compile_pool, read_truth


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_predictions(tmp_path)


@pytest.mark.parametrize("strata", [1, 4])
def test_the_truth_stands_in_the_order_of_the_pools_rows(folder, strata):
    plan = plan_of(folder, {}, strata=strata)
    pool = compile_pool(plan, folder / "pools")
    rows = pq.read_table(folder / "p.parquet").to_pylist()
    animal = {row["item_id"]: row["animal"] for row in rows}

    truth = read_truth(plan, pool, "animal")

    assert truth.shape == (N,)
    said = [pool.classes[code] for code in truth]
    assert said == [animal[item] for item in pool.item_ids.to_pylist()]


def test_a_column_that_is_not_there_is_told_with_the_nearest(folder):
    plan = plan_of(folder, {})
    with pytest.raises(PredictionsError, match=r"no column anmal .*did you mean animal.*--truth"):
        read_truth(plan, compile_pool(plan, folder / "pools"), "anmal")


def truth_of(folder: Path, animals: list[str | None], **parts: Any) -> np.ndarray:
    said = ["cat", "dog", "cat", "dog"]
    table = {"item_id": list("wxyz"), "said": said, "sure": [0.9] * 4, "animal": animals}
    pq.write_table(pa.table(table), folder / "p.parquet")
    columns = {"probabilities": None, "predicted": "said", "score": "sure", "strata": 1}
    plan = plan_of(folder, {}, **columns, data={"text": "item_id"}, **parts)
    pool = compile_pool(plan, folder / "pools")
    order = np.argsort(pool.item_ids.to_pylist())
    return read_truth(plan, pool, "animal")[order]


def test_a_truth_that_lacks_items_is_refused_with_their_number_and_ids(folder):
    with pytest.raises(PredictionsError) as caught:
        truth_of(folder, ["cat", None, "", "dog"])
    assert "missing for 2 of 4 items (first: x, y); fill it in" in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "rows"), [(["w", None, "y", "z"], "row 2"), (["w", None, "", None], "rows 2, 3, 4")]
)
@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_a_truth_without_the_ids_of_its_items_is_refused_with_the_rows(folder, ids, rows, name):
    truth = folder / name
    if truth.suffix == ".parquet":
        pq.write_table(pa.table({"item_id": ids, "animal": ["cat"] * 4}), truth)
    else:
        lines = (json.dumps({"item_id": i, "animal": "cat"}) for i in ids)
        truth.write_text("\n".join(lines), encoding="utf-8")
    plan = plan_of(folder, {})
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PredictionsError, match=rf"id \(column item_id\) is missing .* in {rows}$"):
        read_truth(plan, pool, f"{truth}:animal")


def test_a_class_that_is_never_predicted_is_a_further_class_unless_the_plan_lists_them(folder):
    animals: list[str | None] = ["cat", "cow", "dog", "emu"]
    assert truth_of(folder, animals).tolist() == [0, 2, 1, 3]
    with pytest.raises(PredictionsError, match=r"holds 2 classes .*'cow', 'emu'.*`pool\.classes`"):
        truth_of(folder, animals, classes=["cat", "dog"])


def test_a_truth_in_other_words_than_the_predictions_is_refused(folder):
    with pytest.raises(PredictionsError, match="did you mean cat"):
        truth_of(folder, ["Cat", "Dog", "Cat", "Dog"])


def test_a_simulations_pool_shows_nothing_to_anybody(folder):
    pool = pool_of(folder, {}, data={})
    assert pool.item(0).data == {}
