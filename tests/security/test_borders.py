"""What is damaged or hostile is refused where it comes in, and reaches nothing beside it."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.ipc
import pytest
from click.testing import CliRunner
from rq import Queue
from rq.serializers import JSONSerializer

from tests.compat.state import ASSETS
from tests.web.site import Begun, begin, dashboard
from worker.cli.doctor import examine
from worker.cli.main import cli
from worker.cli.parts import printable
from worker.errors import NewerPlan, PlanError, PoolChanged, PredictionsError
from worker.notices import outbox
from worker.notices.messages import Event
from worker.notices.stalls import since
from worker.plan import stored_plan
from worker.pool import open_pool
from worker.pool.storing import sha256_of, stat_of
from worker.pool.tables_folder import files_of, folder_batches
from worker.report.index import write_index
from worker.report.scheduled import is_claimed, latest_done, reports_folder
from worker.service.context import QUEUE, Context
from worker.service.embedded import server
from worker.setup.exported import NotMovable, read_export
from worker.setup.moving import take_over
from worker.store.metadata import Metadata
from worker.store.settings import Settings
from worker.store.valkey import keys_of
from worker.watcher import look_around
from worker.web.health import workers
from worker.web.metrics import exposition
from worker.web.status_cache import StatusCache

Damage = Callable[[Any, str], Any]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with server(tmp_path / "home", None) as url:
        opened = Context(Settings(tmp_path / "home", url, None), url)
        yield opened
        opened.close()


@pytest.fixture
def well(context: Context, tmp_path: Path) -> Begun:
    """An assessment that must not notice; its name comes after that of the damaged one."""
    return begin(context, tmp_path / "well", "well")


def planted(key: str, field: str, value: str) -> Damage:
    return lambda db, prefix: db.hset(prefix + key, field, value)


def other_type(key: str) -> Damage:
    def swap(db: Any, prefix: str) -> None:
        db.delete(prefix + key)
        db.rpush(prefix + key, "x")

    return swap


DAMAGES: dict[str, Damage] = {
    "a note is no number": planted("notes", "polled_at", "x"),
    "an author is no number": planted("authors", "1", "x"),
    "the header is no JSON": planted("meta", "header", "{"),
    "the header lacks a part": planted("meta", "header", '{"v": 1}'),
    "the stored plan is no JSON": planted("meta", "header", '{"v": 1, "plan": 3}'),
    "the header's version is none": planted("meta", "header", '{"v": "x"}'),
    "the header's version never was": planted("meta", "header", '{"v": 0}'),
    "a revision is no number": planted("meta", "revision", "many"),
    "a key of the tally is none": planted("tally", "x", "1"),
    "an open item is no JSON": planted("open", "i1", "]"),
    "a task is not as it should be": planted("tasks", "1", "x"),
    "a notice is none": planted("notices", "n", "{}"),
    **{f"{key} is of another type": other_type(key) for key in ("meta", "notes", "tally", "open")},
}


def test_the_metrics_say_so_of_a_header_that_is_damaged_after_it_was_read(
    context: Context, tmp_path: Path
) -> None:
    begin(context, tmp_path / "bad", "bad")
    sight = StatusCache(context)
    assert 'assay_readable{assessment="bad"} 1.0' in exposition(sight)[0].decode()
    DAMAGES["the header is no JSON"](context.state, "assay:{bad}:")
    assert 'assay_readable{assessment="bad"} 0.0' in exposition(sight)[0].decode()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_an_assessment_that_cannot_be_read_disturbs_no_other_and_can_be_forgotten(
    context: Context, well: Begun, tmp_path: Path, damage: Damage
) -> None:
    begin(context, tmp_path / "bad", "bad")
    damage(context.state, "assay:{bad}:")

    look_around(context, 0)
    jobs = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer).job_ids
    assert any(job.startswith("advance-well-") for job in jobs)
    told = exposition(StatusCache(context))[0].decode()
    assert 'assay_labels_total{assessment="well"}' in told
    assert 'assay_confidence{assessment="well"}' in told
    assert 'assay_readable{assessment="well"} 1.0' in told
    assert any("well" not in finding.what for finding in examine(context.settings, context))
    with dashboard(context, None) as url:
        page = httpx.get(f"{url}/")
        assert page.status_code == 200
        assert "bad" in page.text
        assert httpx.get(f"{url}/a/well").status_code == 200
        assert httpx.get(f"{url}/a/bad").status_code < 600

    context.forget("bad")
    assert context.ids() == ["well"]
    assert keys_of(context.state, "bad") == []
    assert keys_of(context.state, "well")


@pytest.mark.parametrize("damage", [{"seed": "x"}, {"pool": 3}, {"stop": None}, {"question": []}])
def test_a_plan_that_no_release_wrote_is_not_called_newer(
    well: Begun, damage: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="the stored plan is none"):
        stored_plan(json.dumps(json.loads(well.header.plan) | damage))
    with pytest.raises(NewerPlan, match=r"later.*upgrade"):
        stored_plan(json.dumps(json.loads(well.header.plan) | damage | {"later": 1}))


def test_status_tells_of_the_damaged_one_and_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    with server(tmp_path / "home", None) as url:
        context = Context(Settings(tmp_path / "home", url, None), url)
        begin(context, tmp_path / "bad", "bad")
        begin(context, tmp_path / "well", "well")
        context.state.hset("assay:{bad}:meta", "header", "{")
        said = CliRunner().invoke(cli, ["status"])
        one = CliRunner().invoke(cli, ["status", "bad"])
        asked = CliRunner().invoke(cli, ["forget", "bad"], input="n\n")
        assert context.ids() == ["bad", "well"]
        gone = CliRunner().invoke(cli, ["forget", "bad", "--yes"])
        unknown = CliRunner().invoke(cli, ["forget", "bad", "--yes"])
        left = context.ids()
        context.close()
    assert said.exit_code == 0
    assert "bad (unreadable): What is kept of bad cannot be read" in said.output
    assert "well (running):" in said.output
    assert (one.exit_code, asked.exit_code, gone.exit_code) == (1, 1, 0)
    assert "`assay forget bad`" in one.output
    assert left == ["well"]
    assert unknown.exit_code == 1
    assert "there is: well" in unknown.output


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


def test_an_index_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("a site of somebody")
    write_index(tmp_path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [
        ("index.html", "a site of somebody")
    ]
    (tmp_path / "index.html").unlink()
    write_index(tmp_path)
    write_index(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.html", "index.json"]


def test_a_plan_that_was_brought_here_writes_reports_where_plans_may_only(
    context: Context, well: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = json.loads(well.header.plan)
    plan["report"] |= {"every": "1d", "to": str(tmp_path / "elsewhere")}
    header = replace(well.header, plan=json.dumps(plan))
    assert reports_folder(context, header) == tmp_path / "elsewhere"
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(tmp_path / "plans"))
    with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
        reports_folder(context, header)


def test_a_weekend_without_workers_leaves_no_queue_of_the_same_job(
    context: Context, well: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    context.nudge("well", 15.0)
    context.ask_for_report("well", 1, 0.0, 20.0)
    context.ask_for_delivery("well", 0.0, 20.0)
    waits = [job.ttl for job in queue.jobs]
    assert waits == [30, 40, 40]
    context.wake("well")  # is one job however often it is asked for
    assert queue.jobs[-1].ttl is None


def test_a_clock_that_was_ahead_keeps_no_report_and_no_notice_waiting(well: Begun) -> None:
    now, month = 1_700_000_000.0, 30 * 86_400
    ahead = Metadata(report_slot=int(now) + month, report_claim=f"{now + month:.0f} x")
    assert not is_claimed(ahead, now)
    assert latest_done(ahead, now) == 0
    assert is_claimed({"report_claim": f"{now + 60:.0f} x"}, now)
    assert latest_done({"report_slot": int(now)}, now) == int(now)

    event = Event("e", "failure", "text", 0, "now")
    assert outbox.is_due(outbox.Notice("n", event, 0, 1, now + month), now)
    assert not outbox.is_due(outbox.Notice("n", event, 0, 7, now + 9_000), now)

    well.ledger.set_metadata(running_since=int(now) + month)
    assert since(well.ledger, well.ledger.metadata(), "running_since", True, now) == int(now)
    assert well.ledger.metadata()["running_since"] == int(now)


def test_a_worker_that_is_none_ends_no_page(context: Context, well: Begun) -> None:
    context.jobs.sadd("rq:workers", "rq:worker:planted")
    context.jobs.hset("rq:worker:planted", mapping={"birth": "x", "last_heartbeat": "y"})
    assert workers(context) == ()
    assert exposition(StatusCache(context))


def test_what_is_printed_moves_no_cursor() -> None:
    assert printable("a\x1b[2Jb\n\tc 猫") == "a\\x1b[2Jb\n\tc 猫"
