"""What large pools are made with: numbers in parts, texts on disk, hashes of ids, progress."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.small_blocks import in_small
from worker.errors import PredictionsError
from worker.pool.checks import check_ids, id_hashes
from worker.pool.faults import Faults
from worker.pool.ordering import counted, dense, moved, places, summed
from worker.pool.progress import Progress
from worker.pool.texts import LostTexts, NoRoom, Texts, in_order, room_told


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

    faults = Faults(tmp_path)
    check_ids(faults, "id", lambda: ids, 5, weak)
    faults.refuse()
    ids.append(pa.array(["acb", "bac"], pa.large_string()))
    check_ids(faults, "id", lambda: ids, 7, weak)
    with pytest.raises(PredictionsError, match=r"\(first: 'acb', as in row 2\) in row 6$"):
        faults.refuse()


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
