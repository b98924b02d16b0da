"""Counts that no script of ours wrote are said, and nothing is counted on from them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.site import Begun, begin
from worker import jobs
from worker.errors import Unreadable
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.logs import at_work
from worker.setup.moving import pack
from worker.store import State
from worker.store.settings import Settings
from worker.watcher import look_around

COUNTS = ("revision", "claims", "reading", "wakes")
WRONG = {"2^53": 2**53, "the largest of the server's": 2**63 - 1, "none": "many", "007": "007"}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    home = tmp_path_factory.mktemp("counters")
    with server(home, None) as url:
        opened = Context(Settings(home, url, None), url)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def bad(context: Context, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    return begin(context, tmp_path_factory.mktemp("bad"), "bad")


@pytest.fixture(scope="module")
def well(context: Context, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    return begin(context, tmp_path_factory.mktemp("well"), "well")


@pytest.fixture(params=COUNTS)
def count(request: pytest.FixtureRequest, context: Context, bad: Begun) -> Iterator[str]:
    """A count that is put back afterwards."""
    name = str(request.param)
    before = context.state.hget("assay:{bad}:meta", name)
    yield name
    if before is None:
        context.state.hdel("assay:{bad}:meta", name)
    else:
        context.state.hset("assay:{bad}:meta", name, str(before))


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_a_count_that_is_none_is_said_moves_nothing_and_disturbs_no_other(
    context: Context, bad: Begun, well: Begun, count: str, wrong: int | str
) -> None:
    context.state.hset("assay:{bad}:meta", count, str(wrong))
    task = bad.desk.next_task(1)
    assert task is not None
    annotation = bad.desk.annotate(task, "cat", 1)
    kept = moved(context)

    jobs.open_context(context)
    with at_work(assessment="bad"):
        jobs.advance("bad")

    assert moved(context) == kept
    assert "cannot be read" in bad.ledger.metadata()["error"]
    with pytest.raises(Unreadable, match=f"{count} is {wrong}, expected a whole number"):
        status_of(context, "bad")
    look_around(context, 0)
    found = dict(context.each(lambda one: context.ledger(one).state()))
    assert isinstance(found["bad"], Unreadable)
    assert isinstance(found["well"], State)
    before = well.ledger.revision()
    well.label()
    assert well.ledger.revision() == before + 1
    bad.desk.delete_annotation(annotation)


def moved(context: Context) -> dict[str, object]:
    """All that a turn moves."""
    kept = pack(context.state, "bad")
    return {name: kept.get(name) for name in ("items", "tally", "taken", "log", "choices", "open")}


def test_the_log_keeps_every_digit_of_a_revision(context: Context, well: Begun) -> None:
    before = well.ledger.revision()
    context.state.hset("assay:{well}:meta", "revision", 2**53 - 2)
    try:
        well.label("dog")
        assert well.ledger.changes()[-1]["revision"] == 2**53 - 1
    finally:
        context.state.hset("assay:{well}:meta", "revision", before)
