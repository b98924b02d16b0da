"""What a metric keeps in the compiled file: mean probabilities, a hash of its own, the format."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.metrics_pool import CLASSES, pool_of, write_predictions
from worker.errors import PoolChanged
from worker.pool import open_pool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_predictions(tmp_path)


def test_a_metric_of_true_classes_keeps_the_mean_probabilities_of_each_cell(folder):
    pool = pool_of(folder, {"metric": "confusion"}, strata=3)
    rows = {row["item_id"]: row for row in pq.read_table(folder / "p.parquet").to_pylist()}
    ids = pool.item_ids.to_pylist()

    assert pool.cell_mean_probability is not None
    assert pool.cell_mean_probability.shape == (pool.n_cells, 3)
    assert pool.cell_mean_probability.dtype == np.float32
    for cell in range(pool.n_cells):
        of_items = [[rows[ids[row]][f"p_{c}"] for c in CLASSES] for row in pool.rows_of(cell)]
        mean = np.mean(of_items, axis=0)
        assert pool.cell_mean_probability[cell] == pytest.approx(mean, abs=1e-6)
    again = open_pool(pool.path, pool.file_sha256)
    assert np.array_equal(again.cell_mean_probability, pool.cell_mean_probability)


@pytest.mark.parametrize("metric", ["recall", "precision", "f1"])
def test_the_scores_of_a_positive_class_are_its_own_probabilities(folder, metric):
    pool = pool_of(folder, {"metric": metric, "positive": "dog"}, groups="region", strata=3)
    rows = {row["item_id"]: row for row in pq.read_table(folder / "p.parquet").to_pylist()}
    ids, shares = pool.item_ids.to_pylist(), []
    for row in range(pool.n_items):
        share = rows[ids[row]]["p_dog"]
        is_dog = pool.classes[int(pool.predicted[row])] == "dog"
        assert pool.score[row] == pytest.approx(share if is_dog else 1 - share, abs=1e-6)
        shares.append(share)
    assert pool.positive_share == pytest.approx(np.mean(shares))
    assert pool_of(folder, {}).positive_share is None


def test_other_metrics_and_pools_with_scores_only_keep_no_probabilities(folder):
    only_scores = {"probabilities": None, "predicted": "said", "score": "sure"}
    for pool in (
        pool_of(folder, {}),
        pool_of(folder, {"metric": "ece"}),
        pool_of(folder, {"metric": "confusion"}, prior={"kind": "uniform"}, **only_scores),
    ):
        assert pool.cell_mean_probability is None
        assert pool.costs is None


@given(n_classes=st.integers(2, 5), n=st.integers(1, 40), strata=st.integers(1, 3))
def test_mean_probabilities_are_the_same_from_a_list_column(tmp_path_factory, n_classes, n, strata):
    folder = tmp_path_factory.mktemp("lists")
    rows = np.random.default_rng(n).dirichlet([1.0] * n_classes, n)
    names = [f"c{k}" for k in range(n_classes)]
    table = {"item_id": [str(i) for i in range(n)], "probs": rows.tolist()}
    table |= {f"p_c{k}": rows[:, k].tolist() for k in range(n_classes)}
    pq.write_table(pa.table(table), folder / "p.parquet")
    parts = {"data": {"text": "item_id"}, "classes": names, "strata": strata}

    listed = pool_of(folder, {"metric": "confusion"}, probabilities="probs", **parts)
    apart = pool_of(
        folder, {"metric": "confusion"}, probabilities=[f"p_{name}" for name in names], **parts
    )

    assert listed.cell_mean_probability == pytest.approx(apart.cell_mean_probability)


def test_an_altered_table_of_probabilities_is_found_out(folder):
    pool = pool_of(folder, {"metric": "confusion"})
    assert pool.cell_mean_probability is not None
    first = pool.cell_mean_probability[0].tobytes()
    pool.path.write_bytes(pool.path.read_bytes().replace(first, bytes(12)))
    with pytest.raises(PoolChanged, match="damaged"):
        open_pool(pool.path)


def test_the_hash_follows_what_the_metric_keeps_and_not_what_the_task_is(folder):
    recall = {"metric": "recall", "positive": "dog"}
    pools = [
        pool_of(folder, {}, strata=1),
        pool_of(folder, {"metric": "ece"}),
        pool_of(folder, {"metric": "ece", "bins": 5}),
        pool_of(folder, {"metric": "confusion"}, strata=1),
        pool_of(folder, recall, groups="region"),
        pool_of(folder, recall | {"positive": "cat"}, groups="region"),
    ]
    assert len({pool.hash for pool in pools}) == len(pools)
    same = pool_of(folder, {"metric": "bias", "task": "identify"}, strata=1)
    assert same.hash == pools[0].hash


def test_a_pool_of_the_format_before_is_refused(folder):
    pool = pool_of(folder, {})
    with pa.ipc.open_file(pool.path) as reader:
        metadata, batch = dict(reader.schema.metadata), reader.get_batch(0)
    header = json.loads(metadata[b"assay_pool"]) | {"version": 1}
    batch = batch.replace_schema_metadata(metadata | {b"assay_pool": json.dumps(header).encode()})
    with pa.ipc.new_file(folder / "old.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(PoolChanged, match=r"format 1, but this release reads 2, 3 and 4; finish"):
        open_pool(folder / "old.arrow")
