"""Other kinds of predictions: COCO results, Hugging Face data sets, the paper's text rows."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from worker.errors import PoolChanged, PredictionsError
from worker.plan import Plan, load_plan
from worker.pool import check_source, compile_pool, read_truth
from worker.pool.tables import column_names, first_rows
from worker.setup.drafting import draft_plan
from worker.simulate.cases import Asked, prepare

RESULTS: list[dict[str, Any]] = [
    {"image_id": 42, "category_id": 18, "score": 0.25, "bbox": [1.0, 2.0, 3.0, 4.0]},
    {"image_id": 73, "category_id": 44, "score": 0.5},
    {"image_id": 9, "category_id": 18, "score": 1},
]
NAMES = ["cat", "dog", "cow"]
FEATURES = {
    "id": {"dtype": "string", "_type": "Value"},
    "said": {"names": NAMES, "_type": "ClassLabel"},
    "truth": {"names": NAMES, "_type": "ClassLabel"},
}


def plan_of(path: Path, question: str = "identify", **parts: Any) -> Plan:
    return Plan.model_validate(
        {
            "assessment": "a",
            "pool": {"predictions": path, "data": {"shown": parts.get("id", "item_id")}} | parts,
            "question": {"task": question},
        }
    )


def items_of(plan: Plan, folder: Path) -> dict[str, tuple[str, float]]:
    pool = compile_pool(plan, folder / "pools")
    items = [pool.item(row) for row in range(pool.n_items)]
    return {
        item.item_id: (pool.classes[item.predicted], float(pool.score[item.row])) for item in items
    }


def refusal(plan: Plan, folder: Path) -> str:
    with pytest.raises(PredictionsError) as caught:
        compile_pool(plan, folder / "pools")
    return str(caught.value)


# COCO results


def coco_plan(path: Path, **parts: Any) -> Plan:
    return plan_of(path, id="image_id", predicted="category_id", score="score", **parts)


@pytest.mark.parametrize("name", ["results.json", "results.json.gz"])
def test_coco_results_are_predictions_with_their_scores(tmp_path, name):
    content = json.dumps(RESULTS).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)

    found = items_of(coco_plan(tmp_path / name), tmp_path)

    assert found == {"42": ("18", 0.25), "73": ("44", 0.5), "9": ("18", 1.0)}
    assert column_names(tmp_path / name) == ["image_id", "category_id", "score", "bbox"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps([*RESULTS, RESULTS[0]]), r"the image 42 has 2 results .*highest score"),
        (json.dumps({"images": []}), "came an object.*expected COCO results"),
        ("7", "came a value, expected COCO results"),
        ("", "empty"),
        ("[]", "no column|no rows"),
        (json.dumps(RESULTS)[:-9], "is it complete"),
        (json.dumps([1, 2]), "row 1 is no JSON object"),
        (json.dumps([{"image_id": 1, "category_id": 2, "score": "x"}]), "row 1 has 'x'"),
        (
            json.dumps([{"image_id": 1, "category_id": 2, "score": 7}] * 1),
            "one class only|within 0",
        ),
    ],
)
def test_coco_results_that_cannot_be_used_are_refused(tmp_path, content, reason):
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(PredictionsError, match=reason):
        compile_pool(coco_plan(path), tmp_path / "pools")


def test_a_plan_for_coco_results_is_drafted(tmp_path):
    rows = [row | {"coco_url": f"http://{row['image_id']}"} for row in RESULTS]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    path = tmp_path / "plan.yaml"
    path.write_text(draft_plan(tmp_path / "results.json", path))
    plan = load_plan(path)

    assert (plan.pool.id, plan.pool.predicted, plan.pool.score) == (
        "image_id", "category_id", "score",
    )  # fmt: skip
    assert plan.pool.data == {"coco_url": "coco_url"}
    assert len(items_of(plan, tmp_path)) == 3


# Hugging Face data sets


def rows_of(start: int, n: int) -> pa.RecordBatch:
    numbers = range(start, start + n)
    return pa.record_batch(
        {
            "id": [f"i{i}" for i in numbers],
            "said": pa.array([i % 3 for i in numbers], pa.int64()),
            "sure": pa.array([0.5 + i / 100 for i in numbers], pa.float32()),
            "truth": pa.array([0 if i else -1 for i in numbers], pa.int64()),
        }
    )


def save_to_disk(folder: Path) -> Path:
    """Write what `datasets` does: streams of Arrow, a state, a description."""
    folder.mkdir(parents=True)
    files = []
    for part, (start, n) in enumerate([(0, 4), (4, 3)]):
        files.append(f"data-{part:05d}-of-00002.arrow")
        batch = rows_of(start, n)
        with pa.ipc.new_stream(folder / files[-1], batch.schema) as writer:
            writer.write_batch(batch)
    state = {"_data_files": [{"filename": name} for name in files], "_fingerprint": "f"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
    return folder


def save_shards(folder: Path) -> Path:
    """Write what is pushed to the hub: Parquet files that carry the features."""
    folder.mkdir(parents=True)
    told = json.dumps({"info": {"features": FEATURES}})
    for part, (start, n) in enumerate([(0, 4), (4, 3)]):
        table = pa.Table.from_batches([rows_of(start, n)])
        table = table.replace_schema_metadata({"huggingface": told})
        pq.write_table(table, folder / f"test-{part:05d}-of-00002.parquet")
    return folder


def folder_plan(path: Path, **parts: Any) -> Plan:
    return plan_of(path, id="id", predicted="said", score="sure", **parts)


@pytest.mark.parametrize("kind", ["saved", "shards", "shards in data"])
def test_a_data_set_s_folder_is_predictions_and_its_names_stand_for_numbers(tmp_path, kind):
    path = tmp_path / "set"
    if kind == "saved":
        save_to_disk(path)
    else:
        save_shards(path if kind == "shards" else path / "data")

    found = items_of(folder_plan(path), tmp_path)

    assert found == {f"i{i}": (NAMES[i % 3], pytest.approx(0.5 + i / 100)) for i in range(7)}
    assert column_names(path) == ["id", "said", "sure", "truth"]
    assert first_rows(path, 2).column("said").to_pylist() == ["cat", "dog"]


def test_an_item_without_a_class_has_none_and_not_the_last_one(tmp_path):
    plan = folder_plan(save_to_disk(tmp_path / "set"))
    pool = compile_pool(plan, tmp_path / "pools")
    with pytest.raises(PredictionsError, match=r"missing for 1 of 7 items \(first: i0\)"):
        read_truth(plan, pool, "truth")


def test_a_changed_data_set_is_another_pool(tmp_path):
    plan = folder_plan(save_to_disk(tmp_path / "set"))
    pool = compile_pool(plan, tmp_path / "pools")
    check_source(pool, plan)

    info = json.loads((tmp_path / "set" / "dataset_info.json").read_text())
    info["features"]["said"]["names"] = ["cow", "dog", "cat"]
    (tmp_path / "set" / "dataset_info.json").write_text(json.dumps(info))
    with pytest.raises(PoolChanged, match="predictions file changed"):
        check_source(pool, plan)


def test_data_sets_that_cannot_be_used_are_refused(tmp_path):
    plan = folder_plan(save_to_disk(tmp_path / "set"))
    folder = tmp_path / "set"
    (folder / "data-00001-of-00002.arrow").rename(tmp_path / "away")
    assert "lacks data-00001-of-00002.arrow" in refusal(plan, tmp_path)
    (folder / "data-00001-of-00002.arrow").write_bytes((tmp_path / "away").read_bytes()[:300])
    assert "is it complete" in refusal(plan, tmp_path)
    (tmp_path / "away").rename(folder / "data-00001-of-00002.arrow")

    info = {"features": {"said": {"names": ["cat"], "_type": "ClassLabel"}}}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    assert "holds the number 2, but has the 1 names cat" in refusal(plan, tmp_path)
    (folder / "dataset_info.json").write_text("{")
    assert "is not JSON" in refusal(plan, tmp_path)

    several = tmp_path / "several"
    several.mkdir()
    (several / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert "of the splits train, test" in refusal(folder_plan(several), tmp_path)
    (tmp_path / "empty").mkdir()
    assert "came a folder" in refusal(folder_plan(tmp_path / "empty"), tmp_path)


# The paper's text rows


def write_rows(path: Path, n: int = 60, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    scores = rng.dirichlet(np.ones(n_classes), n)
    true = rng.integers(0, n_classes, n)
    np.savetxt(path, np.column_stack([true, scores]))
    return true, scores


def text_plan(path: Path, n_classes: int = 3, **parts: Any) -> Plan:
    return plan_of(path, probabilities=[f"s_{k}" for k in range(n_classes)], **parts)


@pytest.mark.parametrize("name", ["rows.txt", "rows.txt.gz"])
def test_rows_of_text_are_predictions_with_their_true_classes(tmp_path, name):
    true, scores = write_rows(tmp_path / name)
    plan = text_plan(tmp_path / name)
    pool = compile_pool(plan, tmp_path / "pools")

    assert pool.classes == ("0", "1", "2")
    rows = [int(item.removeprefix("row-")) - 1 for item in pool.item_ids.to_pylist()]
    assert sorted(rows) == list(range(60))
    assert pool.predicted.tolist() == scores.argmax(axis=1)[rows].tolist()
    assert pool.score == pytest.approx(scores.max(axis=1)[rows], abs=1e-6)
    assert read_truth(plan, pool, "true").tolist() == true[rows].tolist()


def test_the_scores_of_a_row_of_text_are_also_one_column(tmp_path):
    write_rows(tmp_path / "rows.txt")
    one = text_plan(tmp_path / "rows.txt")
    other = plan_of(tmp_path / "rows.txt", probabilities="scores", classes=["0", "1", "2"])
    assert items_of(one, tmp_path) == items_of(other, tmp_path)


def test_rows_of_text_are_simulated_with_their_true_classes(tmp_path):
    write_rows(tmp_path / "rows.txt")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "pool: {predictions: rows.txt, probabilities: [s_0, s_1, s_2]}\n"
        "question: {task: identify}\n"
    )
    (case,) = prepare(plan, tmp_path / "pools", Asked(truth="true"))
    assert case.n_items == 60
    assert case.truth is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("\n1 .5 .5\n", "empty"),
        ("1 .5\n", "row 1 has 2 values"),
        ("1 .5 .5\n0 .5 .5 .5\n", "row 2 has 4 of 3 values"),
        ("1 .5 .5\n0 .5", "row 2 has 2 of 3 values"),
        ("1 .5 .5\n0 half .5\n", "row 2 has 'half'"),
        ("1 .5 .5\n2 .5 .5\n", "row 2 has the true class 2, expected a whole number from 0 to 1"),
        ("1 .5 .5\n.5 .5 .5\n", "row 2 has the true class 0.5"),
        ("1 .5 .5\nnan .5 .5\n", "row 2 has the true class nan"),
        ("1 .5 .5\n0 .5 .4\n", "do not sum to 1"),
    ],
)
def test_rows_of_text_that_cannot_be_are_refused(tmp_path, text, reason):
    (tmp_path / "rows.txt").write_text(text)
    assert reason in refusal(text_plan(tmp_path / "rows.txt", 2), tmp_path)


def test_columns_of_text_rows_are_what_they_are(tmp_path):
    write_rows(tmp_path / "rows.txt")
    plan = text_plan(tmp_path / "rows.txt", id="scores")
    assert "scores holds numbers, expected text" in refusal(plan, tmp_path)
    plan = plan_of(tmp_path / "rows.txt", predicted="true", score="scores")
    assert "scores holds no scores of one class" in refusal(plan, tmp_path)


def test_a_plan_for_rows_of_text_is_drafted(tmp_path):
    write_rows(tmp_path / "rows.txt", n_classes=4)
    path = tmp_path / "plan.yaml"
    path.write_text(draft_plan(tmp_path / "rows.txt", path, id="item_id", data=["item_id"]))
    plan = load_plan(path)
    assert plan.pool.probabilities == ("s_0", "s_1", "s_2", "s_3")
    assert plan.pool.classes == ("0", "1", "2", "3")
    assert len(items_of(plan, tmp_path)) == 60
