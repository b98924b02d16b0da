"""Targets for what is kept: exports, headers of compiled pools, and the keys on the server."""

from __future__ import annotations

import atexit
import copy
import json
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from tests.compat.state import ASSETS
from tests.fuzz.bounds import is_told
from worker.errors import AssayError
from worker.pool import open_pool
from worker.pool.storing import HEADER_KEY, sha256_of
from worker.report.status import status_of
from worker.service.context import INDEX, Context
from worker.service.embedded import server
from worker.setup.exported import check_items, read_export
from worker.setup.moving import take_over
from worker.store.records import load
from worker.store.settings import Settings
from worker.store.valkey import keys_of
from worker.watcher import look_around
from worker.web.status_cache import StatusCache

EXPORT, POOL = (ASSETS / "state-v1" / name for name in ("export.json", "pool.arrow"))


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


def header(data: bytes) -> None:
    """The header of a compiled pool, in the file of a sound one: opened whole, or refused."""
    rows = _rows()
    told = {**rows.schema.metadata, HEADER_KEY: data}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.arrow"
        with pa.ipc.new_file(str(path), rows.schema.with_metadata(told)) as writer:
            writer.write_table(rows.replace_schema_metadata(told))
        try:
            opened = open_pool(path, sha256_of(path))
        except AssayError as error:
            is_told(error)
            return
        for row in range(opened.n_items):
            item = opened.item(row)
            assert 0 <= item.group < len(opened.group_names)
            assert 0 <= item.predicted < len(opened.classes)
            assert row in opened.rows_of(item.cell)
        for told in opened.opinions:
            assert told.x.shape == (len(told.terms), opened.n_cells)
            assert 0 <= told.n_missing <= opened.n_items
        if opened.group_levels is not None:
            n_groups = len(opened.group_names)
            assert opened.group_levels.shape[1] == n_groups
            assert 0 <= opened.group_levels.min() <= opened.group_levels.max() < n_groups


def state(data: bytes) -> None:
    """The keys of one assessment beside those of a sound one: read, or said to be unreadable."""
    try:
        kept = json.loads(data)
    except (ValueError, RecursionError):
        return
    context = _context()
    sound, *_ = context.ids()
    context.enter("fuzz")
    _plant(context, kept if isinstance(kept, dict) else {})
    try:
        look_around(context, 0)
        sight = StatusCache(context)
        crew = sight.crew()
        for name, seen in context.each(
            lambda one: (sight.traffic(one, crew), _status(context, one))
        ):
            if isinstance(seen, AssayError):
                is_told(seen)
                assert name != sound, seen
    finally:
        context.state.srem(INDEX, "fuzz")
        if keys := keys_of(context.state, "fuzz"):
            context.state.delete(*keys)


def _status(context: Context, assessment: str) -> str:
    return json.dumps(status_of(context, assessment).as_json())


def _plant(context: Context, kept: dict[str, Any]) -> None:
    """Write what can be written, as it is."""
    for name, one in kept.items():
        key, content = f"assay:{{fuzz}}:{_text(name)}", one
        if isinstance(one, dict) and one:
            context.state.hset(key, mapping={_text(k): _text(v) for k, v in one.items()})
        elif isinstance(one, list) and one:
            context.state.rpush(key, *map(_text, one))
        else:
            context.state.set(key, _text(content))


def _text(value: Any) -> str:
    """A text as it is, and all else as JSON; half a character is none that a client can send."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


@cache
def _rows() -> pa.Table:
    with pa.OSFile(str(POOL)) as source, pa.ipc.open_file(source) as reader:
        return reader.read_all()


@cache
def _context() -> Context:
    """A server of its own with one sound assessment, until this process ends."""
    opened = ExitStack()
    atexit.register(opened.close)
    home = Path(opened.enter_context(tempfile.TemporaryDirectory()))
    url = opened.enter_context(server(home, None))
    context = Context(Settings(home, url, None), url)
    opened.callback(context.close)
    take_over(context, EXPORT, POOL)
    return context


def good_export() -> Any:
    """What this release reads."""
    return json.loads(EXPORT.read_text(encoding="utf-8"))


def good_header() -> Any:
    """The header of a sound pool, with levels of groups and two opinions, one of which is empty."""
    found = json.loads(_rows().schema.metadata[HEADER_KEY])
    size = found["cells"]["size"]
    old = {"name": "old", "kind": "predicted", "terms": ["old", "says nothing"], "n_missing": 2}
    constant = {"name": "n", "kind": "number", "terms": [], "n_missing": 0}
    found["opinions"] = [
        old | {"x": [[0.5] * len(size), [0.0] * len(size)], "agreed": [0] * len(size)},
        constant | {"x": [], "agreed": None},
    ]
    found["levels"] = [[0] * len(found["group_names"])]
    return found


def good_state() -> Any:
    """The keys of an export but its streams; what is JSON in them is open, to be changed inside."""
    kept = good_export()["kept"]
    return {name: _open(one["content"]) for name, one in kept.items() if one["type"] != "stream"}


def _open(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _open(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_open(one) for one in value]
    is_json = isinstance(value, str) and value.startswith("{")
    return json.loads(value) if is_json else value
