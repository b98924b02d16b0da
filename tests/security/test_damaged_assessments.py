"""An assessment that is damaged in Redis is said to be so, and no other is disturbed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from rq import Queue
from rq.serializers import JSONSerializer

from tests.security.contexts import begin_well, own_context
from tests.web.site import Begun, begin, dashboard
from worker.cli.doctor import examine
from worker.cli.main import cli
from worker.errors import NewerPlan
from worker.plan import stored_plan
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.job_data import QUEUE
from worker.store.settings import Settings
from worker.store.valkey import keys_of
from worker.watcher import look_around
from worker.web.health import workers
from worker.web.metrics import exposition
from worker.web.status_cache import StatusCache

Damage = Callable[[Any, str], Any]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with own_context(tmp_path) as opened:
        yield opened


@pytest.fixture
def well(context: Context, tmp_path: Path) -> Begun:
    return begin_well(context, tmp_path)


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


def test_a_worker_that_is_none_ends_no_page(context: Context, well: Begun) -> None:
    context.jobs.sadd("rq:workers", "rq:worker:planted")
    context.jobs.hset("rq:worker:planted", mapping={"birth": "x", "last_heartbeat": "y"})
    assert workers(context) == ()
    assert exposition(StatusCache(context))
