"""Small files that unpack to more than memory takes are refused where they are read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from worker.errors import PredictionsError
from worker.pool.tables import Wanted, column_names, pieces
from worker.pool.tables_columns import MOST_TEXT
from worker.pool.tables_folder import files_of
from worker.pool.tables_lines import LONGEST_JSON, LONGEST_LINE

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
