"""Exports, pools and folders that no release wrote are refused, and nothing of them is kept."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.compat.state import ASSETS
from tests.security.contexts import own_context
from worker.errors import PoolChanged, PredictionsError
from worker.pool import open_pool
from worker.pool.storing import sha256_of, stat_of
from worker.pool.tables_folder import files_of, folder_batches
from worker.service.context import Context
from worker.setup.exported import NotMovable, read_export
from worker.setup.moving import take_over


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with own_context(tmp_path) as opened:
        yield opened


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    def apply(kept: Any) -> None:
        kept[name]["content"] = change(kept[name]["content"])

    return apply


def header_with(**values: Any) -> Callable[[Any], None]:
    def apply(kept: Any) -> None:
        meta = kept["meta"]["content"]
        meta["header"] = json.dumps(json.loads(meta["header"]) | values)

    return apply


def record_with(**values: Any) -> Callable[[Any], None]:
    def apply(kept: Any) -> None:
        items = kept["items"]["content"]
        items["item-00"] = json.dumps(json.loads(items["item-00"]) | values)

    return apply


HOSTILE: dict[str, Callable[[Any], None]] = {
    "author": changed("authors", lambda old: {"1": "x"}),
    "note": changed("notes", lambda old: old | {"polled_at": "x"}),
    "note of the labelling": changed("notes", lambda old: old | {"labelling": "[]"}),
    "changed labelling": changed("notes", lambda old: old | {"labelling_changed": "{}"}),
    "endless note": changed("notes", lambda old: old | {"swept_at": "1e999"}),
    "cursor": changed("notes", lambda old: old | {"cursor": "9" * 4000}),
    "a naive start": header_with(started_at="2026-01-01T00:00:00"),
    "an id that is a path": header_with(assessment="../../../escaped/<img src=x>"),
    "an address": header_with(url="javascript:alert(1)"),
    "a project": header_with(project="1"),
    "a tally of its own": changed("tally", lambda old: old | {"0:0:0:cow": "99"}),
    "labels that nobody gave": record_with(outcome="cat"),
    "another row": record_with(row=3),
    "a row outside": record_with(row=10**6),
    "a claim twice": record_with(claim=1),
    "a judgement": record_with(tasks={"1": [1, 1, 1, [["x", 1, "valid", "cow", "", 1, None]]]}),
    "a status": changed("meta", lambda old: old | {"status": "root"}),
    "a revision": changed("meta", lambda old: old | {"revision": str(2**63)}),
    "an entry": changed("decisions", lambda old: [["*", old[0][1]], *old[1:]]),
    "a decision": changed("decision", lambda old: '{"kind": "stop"}'),
    "a notice": lambda kept: kept.update(notices={"type": "hash", "content": {"n": "{}"}}),
    "a key of another kind": lambda kept: kept["tally"].update(type="list", content=["x"]),
    "an unknown key": lambda kept: kept.update(lease={"type": "string", "content": "x"}),
    "nothing": lambda kept: kept.clear(),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=list(HOSTILE))
def test_an_export_that_no_release_wrote_is_refused_and_nothing_is_written(
    context: Context, tmp_path: Path, hostile: Callable[[Any], None]
) -> None:
    exported = json.loads((ASSETS / "state-v1" / "export.json").read_text(encoding="utf-8"))
    read_export(copy.deepcopy(exported))
    hostile(exported["kept"])
    (tmp_path / "x.json").write_text(json.dumps(exported), encoding="utf-8")
    with pytest.raises(NotMovable, match="not whole"):
        take_over(context, tmp_path / "x.json", ASSETS / "state-v1" / "pool.arrow")
    assert context.state.dbsize() == 0
    assert not context.settings.pools.exists()


def point_outside(file: Path, texts: pa.Array) -> None:
    """Let the last of a column's texts in an Arrow file end far behind the values."""
    offsets = texts.buffers()[1].to_pybytes()[: 8 * (len(texts) + 1)]
    content = file.read_bytes()
    assert content.count(offsets) == 1
    wrong = offsets[:-8] + (2**40).to_bytes(8, "little")
    file.write_bytes(content.replace(offsets, wrong))


def test_a_pool_that_points_outside_of_itself_is_refused_at_import(
    context: Context, tmp_path: Path
) -> None:
    evil = tmp_path / "pool.arrow"
    shutil.copyfile(ASSETS / "state-v1" / "pool.arrow", evil)
    with pa.OSFile(str(evil)) as source, pa.ipc.open_file(source) as reader:
        texts = reader.get_batch(0).column(0)
    point_outside(evil, texts)
    with pytest.raises(PoolChanged, match="damaged"):
        open_pool(evil, sha256_of(evil))

    exported = json.loads((ASSETS / "state-v1" / "export.json").read_text(encoding="utf-8"))
    # With its own time, too, by which a pool is taken for one that was looked through.
    told = {"pool_sha256": sha256_of(evil), "pool_file": str(evil), "pool_stat": stat_of(evil)}
    header_with(**told)(exported["kept"])
    (tmp_path / "x.json").write_text(json.dumps(exported), encoding="utf-8")
    for pool in (evil, None):
        with pytest.raises(PoolChanged, match="damaged"):
            take_over(context, tmp_path / "x.json", pool)
    assert context.state.dbsize() == 0
    assert not context.settings.pools.exists()


def data_set(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    state = {"_data_files": [{"filename": name} for name in names]}
    (folder / "state.json").write_text(json.dumps(state))
    return folder


def write_stream(path: Path, batch: pa.RecordBatch) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def test_a_folder_that_points_outside_of_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = pa.array(["one", "another"], pa.large_string())
    rows = pa.RecordBatch.from_arrays([texts, pa.array([1, 2])], names=["item_id", "n"])
    outside = data_set(tmp_path / "outside")
    write_stream(outside / "data-0.arrow", rows)

    with pytest.raises(PredictionsError, match="not in the folder"):
        files_of(data_set(tmp_path / "set", "../outside/data-0.arrow"))
    with pytest.raises(PredictionsError, match="not in the folder"):
        files_of(data_set(tmp_path / "set", str(outside / "data-0.arrow")))

    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(tmp_path / "set"))
    os.symlink(outside / "data-0.arrow", tmp_path / "set" / "data-0.arrow")
    with pytest.raises(PredictionsError, match="outside of ASSAY_PLAN_FOLDERS"):
        files_of(data_set(tmp_path / "set", "data-0.arrow"))
    monkeypatch.delenv("ASSAY_PLAN_FOLDERS")
    assert files_of(tmp_path / "set")

    (tmp_path / "set" / "data-0.arrow").unlink()
    write_stream(tmp_path / "set" / "data-0.arrow", rows)
    point_outside(tmp_path / "set" / "data-0.arrow", texts)
    with pytest.raises(PredictionsError, match="damaged"):
        list(folder_batches(tmp_path / "set", None, 10))
