"""Small files of predictions of every kind, and plans that name their columns."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from worker.plan.pool_part import PoolPlan
from worker.pool.predictions import Predictions, read_predictions
from worker.pool.texts import Texts

ROWS: list[dict[str, Any]] = [
    {"item_id": "007", "p_cat": 0.5, "p_dog": 0.5, "text": "a\nb", "colour": "red"},
    {"item_id": "08", "p_cat": 0.25, "p_dog": 0.75, "text": 'say "hi", é', "colour": "blue"},
    {"item_id": "9", "p_cat": 1.0, "p_dog": 0.0, "text": "2011-02-03", "colour": "red"},
]
SAID = ("item_id,said,sure,text", "1,cat,0.5,a", "2,dog,1,b", "3,cat,0.25,c")


def plan_of(path: Path, **parts: Any) -> PoolPlan:
    columns = {"probabilities": ["p_cat", "p_dog"]}
    return PoolPlan(predictions=path, **{"data": {"text": "text"}} | columns | parts)


def plan_of_said(path: Path, **parts: Any) -> PoolPlan:
    return plan_of(path, probabilities=None, predicted="said", score="sure", **parts)


def read(plan: PoolPlan) -> Predictions:
    return read_predictions(plan, Texts())


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the form that the ending asks for."""
    if ".parquet" in path.name:
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if ".jsonl" in path.name or ".ndjson" in path.name:
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    else:
        mark = "\t" if ".tsv" in path.name else ","
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        text = "\n".join(mark.join(_cell(value) for value in line) for line in lines)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if isinstance(value, str | list) else text


def csv_of(folder: Path, *lines: str) -> Path:
    path = folder / "predictions.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
