"""Logs for machines: every line is one JSON object, and says what the worker was at."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest

from worker.service.context import INDEX, Context
from worker.service.embedded import server
from worker.service.logs import JsonLines, at_work, now_at
from worker.store.settings import Settings

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What a logger of ours wrote as JSON so far."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("worker.test")
    logger.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)


log = logging.getLogger("worker.test")


def test_a_line_has_time_level_logger_and_message(lines: Lines):
    log.warning("%s is “%s”", "the answer", "猫\nand more")

    (line,) = lines()
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "worker.test",
        "message": "the answer is “猫\nand more”",
    }


def test_what_no_frame_would_take_back_is_not_said(lines: Lines):
    now_at(revision=9)
    log.warning("idle")

    (idle,) = lines()
    assert "revision" not in idle


def test_a_line_says_what_the_worker_was_at_and_the_next_one_not(lines: Lines):
    with at_work(job="advance-a-1", assessment="a"):
        log.warning("begun")
        now_at(revision=7)
        log.warning("read")
        now_at(revision=8)
        log.warning("counted", extra={"facts": {"labels": 12}})
    log.warning("idle")

    begun, read, counted, idle = lines()
    assert (begun["job"], begun["assessment"]) == ("advance-a-1", "a")
    assert (read["assessment"], read["revision"]) == ("a", 7)
    assert (counted["revision"], counted["labels"]) == (8, 12)
    assert "revision" not in begun
    assert not {"job", "assessment", "revision"} & idle.keys()


def test_an_exception_is_in_the_line_with_its_traceback(lines: Lines):
    try:
        raise ValueError("not a label")
    except ValueError:
        log.exception("the turn failed")

    (line,) = lines()
    assert line["error"] == "ValueError"
    assert line["traceback"].splitlines()[-1] == "ValueError: not a label"


def said(home: object, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    names = ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "REDIS_URL", "ASSAY_STATE_URL")
    env = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, "-m", "worker.cli", *arguments],
        env=env | {"ASSAY_HOME": str(home)} | more,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_worker_that_fails_at_a_turn_says_so_in_json_with_assessment_and_job(tmp_path, by):
    home = tmp_path / "home"
    with server(home, None) as url:
        context = Context(Settings(home, None, None), url)
        context.state.sadd(INDEX, "lost")  # on the list, but nobody began it
        context.wake("lost")
        context.close()
        option = ["--log-format", "json"] if by == "option" else []
        setting = {"ASSAY_LOG": "json"} if by == "environment" else {}
        ended = said(home, "worker", "--burst", *option, **setting)

    assert ended.returncode == 0, ended.stderr
    written = [json.loads(line) for line in ended.stderr.splitlines()]
    (failure,) = [line for line in written if "lost" in line["message"]]
    assert (failure["level"], failure["assessment"]) == ("warning", "lost")
    assert failure["job"].startswith("advance-lost-")


def test_a_mistake_of_a_process_is_json_too(tmp_path):
    ended = said(tmp_path, "watch", "--log-format", "json", REDIS_URL="http://not-a-server")

    assert ended.returncode == 1
    (line,) = [json.loads(line) for line in ended.stderr.splitlines()]
    assert line["level"] == "error"
    assert "redis://host:6379/0" in line["message"]


def test_people_get_text(tmp_path):
    ended = said(tmp_path, "watch", REDIS_URL="http://not-a-server")

    assert ended.stderr.startswith("Error: ")


def test_another_format_is_a_wrong_use(tmp_path):
    ended = said(tmp_path, "watch", ASSAY_LOG="xml")

    assert ended.returncode == 2
    assert "'text', 'json'" in ended.stderr
