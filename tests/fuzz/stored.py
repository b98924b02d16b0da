"""Targets for what is kept: exports, as `assay import` reads them, and compiled pools."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from tests.compat.state import ASSETS
from tests.fuzz.targets import is_told
from worker.errors import AssayError
from worker.exported import check_items, read_export
from worker.judgements.records import load
from worker.pool import open_pool
from worker.pool.storing import HEADER_KEY, sha256_of

POOL = ASSETS / "state-v1" / "pool.arrow"


def export(data: bytes) -> None:
    """An export: refused in a sentence, or what a release of ours could have written."""
    try:
        exported = json.loads(data)
    except (ValueError, RecursionError):
        return  # `take_over` says so
    try:
        header, kept = read_export(copy.deepcopy(exported))
        check_items(kept, open_pool(POOL))
    except AssayError as error:
        is_told(error)
        return
    assert kept["meta"]["content"]["status"] != "running"
    assert header.assessment.isprintable()
    for item, text in kept.get("items", {"content": {}})["content"].items():
        assert load(text).item == item


def pool(data: bytes) -> None:
    """The header of a compiled pool, in the file of a sound one: opened whole, or refused."""
    with pa.OSFile(str(POOL)) as source, pa.ipc.open_file(source) as reader:
        rows = reader.read_all()
    told = {**rows.schema.metadata, HEADER_KEY: data}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.arrow"
        schema = rows.schema.with_metadata(told)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(rows.replace_schema_metadata(told))
        try:
            opened = open_pool(path, sha256_of(path))
        except AssayError as error:
            is_told(error)
            return
        for row in range(opened.n_items):
            item = opened.item(row)
            assert item.group < len(opened.group_names)
            assert row in opened.rows_of(item.cell)


def good_export() -> Any:
    """What this release reads."""
    return json.loads((ASSETS / "state-v1" / "export.json").read_text(encoding="utf-8"))


def good_header() -> Any:
    """The header of a sound pool."""
    with pa.OSFile(str(POOL)) as source, pa.ipc.open_file(source) as reader:
        return json.loads(reader.schema.metadata[HEADER_KEY])
