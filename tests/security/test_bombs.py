"""Small files that unpack to more than memory takes are refused where they are read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from tests.compat.state import ASSETS
from worker.errors import PoolChanged, PredictionsError
from worker.pool import open_pool
from worker.pool.storing import OWN_COLUMNS, sha256_of
from worker.pool.tables import Wanted, column_names, pieces
from worker.pool.tables_columns import MOST_TEXT
from worker.pool.tables_folder import files_of
from worker.pool.tables_lines import LONGEST_JSON, LONGEST_LINE
from worker.service.context import Context
from worker.service.embedded import server
from worker.setup.exported import NotMovable
from worker.setup.moving import LARGEST, take_over
from worker.store.settings import Settings

TEXT = 1 << 20


@pytest.fixture(scope="module")
def zeros(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bombs") / "zeros.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(LONGEST_JSON // TEXT + 1):
            file.write(bytes(TEXT))
    assert path.stat().st_size < LONGEST_LINE // 10
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "txt"])
def test_a_line_without_an_end_is_not_read_to_it(zeros: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"predictions.{ending}.gz"
    path.symlink_to(zeros)
    with pytest.raises(PredictionsError, match="a line is longer than 64 MB"):
        column_names(path)


def test_json_without_an_end_is_not_read_to_it(zeros: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.json.gz"
    path.symlink_to(zeros)
    with pytest.raises(PredictionsError, match=r"more than 256 MB of JSON; write it as \.jsonl"):
        column_names(path)


def test_what_describes_a_folder_is_not_read_without_an_end(tmp_path: Path) -> None:
    with (tmp_path / "state.json").open("wb") as file:
        file.truncate(LONGEST_JSON + 1)  # a hole: it takes no room on the disk
    with pytest.raises(PredictionsError, match="more than 256 MB of JSON"):
        files_of(tmp_path)


def test_one_long_text_for_thousands_of_rows_is_not_written_out_for_each(tmp_path: Path) -> None:
    n = MOST_TEXT // TEXT + 1
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["x" * TEXT])
    table = pa.table({"item_id": [f"i{k}" for k in range(n)], "text": texts})
    path = tmp_path / "predictions.parquet"
    pa.parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < TEXT
    with pytest.raises(PredictionsError, match=r"column text holds 1,025 MB of text in 1,025 rows"):
        list(pieces(path, Wanted(("item_id", "text"))))


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    home = tmp_path_factory.mktemp("home")
    with server(home, None) as url:
        opened = Context(Settings(home, url, None), url)
        yield opened
        opened.close()


def assert_nothing_is_left(context: Context) -> None:
    assert context.state.dbsize() == 0
    assert not context.settings.pools.exists()


def test_a_file_larger_than_any_export_is_not_read(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with file.open("wb") as written:
        written.truncate(LARGEST + 1)  # a hole: it takes no room on the disk
    with pytest.raises(NotMovable, match=r"has 1\.0 GB, and an export has 1 GB at most"):
        take_over(context, file, None)
    assert_nothing_is_left(context)


@pytest.mark.parametrize(
    "content",
    ["[" * 200_000, '{"version": ' * 50_000, "9" * 5_000, '{"version": 2, "kept": {"\\ud800": 1}}'],
    ids=["lists in lists", "objects in objects", "a number of 5,000 digits", "half a character"],
)
def test_json_that_cannot_be_kept_is_no_export(
    context: Context, tmp_path: Path, content: str
) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(NotMovable, match="no JSON that can be kept"):
        take_over(context, tmp_path / "x.json", None)
    assert_nothing_is_left(context)


@pytest.mark.parametrize("by", ["zstd", "lz4"])
def test_a_compiled_pool_whose_rows_are_packed_is_refused_before_it_is_unpacked(
    tmp_path: Path, by: str
) -> None:
    """Each text is a megabyte of one letter."""
    with pa.OSFile(str(ASSETS / "state-v1" / "pool.arrow")) as source:
        rows = pa.ipc.open_file(source).read_all()
    at = len(OWN_COLUMNS)
    long = pa.array(["x" * TEXT] * len(rows), pa.large_string())
    bomb, path = rows.set_column(at, rows.schema.field(at), long), tmp_path / "pool.arrow"
    packed = pa.ipc.IpcWriteOptions(compression=by)
    with pa.ipc.new_file(str(path), rows.schema, options=packed) as writer:
        writer.write_table(bomb)
    assert path.stat().st_size < TEXT
    with pytest.raises(PoolChanged, match="its rows are packed"):
        open_pool(path, sha256_of(path))
