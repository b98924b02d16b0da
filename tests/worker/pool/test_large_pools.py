"""Pools of more items than fit into memory, made small: a few rows a block, all texts on disk."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.errors import PoolChanged, PredictionsError
from worker.plan import Plan
from worker.pool import Pool, check_source, compile_pool, open_pool, ordering, texts
from worker.pool.checks import check_ids, id_hashes
from worker.pool.ordering import counted, dense, moved, places, summed
from worker.pool.progress import Progress
from worker.pool.storing import write_again
from worker.pool.texts import LostTexts, NoRoom, Texts, in_order, room_told

CLASSES = ["cat", "dog", "cow"]


@contextmanager
def in_small(rows: int = 7, part: int = 5) -> Iterator[None]:
    """Every pool is a large one: blocks of few rows, numbers in short parts, texts on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "ROWS_PER_BLOCK", rows)
        patch.setattr(texts, "MOST_IN_MEMORY", 1 << 20)
        patch.setattr(texts, "_ROWS_AT_ONCE", 2 * rows)
        patch.setattr(ordering, "_PART", part)
        yield


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


@given(st.lists(st.integers(0, 5), min_size=1, max_size=80), st.integers(0, 99), st.integers(1, 9))
def test_places_are_a_stable_sort_of_the_permuted_items_by_their_cells(codes, seed, part):
    _, cell = np.unique(codes, return_inverse=True)
    cell = cell.astype(np.int32)
    shuffled = np.random.default_rng([seed, 0]).permutation(cell.size)
    order = shuffled[np.argsort(cell[shuffled], kind="stable")]

    with in_small(part=part):
        place = places(cell, np.bincount(cell), seed)
        there = moved(np.arange(cell.size), place, np.int64)

    assert there.tolist() == order.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.floats(-1, 1)), min_size=1, max_size=60),
    st.integers(1, 9),
)
def test_numbers_in_parts_come_to_the_same_bit_by_bit(items, part):
    code = np.array([10**12 * k for k, _ in items])
    weight = np.array([w for _, w in items])
    with in_small(part=part):
        present, which = dense(code.size, lambda some: code[some])
        counts = counted(which, present.size + 1)
        sums = summed(which, lambda some: weight[some], present.size + 1)

    expected, codes = np.unique(code, return_inverse=True)
    assert present.tolist() == expected.tolist()
    assert which.tolist() == codes.tolist()
    assert counts.tolist() == [*np.bincount(codes), 0]
    assert sums.tobytes() == np.bincount(codes, weight, present.size + 1).tobytes()


def test_texts_beyond_what_may_be_in_memory_are_read_again_as_often_as_asked(tmp_path):
    with in_small():
        kept = Texts(tmp_path)
        pieces = [pa.record_batch({"item_id": [f"{i}" * 300_000]}) for i in range(8)]
        for piece in pieces:
            kept.add(piece)
            assert next(iter(kept)) == pieces[0]  # to look at them is no end of adding

    assert list(kept) == list(kept) == pieces
    assert not list(tmp_path.iterdir())  # its file has no name: nothing is left when it ends
    kept.close()


def test_a_temporary_file_that_was_cut_off_is_told(tmp_path):
    kept = Texts(tmp_path)
    with in_small():
        for i in range(4):
            kept.add(pa.record_batch({"item_id": [f"{i}" * 600_000]}))
    assert kept._spill is not None
    file = kept._spill._file
    for size in (1_300_000, 100, 0):
        file.truncate(size)
        with pytest.raises(LostTexts, match=r"cut off.*try again"):
            list(kept)
    kept.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_told_with_its_folder_and_what_to_do(tmp_path):
    with (
        pytest.raises(NoRoom, match=r"No space left.*ASSAY_HOME"),
        room_told(tmp_path),
        open("/dev/full", "wb", buffering=0) as file,
    ):
        file.write(b"x")
    with pytest.raises(PermissionError), room_told(tmp_path):
        raise PermissionError(13, "not that")


_LIMITED = """
import resource, sys
from pathlib import Path
from tests.worker.pool.test_large_pools import in_small, plan_of
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


@given(st.lists(st.text(max_size=8), min_size=1, max_size=30), st.integers(0, 29))
def test_equal_ids_have_equal_hashes_wherever_they_stand(ids, start):
    array = pa.array(ids, pa.large_string())
    hashes = id_hashes(array)

    assert id_hashes(array.slice(start)).tolist() == hashes[start:].tolist()
    assert len(set(hashes.tolist())) == len(set(ids))


def test_ids_of_one_hash_are_compared_themselves(tmp_path):
    weak = np.ones(20, dtype=np.uint64)  # letters in another order have the same sum
    ids = [pa.array(some, pa.large_string()) for some in (["abc", "acb"], ["x", "bca", "cab"])]
    assert len(set(id_hashes(ids[0], weak).tolist())) == 1

    check_ids(tmp_path, "id", lambda: ids, 5, weak)
    ids.append(pa.array(["acb", "bac"], pa.large_string()))
    with pytest.raises(PredictionsError, match=r"\(first: 'acb'\) in rows 2, 6$"):
        check_ids(tmp_path, "id", lambda: ids, 7, weak)


def test_blocks_come_in_order_whatever_the_pieces_were(tmp_path):
    place = np.random.default_rng(2).permutation(50).astype(np.int32)
    with in_small():
        for n_blocks in (1, 4, 50):
            kept = Texts(tmp_path)
            for start, end in pairwise([0, 1, 20, 43, 50]):
                kept.add(pa.record_batch({"item_id": [f"{i}" for i in range(start, end)]}))
            found = list(in_order(kept, place, n_blocks, tmp_path))
            ids = [text for _, rows in found for text in rows.column(0).to_pylist()]
            assert ids == [str(i) for i in np.argsort(place)]
            assert [there.start for there, _ in found] == [0, *[t.stop for t, _ in found][:-1]]


def test_progress_is_told_only_of_what_takes_long():
    now, told = [0.0], list[str]()
    progress = Progress(told.append, lambda: now[0])
    for now[0] in (0.5, 1.9, 2.1, 3.0, 7.0, 7.2, 8.0, 13.0):
        progress.at(f"{now[0]} s")
    assert told == ["2.1 s ...", "7.2 s ...", "13.0 s ..."]
    Progress(None).at("nobody listens")
