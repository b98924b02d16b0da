"""Pools of more items than fit into memory, made small: the same items, or refused once damaged."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worker.pool.small_blocks import in_small
from worker.errors import PoolChanged
from worker.plan import Plan
from worker.pool import Pool, check_source, compile_pool, open_pool
from worker.pool.storing import write_again

CLASSES = ["cat", "dog", "cow"]


def write_csv(folder: Path, n: int, seed: int = 5) -> None:
    rng = np.random.default_rng(seed)
    lines = ["item_id,said,sure,letter,url"]
    for i in range(n):
        said, sure = CLASSES[rng.integers(3)], rng.integers(1001) / 1000
        lines.append(f"é{i:03d},{said},{sure},{'xyz'[rng.integers(3)]},http://pictures/{i}")
    (folder / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def plan_of(folder: Path, **parts: Any) -> Plan:
    pool = {
        "predictions": folder / "a.csv",
        "predicted": "said",
        "score": "sure",
        "classes": CLASSES,
        "data": {"image": "url", "name": "item_id"},
    }
    return Plan.model_validate(
        {"assessment": "a", "pool": pool | parts, "question": {"task": "identify"}}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_csv(tmp_path, 100)
    return tmp_path


def in_blocks(folder: Path, **parts: Any) -> Pool:
    with in_small():
        return compile_pool(plan_of(folder, **parts), folder / "blocks")


def version_of(pool: Pool) -> int:
    with pa.ipc.open_file(pool.path) as reader:
        return int(json.loads(reader.schema.metadata[b"assay_pool"])["version"])


@settings(max_examples=25)
@given(
    st.integers(1, 90), st.integers(1, 12), st.integers(1, 9), st.integers(1, 4),
    st.sampled_from(["letter", "predicted_class", ("letter", "predicted_class")]),
)  # fmt: skip
def test_a_pool_in_blocks_has_the_same_items_in_the_same_rows(n, rows, part, strata, groups):
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_csv(folder, n)
        plan = plan_of(folder, strata=strata, groups=groups)
        whole = compile_pool(plan, folder / "whole")
        with in_small(rows, part):
            blocks = compile_pool(plan, folder / "blocks")

        assert whole.hash == blocks.hash
        assert (version_of(whole), version_of(blocks)) == (2, 2 if n <= rows else 3)
        for row in range(n):
            assert whole.item(row) == blocks.item(row)
        for one in ("cell_start", "cell_size", "cell_group", "group_size", "predicted", "score"):
            assert np.array_equal(getattr(whole, one), getattr(blocks, one))
        assert whole.cell_mean_score == pytest.approx(blocks.cell_mean_score, abs=0)
        assert whole.cell_mean_logit == pytest.approx(blocks.cell_mean_logit, abs=0)
        ids = whole.item_ids.to_pylist()
        assert blocks.item_ids.to_pylist() == ids
        assert blocks.find([*ids[::3], "nobody"]) == whole.find(ids[::3])
        with pytest.raises(IndexError):
            blocks.item(n)


def test_all_probabilities_of_a_large_pool_stand_beside_its_items(tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.dirichlet([1, 1], 40)
    lines = ["item_id,p_a,p_b,text", *(f"i{i},{a},{b},t{i}" for i, (a, b) in enumerate(rows))]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    plan = Plan.model_validate(
        {
            "assessment": "a",
            "pool": {
                "predictions": tmp_path / "a.csv",
                "probabilities": ["p_a", "p_b"],
                "data": {"text": "text"},
            },
            "question": {"task": "evaluate"},
            "annotation": {"per_item": 3},
            "evaluate": {},
        }
    )
    with in_small():
        pool = compile_pool(plan, tmp_path / "pools")

    found = [int(pool.item(row).item_id[1:]) for row in range(40)]
    assert pool.probability == pytest.approx(rows[found], abs=1e-6)


_LIMITED = """
import resource, sys
from pathlib import Path
from tests.worker.pool.small_blocks import in_small
from tests.worker.pool.test_large_pools import plan_of
from worker.pool import compile_pool
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
folder = Path(sys.argv[1])
with in_small():
    compile_pool(plan_of(folder), folder / "pools")
"""


def test_a_compilation_that_runs_out_of_disk_leaves_nothing_behind(folder):
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(folder), "2000"],
        capture_output=True, text=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip

    assert "NoRoom" in done.stderr
    assert "nothing was kept" in done.stderr
    assert not list((folder / "pools").iterdir())


@pytest.mark.parametrize("known", [True, False])
def test_a_large_pool_that_was_cut_off_or_altered_is_refused(folder, known):
    pool = in_blocks(folder)
    whole = pool.path.read_bytes()
    sha256 = pool.file_sha256 if known else None
    assert open_pool(pool.path, sha256).n_items == 100
    for place in (b"http://pictures/7", b"http://pictures/99"):
        altered = whole.replace(place, b"http://picturez" + place[15:])
        assert altered != whole
        for damaged in (whole[: len(whole) // 2], altered, b""):
            pool.path.write_bytes(damaged)
            with pytest.raises(PoolChanged, match="compile it again"):
                open_pool(pool.path, sha256)


def test_a_large_pool_without_one_of_its_blocks_is_refused(folder):
    pool = in_blocks(folder)
    with pa.ipc.open_file(pool.path) as reader:
        schema, first = reader.schema, reader.get_batch_with_custom_metadata(0)
    with pa.ipc.new_file(pool.path, schema) as writer:
        writer.write_batch(first.batch, custom_metadata=first.custom_metadata)
    with pytest.raises(PoolChanged, match="damaged"):
        open_pool(pool.path)


def test_a_large_pool_is_known_again_and_follows_its_source(folder):
    pool = in_blocks(folder)
    assert in_blocks(folder).file_sha256 == pool.file_sha256
    assert open_pool(pool.path).file_sha256 == pool.file_sha256
    check_source(pool, plan_of(folder))

    write_csv(folder, 100, seed=6)
    with pytest.raises(PoolChanged, match="the predictions file changed"):
        check_source(pool, plan_of(folder))


def test_a_pool_written_again_with_more_in_its_header_keeps_its_rows(folder):
    for pool in (in_blocks(folder), compile_pool(plan_of(folder), folder / "whole")):
        again = folder / "again.arrow"
        write_again(pool.path, again, {"more": [1]})
        opened = open_pool(again)
        assert [opened.item(row) for row in range(100)] == [pool.item(row) for row in range(100)]
        assert version_of(opened) == version_of(pool)
