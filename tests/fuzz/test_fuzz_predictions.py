"""Whatever stands in a predictions file: it becomes a sound pool, or the mistake is told."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.amount import IS_SHORT
from tests.fuzz.mutations import anything, mutated
from tests.fuzz.targets import ENDINGS, bounded, predictions
from worker.errors import AssayError, PredictionsError
from worker.plan import Plan
from worker.pool import compile_pool
from worker.pool.tables import Wanted, column_names, pieces

N = 150 if IS_SHORT else 800
SEEDS = sorted((Path(__file__).parent / "seeds" / "predictions").iterdir())
ROWS = [json.loads(line) for line in (SEEDS[0].parent / "jsonl-0").read_bytes()[1:].splitlines()]
QUICK = settings(max_examples=N, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with bytes replaced, cut out, put in, or doubled."""
    data = bytearray(draw(st.sampled_from(SEEDS)).read_bytes()[:8_000])
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        end = at + draw(st.integers(0, 40))
        how = draw(st.sampled_from(["put in", "replace", "cut out", "double", "cut off"]))
        if how == "put in":
            data[at:at] = draw(st.binary(max_size=4))
        elif how == "replace":
            data[at : at + 2] = draw(st.binary(min_size=1, max_size=2))
        elif how == "cut out":
            del data[at:end]
        elif how == "double":
            data[at:at] = data[at:end]
        else:
            del data[max(at, 1) :]
    return bytes(data)


@QUICK
@given(data=damaged())
def test_a_damaged_file_becomes_a_sound_pool_or_the_mistake_is_told(data: bytes) -> None:
    with bounded():
        predictions(data)


@QUICK
@given(rows=mutated(ROWS), kind=st.sampled_from(["jsonl", "jsonl.gz"]), variant=st.integers(0, 6))
def test_json_lines_with_odd_values_are_items_or_told(rows: Any, kind: str, variant: int) -> None:
    head = bytes([ENDINGS.index(kind) + len(ENDINGS) * variant])
    with bounded():
        predictions(head + b"\n".join(json.dumps(row).encode() for row in rows))


@QUICK
@given(values=st.lists(st.lists(anything, min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_csv_of_anything_is_read_or_told(values: Any) -> None:
    head = bytes([ENDINGS.index("csv") + len(ENDINGS) * 4])
    lines = [",".join(str(value) for value in row) for row in values]
    body = "\n".join(["item_id,text,predicted", *lines])
    with bounded():
        predictions(head + body.encode("utf-8", "surrogatepass"))


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    plan = Plan.model_validate(
        {
            "assessment": "a",
            "pool": {
                "predictions": str(tmp_path / ("x" * 400 + ".csv")),
                "predicted": "y",
                "data": {"t": "t"},
            },
            "question": {"task": "estimate"},
            "prior": {"kind": "uniform"},
        }
    )

    with pytest.raises(PredictionsError, match="cannot be read"):
        compile_pool(plan, tmp_path)


@QUICK
@given(at=st.integers(0, 10_000), put=st.binary(min_size=1, max_size=8))
def test_a_damaged_workbook_is_read_or_told(at: int, put: bytes) -> None:
    book = openpyxl.Workbook()
    for row in (["item_id", "text", "said"], ["1", "a", "cat"], ["2", "b", "dog"]):
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    whole = content.getvalue()
    at %= len(whole)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.xlsx"
        path.write_bytes(whole[:at] + put + whole[at + len(put) :])
        with suppress(AssayError):
            assert column_names(path)
            assert sum(piece.num_rows for piece in pieces(path, Wanted(("item_id",)))) > 0
