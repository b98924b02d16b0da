import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import PlanError, PoolChanged, PredictionsError
from worker.plan import Plan
from worker.pool import (
    Pool,
    check_question,
    check_source,
    compared_pairs,
    compile_pool,
    open_pool,
)

rows_of_items = st.lists(
    st.tuples(st.sampled_from(["cat", "dog", "cow"]), st.floats(0, 1), st.sampled_from("xyz")),
    min_size=1,
    max_size=60,
)
THREE_CLASSES = ["cat", "dog", "cow"]


def table_of(items: list[tuple[str, float, str]]) -> dict[str, list[Any]]:
    return {
        "item_id": [f"{i:03d}" for i in range(len(items))],
        "said": [said for said, _, _ in items],
        "sure": [sure for _, sure, _ in items],
        "letter": [letter for _, _, letter in items],
        "url": [f"http://pictures/{i}" for i in range(len(items))],
    }


def write_csv(path: Path, table: dict[str, list[Any]]) -> None:
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")


def plan_of(folder: Path, name: str = "a.csv", seed: int = 1, **parts: Any) -> Plan:
    pool = {
        "predictions": folder / name,
        "predicted": "said",
        "score": "sure",
        "classes": THREE_CLASSES,
        "data": {"image": "url"},
    }
    question = parts.pop("question", {"task": "identify"})
    return Plan.model_validate(
        {"assessment": "a", "seed": seed, "pool": pool | parts, "question": question}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    items = [
        (THREE_CLASSES[rng.integers(3)], rng.integers(1001) / 1000, "xyz"[rng.integers(3)])
        for _ in range(200)
    ]
    write_csv(tmp_path / "a.csv", table_of(items))
    return tmp_path


def ids_of(pool: Pool) -> list[str]:
    return [pool.item(row).item_id for row in range(pool.n_items)]


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


def test_a_compiled_pool_is_used_again(folder):
    first = compile_pool(plan_of(folder), folder / "pools")
    again = compile_pool(plan_of(folder), folder / "pools")

    assert again.stat == first.stat
    assert [path.name for path in (folder / "pools").iterdir()] == [first.path.name]


def test_a_damaged_compiled_pool_is_made_anew(folder):
    first = compile_pool(plan_of(folder), folder / "pools")
    whole = first.path.read_bytes()
    for damaged in (whole[:-50], whole.replace(b"http://pictures/7", b"http://pictures/9"), b""):
        first.path.write_bytes(damaged)
        assert compile_pool(plan_of(folder), folder / "pools").file_sha256 == first.file_sha256


@pytest.mark.parametrize("known", [True, False])
def test_a_truncated_or_altered_compiled_pool_is_refused(folder, known):
    pool = compile_pool(plan_of(folder), folder / "pools")
    whole = pool.path.read_bytes()
    sha256 = pool.file_sha256 if known else None
    altered = whole.replace(b"http://pictures/7", b"http://pictures/9")
    for damaged in (whole[: len(whole) // 2], altered, b"", b"nothing of the kind"):
        pool.path.write_bytes(damaged)
        with pytest.raises(PoolChanged, match="compile it again"):
            open_pool(pool.path, sha256)


def test_another_pool_in_the_place_of_the_old_one_is_refused(folder):
    one = compile_pool(plan_of(folder), folder / "pools")
    two = compile_pool(plan_of(folder, seed=2), folder / "pools")
    with pytest.raises(PoolChanged, match="not the one of this assessment"):
        open_pool(two.path, one.file_sha256)


def test_a_file_with_the_trusted_size_and_time_is_not_read_through_again(folder):
    pool = compile_pool(plan_of(folder), folder / "pools")
    stat = pool.path.stat()

    opened = open_pool(pool.path, "not even its hash", (stat.st_size, stat.st_mtime_ns))

    assert ids_of(opened) == ids_of(pool)
    with pytest.raises(PoolChanged):
        open_pool(pool.path, "not even its hash", (stat.st_size, stat.st_mtime_ns - 1))


def test_a_compiled_pool_that_is_gone_is_told(folder):
    pool = compile_pool(plan_of(folder), folder / "pools")
    pool.path.unlink()
    with pytest.raises(PoolChanged, match="is gone"):
        open_pool(pool.path, pool.file_sha256, pool.stat)


def test_a_pool_of_a_later_format_is_refused(folder):
    pool = compile_pool(plan_of(folder), folder / "pools")
    with pa.ipc.open_file(pool.path) as reader:
        metadata, batch = dict(reader.schema.metadata), reader.get_batch(0)
    header = json.loads(metadata[b"assay_pool"]) | {"version": 99}
    metadata[b"assay_pool"] = json.dumps(header).encode()
    batch = batch.replace_schema_metadata(metadata)
    later = folder / "later.arrow"
    with pa.ipc.new_file(later, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(PoolChanged, match="format 99"):
        open_pool(later)


def test_changed_predictions_under_a_running_assessment_are_refused(folder):
    plan = plan_of(folder)
    pool = compile_pool(plan, folder / "pools")
    check_source(pool, plan)

    text = (folder / "a.csv").read_text()
    (folder / "a.csv").write_text(text.replace("cat", "dog", 1))
    with pytest.raises(PoolChanged, match="the predictions file changed since the assessment"):
        check_source(pool, plan)
    (folder / "a.csv").unlink()
    with pytest.raises(PoolChanged, match=r"no such file.*another id"):
        check_source(pool, plan)


def test_a_changed_superclass_map_or_plan_of_the_pool_is_refused(folder):
    (folder / "map.csv").write_text("class,superclass\ncat,home\ndog,home\ncow,farm\n")
    plan = plan_of(folder, groups=f"superclass({folder / 'map.csv'})")
    pool = compile_pool(plan, folder / "pools")
    check_source(pool, plan)

    for other in (plan_of(folder), plan_of(folder, groups=plan.pool.groups, seed=9)):
        with pytest.raises(PoolChanged, match="`pool` or `seed` changed"):
            check_source(pool, other)
    (folder / "map.csv").write_text("class,superclass\ncat,home\ndog,farm\ncow,farm\n")
    with pytest.raises(PoolChanged, match="the superclass map changed"):
        check_source(pool, plan)


@pytest.mark.parametrize("name", ["none.csv", "."])
def test_predictions_that_are_not_there_are_refused(tmp_path, name):
    with pytest.raises(PredictionsError, match="the plan names it"):
        compile_pool(plan_of(tmp_path, name), tmp_path / "pools")


def test_bad_predictions_leave_no_compiled_file_behind(folder):
    with (folder / "a.csv").open("a") as file:
        file.write("late,cat,2,x,http://late\n")
    with pytest.raises(PredictionsError, match="in row 201"):
        compile_pool(plan_of(folder), folder / "pools")
    assert not list(folder.glob("pools/*"))


def test_top_must_leave_a_group_with_items_out(folder):
    for top, is_right in ((2, True), (3, False), (4, False)):
        plan = plan_of(
            folder, classes=["ant", *THREE_CLASSES], question={"task": "identify", "top": top}
        )
        pool = compile_pool(plan, folder / "pools")
        if is_right:
            check_question(plan, pool)
        else:
            with pytest.raises(PlanError, match=r"less than the 3 groups.*without items: ant"):
                check_question(plan, pool)


@pytest.mark.parametrize(
    ("question", "is_right"),
    [
        ({"task": "identify"}, False),
        ({"task": "compare", "compare": "all"}, False),
        ({"task": "estimate"}, True),
    ],
)
def test_only_an_estimate_can_do_with_one_group(tmp_path, question, is_right):
    write_csv(tmp_path / "a.csv", table_of([("cat", 0.5, "x"), ("cat", 0.6, "x")]))
    plan = plan_of(tmp_path, question=question)
    pool = compile_pool(plan, tmp_path / "pools")
    if is_right:
        check_question(plan, pool)
    else:
        with pytest.raises(PlanError, match=r"1 group has items \(without items: dog, cow\)"):
            check_question(plan, pool)


def test_groups_to_compare_must_be_known_and_the_nearest_is_named_first(folder):
    plan = plan_of(
        folder,
        classes=["ant", *THREE_CLASSES],
        question={"task": "compare", "compare": [["cow", "dgo"], ["cow", "ant"]]},
    )
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PlanError) as caught:
        check_question(plan, pool)
    assert caught.value.problems[0].endswith("'dgo' is not known; the groups are dog, cow, cat")
    assert "'ant' has no items" in caught.value.problems[1]


def test_pairs_are_given_by_the_index_of_their_groups_and_all_means_those_with_items(folder):
    classes = ["ant", *THREE_CLASSES]
    listed = plan_of(
        folder, classes=classes, question={"task": "compare", "compare": ["cow", "cat"]}
    )
    every = plan_of(folder, classes=classes, question={"task": "compare", "compare": "all"})
    pool = compile_pool(listed, folder / "pools")

    assert compared_pairs(listed, pool) == ((3, 1),)
    assert compared_pairs(every, pool) == ((1, 2), (1, 3), (2, 3))
    assert compared_pairs(plan_of(folder, classes=classes), pool) == ()
