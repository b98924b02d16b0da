"""State that an earlier release wrote is read as it was meant; a later one's is left alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.compat.state import ASSETS, told
from worker.assessment import reopen
from worker.errors import AssayError
from worker.jobs import advance, open_context
from worker.service.context import Context
from worker.service.embedded import server
from worker.setup.moving import take_over
from worker.store.settings import Settings
from worker.watcher import look_around

VERSIONS = sorted(ASSETS.glob("state-v*"))
NAME = "kept"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A server that holds nothing yet."""
    with server(tmp_path, None) as url:
        empty = Context(Settings(tmp_path, url, None), url)
        yield empty
        empty.close()


def stored(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def put_keys(context: Context, kept: dict[str, Any]) -> None:
    """Write an export's keys as a release that ran here left them, by plain commands."""
    for name, one in kept.items():
        key, content = f"assay:{{{NAME}}}:{name}", one["content"]
        match one["type"]:
            case "hash":
                context.state.hset(key, mapping=content)
            case "list":
                context.state.rpush(key, *content)
            case "set":
                context.state.sadd(key, *content)
            case "stream":
                for entry, fields in content:
                    context.state.xadd(key, fields, id=entry)
            case _:
                context.state.set(key, content)
    context.enter(NAME)


def everything(db: Redis) -> dict[str, Any]:
    """All of a server's keys as they lie in it."""
    return {key: db.dump(key) for key in db.scan_iter()}


def is_close(a: Any, b: Any) -> bool:
    """The same but for the last digits of numbers, which another numpy may round otherwise."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_close(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6)
    return bool(a == b)


@pytest.mark.parametrize("way", ["imported", "left behind"])
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_what_a_release_stored_is_told_as_it_told_it(
    context: Context, folder: Path, way: str
) -> None:
    exported, recorded = stored(folder, "export.json"), stored(folder, "told.json")
    if way == "imported":
        header = take_over(context, folder / "export.json", folder / "pool.arrow")
    else:
        put_keys(context, exported["kept"])
        header = context.header(NAME)
        context.settings.pools.mkdir()
        pool = context.settings.pools / Path(header.pool_file).name
        pool.write_bytes((folder / "pool.arrow").read_bytes())
    ledger = context.ledger(NAME)

    found = told(context, NAME, reopen(header, context.settings.pools), ledger)

    assert is_close(found, recorded)
    by_item = {record["item"]: record for record in exported["records"]}
    assert {r["item"]: r for r in map(json.loads, ledger.every_record())} == by_item
    assert list(map(json.loads, ledger.decisions())) == exported["decisions"]
    assert ledger.choices() == exported["choices"]
    assert ledger.changes() == exported["changes"]


def newer_export(exported: Any) -> None:
    exported["version"] += 97


def newer_header(exported: Any) -> None:
    meta = exported["kept"]["meta"]["content"]
    meta["header"] = json.dumps({"v": 98, "unheard_of": True})


def newer_record(exported: Any) -> None:
    items = exported["kept"]["items"]["content"]
    items["item-04"] = json.dumps({"v": 98, "unheard_of": True})


def newer_plan(exported: Any) -> None:
    meta = exported["kept"]["meta"]["content"]
    header = json.loads(meta["header"])
    header["plan"] = json.dumps(json.loads(header["plan"]) | {"unheard_of": True})
    meta["header"] = json.dumps(header)


NEWER = [newer_export, newer_header, newer_record, newer_plan]


@pytest.mark.parametrize("newer", NEWER, ids=lambda newer: newer.__name__)
def test_an_export_with_something_of_a_newer_release_is_refused_and_nothing_is_written(
    context: Context, tmp_path: Path, newer: Any
) -> None:
    exported = stored(VERSIONS[-1], "export.json")
    newer(exported)
    file = tmp_path / "newer.json"
    file.write_text(json.dumps(exported), encoding="utf-8")

    with pytest.raises(AssayError, match=r"newer Assay.*upgrade"):
        take_over(context, file, VERSIONS[-1] / "pool.arrow")

    assert everything(context.state) == {}
    assert not context.settings.pools.exists()


@pytest.mark.parametrize("newer", NEWER[1:], ids=lambda newer: newer.__name__)
def test_what_a_newer_release_keeps_here_is_left_alone_and_holds_up_nobody(
    context: Context, tmp_path: Path, newer: Any
) -> None:
    exported = stored(VERSIONS[-1], "export.json")
    newer(exported)
    put_keys(context, exported["kept"])
    context.enter("other")
    before = everything(context.state)

    look_around(context, 0)
    open_context(context)
    advance(NAME)

    after = everything(context.state)
    moved = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    ours = {key.removeprefix(f"assay:{{{NAME}}}:") for key in moved if f"{{{NAME}}}" in key}
    assert ours <= {"meta", "notes", "counters", "notices", "noticed"}
    assert context.state.exists("rq:job:advance-other-0")
    if newer is not newer_record:  # a finished assessment's records are read by the next sweep
        assert "newer Assay" in context.ledger(NAME).metadata()["error"]
