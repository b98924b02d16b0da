"""The compiled file and what it was made of: used again, made anew, or refused once changed."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.worker.pool.csv_pool import ids_of, plan_of, write_animals
from worker.errors import PoolChanged, PredictionsError
from worker.pool import check_source, compile_pool, open_pool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_animals(tmp_path)


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
