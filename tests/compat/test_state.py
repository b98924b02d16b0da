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
from worker.jobs import advance, open_office
from worker.service.embedded import server
from worker.service.office import Office
from worker.setup.moving import take_over
from worker.store.settings import Settings
from worker.watcher import look_around

VERSIONS = sorted(ASSETS.glob("state-v*"))
NAME = "kept"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A server that holds nothing yet."""
    with server(tmp_path, None) as url:
        empty = Office(Settings(tmp_path, url, None), url)
        yield empty
        empty.close()


def stored(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def put_keys(office: Office, kept: dict[str, Any]) -> None:
    """Write an export's keys as a release that ran here left them, by plain commands."""
    for name, one in kept.items():
        key, content = f"assay:{{{NAME}}}:{name}", one["content"]
        match one["type"]:
            case "hash":
                office.state.hset(key, mapping=content)
            case "list":
                office.state.rpush(key, *content)
            case "set":
                office.state.sadd(key, *content)
            case "stream":
                for entry, fields in content:
                    office.state.xadd(key, fields, id=entry)
            case _:
                office.state.set(key, content)
    office.enter(NAME)


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
    office: Office, folder: Path, way: str
) -> None:
    exported, recorded = stored(folder, "export.json"), stored(folder, "told.json")
    if way == "imported":
        header = take_over(office, folder / "export.json", folder / "pool.arrow")
    else:
        put_keys(office, exported["kept"])
        header = office.header(NAME)
        office.settings.pools.mkdir()
        pool = office.settings.pools / Path(header.pool_file).name
        pool.write_bytes((folder / "pool.arrow").read_bytes())
    ledger = office.ledger(NAME)

    found = told(office, NAME, reopen(header, office.settings.pools), ledger)

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
    office: Office, tmp_path: Path, newer: Any
) -> None:
    exported = stored(VERSIONS[-1], "export.json")
    newer(exported)
    file = tmp_path / "newer.json"
    file.write_text(json.dumps(exported), encoding="utf-8")

    with pytest.raises(AssayError, match=r"newer Assay.*upgrade"):
        take_over(office, file, VERSIONS[-1] / "pool.arrow")

    assert everything(office.state) == {}
    assert not office.settings.pools.exists()


@pytest.mark.parametrize("newer", NEWER[1:], ids=lambda newer: newer.__name__)
def test_what_a_newer_release_keeps_here_is_left_alone_and_holds_up_nobody(
    office: Office, tmp_path: Path, newer: Any
) -> None:
    exported = stored(VERSIONS[-1], "export.json")
    newer(exported)
    put_keys(office, exported["kept"])
    office.enter("other")
    before = everything(office.state)

    look_around(office, 0)
    open_office(office)
    advance(NAME)

    after = everything(office.state)
    moved = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    ours = {key.removeprefix(f"assay:{{{NAME}}}:") for key in moved if f"{{{NAME}}}" in key}
    assert ours <= {"meta", "notes", "counters", "notices", "noticed"}
    assert office.state.exists("rq:job:advance-other-0")
    if newer is not newer_record:  # a finished assessment's records are read by the next sweep
        assert "newer Assay" in office.ledger(NAME).notes()["error"]
