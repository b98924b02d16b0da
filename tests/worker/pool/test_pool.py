"""What is compiled of predictions: cells, groups, an order, and a hash that follows them."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.csv_pool import (
    THREE_CLASSES,
    ids_of,
    plan_of,
    table_of,
    write_animals,
    write_csv,
)
from worker.pool import compile_pool

rows_of_items = st.lists(
    st.tuples(st.sampled_from(["cat", "dog", "cow"]), st.floats(0, 1), st.sampled_from("xyz")),
    min_size=1,
    max_size=60,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_animals(tmp_path)


@given(rows_of_items, st.integers(1, 5), st.sampled_from(["letter", "predicted_class"]))
def test_every_item_lies_in_exactly_one_cell_of_its_own_group(items, n_strata, groups):
    with TemporaryDirectory() as name:
        folder = Path(name)
        table = table_of(items)
        write_csv(folder / "a.csv", table)
        pool = compile_pool(plan_of(folder, groups=groups, strata=n_strata), folder / "pools")

        rows = [row for cell in range(pool.n_cells) for row in pool.rows_of(cell)]
        found = [pool.item(row) for row in rows]

    assert rows == list(range(pool.n_items))
    assert sorted(item.item_id for item in found) == table["item_id"]
    assert pool.cell_size.sum() == pool.group_size.sum() == len(items)
    assert (pool.cell_size > 0).all()
    assert (np.diff(pool.cell_group) >= 0).all()
    for item in found:
        at = int(item.item_id)
        assert item.row in pool.rows_of(item.cell)
        assert pool.group_names[item.group] == table["letter" if groups == "letter" else "said"][at]
        assert pool.classes[item.predicted] == table["said"][at]
        assert item.data == {"image": table["url"][at]}
    for cell in range(pool.n_cells):
        scores = [table["sure"][int(item.item_id)] for item in found if item.cell == cell]
        assert pool.cell_mean_score[cell] == pytest.approx(np.mean(scores), abs=1e-6)


def test_the_same_seed_gives_the_same_order_and_another_seed_another(folder):
    first = ids_of(compile_pool(plan_of(folder), folder / "one"))
    again = ids_of(compile_pool(plan_of(folder), folder / "two"))
    other = ids_of(compile_pool(plan_of(folder, seed=2), folder / "one"))

    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)
    assert first != sorted(first)


def test_the_same_inputs_give_the_same_bytes_wherever_they_stand(folder):
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "a.csv").write_bytes((folder / "a.csv").read_bytes())

    one = compile_pool(plan_of(folder, strata=3), folder / "one")
    two = compile_pool(plan_of(folder / "elsewhere", strata=3), folder / "two")

    assert one.path.name == two.path.name == f"{one.hash}.arrow"
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.file_sha256 == two.file_sha256


def test_the_hash_of_a_pool_follows_the_file_the_plan_of_the_pool_and_the_seed(folder):
    (folder / "map.csv").write_text("class,superclass\ncat,home\ndog,home\ncow,farm\n")
    by_map = plan_of(folder, groups="superclass(" + str(folder / "map.csv") + ")")
    pools = [
        compile_pool(plan, folder / "pools")
        for plan in (
            plan_of(folder),
            plan_of(folder, seed=2),
            plan_of(folder, strata=2),
            plan_of(folder, groups="letter"),
            by_map,
        )
    ]
    (folder / "map.csv").write_text("class,superclass\ncat,home\ndog,farm\ncow,farm\n")
    pools.append(compile_pool(by_map, folder / "pools"))
    with (folder / "a.csv").open("a") as file:
        file.write("late,cat,0.5,x,http://late\n")
    pools.append(compile_pool(plan_of(folder), folder / "pools"))

    assert len({pool.hash for pool in pools}) == len(pools)
    other = plan_of(folder, question={"task": "estimate"})
    assert compile_pool(other, folder / "pools").hash == pools[-1].hash


def test_csv_json_and_parquet_of_the_same_data_give_the_same_pool(folder):
    lines = [line.split(",") for line in (folder / "a.csv").read_text().splitlines()]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    values = [row | {"sure": float(row["sure"])} for row in rows]
    (folder / "a.jsonl").write_text("\n".join(json.dumps(row) for row in values))
    pq.write_table(pa.Table.from_pylist(values), folder / "a.parquet")

    pools = [
        compile_pool(
            plan_of(folder, f"a.{ending}", groups=["predicted_class", "score_bin(4)"], strata=2),
            folder / "pools",
        )
        for ending in ("csv", "jsonl", "parquet")
    ]
    contents = [
        (
            [pool.item(row) for row in range(pool.n_items)],
            pool.group_names,
            pool.cell_group.tolist(),
            pool.cell_mean_score.tolist(),
        )
        for pool in pools
    ]
    assert contents[0] == contents[1] == contents[2]


def test_leading_zeros_of_ids_are_kept(folder):
    pool = compile_pool(plan_of(folder), folder / "pools")
    assert "007" in ids_of(pool)
    assert pool.item(pool.find(["007"])["007"]).item_id == "007"


def test_only_ids_that_are_in_the_pool_are_found(folder):
    pool = compile_pool(plan_of(folder), folder / "pools")
    found = pool.find(["000", "nobody", "199"])

    assert set(found) == {"000", "199"}
    assert [pool.item(row).item_id for row in found.values()] == list(found)
    assert pool.find([]) == {}


@pytest.mark.parametrize("row", [-1, 200])
def test_a_row_that_is_not_there_is_an_error(folder, row):
    with pytest.raises(IndexError, match="rows 0 to 199"):
        compile_pool(plan_of(folder), folder / "pools").item(row)


def test_groups_without_items_are_reported_and_have_no_cell(folder):
    pool = compile_pool(plan_of(folder, classes=["ant", *THREE_CLASSES]), folder / "pools")

    assert pool.empty_groups() == ("ant",)
    assert pool.group_size[0] == 0
    assert set(pool.cell_group.tolist()) == {1, 2, 3}


def test_annotators_keys_may_be_called_like_our_own_columns(folder):
    keys = {"score": "url", "cell": "url", "predicted": "url"}
    pool = compile_pool(plan_of(folder, data=keys), folder / "pools")
    item = pool.item(0)
    assert item.data == dict.fromkeys(keys, f"http://pictures/{int(item.item_id)}")
