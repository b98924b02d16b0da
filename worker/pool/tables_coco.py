"""Reads COCO results: a JSON list of objects with `image_id`, `category_id` and `score`."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from worker.errors import PredictionsError
from worker.pool.tables_jsonl import piece_of, row_of, table_of
from worker.pool.tables_lines import read_whole

IMAGE = "image_id"
_ROWS_PER_PIECE = 20_000


def coco_columns(path: Path) -> list[str]:
    """Return the keys of the results, in their order.

    Raises:
        PredictionsError: it is no list of results, or an image has more than one.
    """
    return list(dict.fromkeys(key for row in _rows(path) for key in row))


def coco_first_rows(path: Path, most: int) -> pa.Table:
    """Return at most `most` first results; a column of mixed kinds becomes text."""
    return table_of(_rows(path)[:most])


def coco_pieces(
    path: Path, texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield pieces with text columns (string), number columns (float64) and the list column."""
    rows = _rows(path)
    for start in range(0, len(rows), _ROWS_PER_PIECE):
        some = rows[start : start + _ROWS_PER_PIECE]
        yield piece_of(some, texts, numbers, numbers_list, start)


def _rows(path: Path) -> list[dict[str, Any]]:
    stat = path.stat()
    return _read(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=1)  # its columns are asked for before its rows are
def _read(path: Path, size: int, time_ns: int) -> list[dict[str, Any]]:
    content = read_whole(path)
    if not content.strip():
        raise PredictionsError("the file is empty")
    try:
        results = json.loads(content)
    except UnicodeDecodeError:
        raise PredictionsError("it is not UTF-8; save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise PredictionsError(f"it is not JSON ({error}); is it complete?") from None
    if not isinstance(results, list):
        told = (
            "an object (COCO's annotations, perhaps?)" if isinstance(results, dict) else "a value"
        )
        raise PredictionsError(
            f"came {told}, expected COCO results: a list of objects with image_id, category_id and "
            "score"
        )
    rows = [row_of(result, number) for number, result in enumerate(results, start=1)]
    images = Counter(str(row[IMAGE]) for row in rows if IMAGE in row)
    several = [(image, n) for image, n in images.items() if n > 1]
    if several:
        image, n = several[0]
        raise PredictionsError(
            f"the image {image} has {n} results ({len(several):,} images have more than one), "
            "expected one result an image: what is assessed is one class of each. Keep each "
            "image's result with the highest score, or cut the boxes out and give each an image"
        )
    return rows
