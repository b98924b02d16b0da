"""Planted secrets are nowhere: logs, process lists, files, reports, exports, Redis, errors."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import httpx
import pytest
from redis import Redis

from connector.local import LabelStudioServer, personal_access_token
from tests.deploy.guarded import guarded_server
from tests.live.pools import SignUp, insects, label_until_stopped
from tests.live.service import Service, eventually, service
from worker.service.context import Context
from worker.service.server import connect
from worker.store.settings import Settings

pytestmark = pytest.mark.live


def forms(secret: str) -> Iterator[bytes]:
    """As a careless writer would show it."""
    yield secret.encode()
    yield quote(secret, safe="").encode()
    for before in range(3):  # base64 takes three bytes at a time, wherever the secret begins
        coded = base64.b64encode(b"x" * before + secret.encode())
        yield coded[4:-4]


def found_in(where: bytes, planted: dict[str, str]) -> list[str]:
    return [
        name for name, secret in planted.items() if any(form in where for form in forms(secret))
    ]


def test_it_finds_what_is_planted() -> None:
    planted = {"token": "a/planted secret"}
    for text in (
        b"x a/planted secret",
        b"a%2Fplanted%20secret",
        base64.b64encode(b"user:a/planted secret"),
    ):
        assert found_in(text, planted) == ["token"]
    assert found_in(b"a planted secret", planted) == []


def test_no_secret_is_written_shown_sent_or_kept_anywhere(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    password = f"planted-{secrets.token_hex(16)}"
    planted = {
        "Redis' password": password,
        "the webhook secret": f"planted/{secrets.token_urlsafe(16)}",
        "the dashboard token": f"planted {secrets.token_urlsafe(16)}",
        "the notify secret": f"planted+{secrets.token_urlsafe(16)}",
        "the notify address": f"planted-{secrets.token_hex(16)}",
        # A new one: that of the local server itself is written in our code.
        "Label Studio's token": personal_access_token(label_studio.url, label_studio.token),
    }
    trial = insects(
        tmp_path,
        stop="{mrr: {confidence: 0.9}}",
        more="notify: [{url: '${ASSAY_NOTIFY_TEST}', allow_private: true}]\nreport: {every: 1m}\n",
    )
    home = tmp_path / "home"
    (tmp_path / "server").mkdir()
    with guarded_server(tmp_path / "server", password) as redis:
        env = {
            "LABEL_STUDIO_API_KEY": planted["Label Studio's token"],
            "REDIS_URL": redis.url,
            "ASSAY_WEBHOOK_SECRET": planted["the webhook secret"],
            "ASSAY_DASHBOARD_TOKEN": planted["the dashboard token"],
            "ASSAY_NOTIFY_SECRET": planted["the notify secret"],
            "ASSAY_NOTIFY_TEST": f"http://127.0.0.1:1/{planted['the notify address']}",
            "ASSAY_LOG": "json",
        }
        with service(home, label_studio, env) as running:
            running._context = Context(Settings(home, None, None), redis.url)
            running.spawn_all("--workers", "1")
            project = running.begin(trial.plan)
            assert found_in(processes(), planted) == []
            label_until_stopped(running, trial, project, annotator())
            ledger = running.context.ledger(trial.assessment)
            eventually(lambda: ledger.metadata().get("told_desk"))
            eventually(lambda: "ConnectError" in "".join(ledger.notices().values()))
            said = b"".join(all_that_it_says(running, trial.assessment, tmp_path))
            assert found_in(processes(), planted) == []
            with connect(redis.admin) as db:
                kept = everything(db)
        assert trial.assessment.encode() in kept
        assert found_in(kept, planted) == []
    assert trial.assessment.encode() in said
    assert found_in(said, planted) == []
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "up.log" for path in files)
    assert any(path.suffix == ".html" for path in files)
    for path in files:
        assert found_in(path.read_bytes(), planted) == [], path


def test_no_error_shows_one(label_studio: LabelStudioServer, tmp_path: Path) -> None:
    token, password = "planted-token.of-nobody", "planted-password"
    start = ["start", str(insects(tmp_path).plan)]
    cases: list[tuple[list[str], dict[str, str]]] = [
        (command, {"LABEL_STUDIO_API_KEY": token} | more)
        for command in (["doctor"], start)
        for more in (
            {},
            {"LABEL_STUDIO_URL": "http://127.0.0.1:1"},
            {"LABEL_STUDIO_API_KEY": f"{token}\x7fé"},
        )
    ]
    cases += [
        (["doctor"], {name: url.replace("PASSWORD", password)})
        for name in ("REDIS_URL", "ASSAY_STATE_URL")
        for url in (
            "redis://assay:PASSWORD@127.0.0.1:1/0",
            "redis://127.0.0.1:1/0?password=PASSWORD",
            "http://assay:PASSWORD@127.0.0.1:1/0",
            "redis://assay:PASSWORD@127.0.0.1:port/0",
            "redis://assay:PASSWORD@[127.0.0.1/0",
            "redis://assay:PASSWORD/x@127.0.0.1:1/0",
            "redis://assay:x?PASSWORD@127.0.0.1:1/0",
        )
    ]
    planted = {"the token": token, "the password": password}
    with service(tmp_path / "home", label_studio) as running, ThreadPoolExecutor(4) as at_once:
        ended = at_once.map(lambda case: running.run(*case[0], **case[1]), cases)
        for case, done in zip(cases, ended, strict=True):
            assert found_in((done.out + done.err).encode(), planted) == [], case
            assert done.out + done.err
            assert "Traceback" not in done.err, done.err


def all_that_it_says(running: Service, assessment: str, folder: Path) -> Iterator[bytes]:
    """What commands print and the pages show."""
    yield running.run("report", assessment, "--to", str(folder / "home" / "reports")).out.encode()
    for command in (
        ["status"],
        ["status", assessment],
        ["export", assessment],
        ["replay", assessment],
        ["doctor"],
        ["doctor", "--json"],
    ):
        done = running.run(*command)
        yield (done.out + done.err).encode()
    base = cast(str, running.context.state.get("assay:receiver"))
    for path in ("/", f"/a/{assessment}", "/metrics", "/readyz", "/login", "/nothing"):
        answer = httpx.get(base + path)
        yield answer.content + str(answer.headers).encode()


def processes() -> bytes:
    """The arguments of all processes of this machine, as anybody sees them."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:  # it ended meanwhile
            continue
    assert len(lines) > 2
    return b"\n".join(lines)


def everything(db: Redis) -> bytes:
    """All keys of a server with what they hold, as bytes: not all of RQ's is text."""
    kept = db.connection_pool.connection_kwargs
    address = {name: kept[name] for name in ("host", "port", "username", "password")}
    with Redis(**address) as raw:
        readers: dict[bytes, Callable[[bytes], Any]] = {
            b"string": raw.get,
            b"hash": raw.hgetall,
            b"list": lambda key: raw.lrange(key, 0, -1),
            b"set": raw.smembers,
            b"zset": lambda key: raw.zrange(key, 0, -1),
            b"stream": raw.xrange,
        }
        keys = [(key, raw.type(key)) for key in raw.scan_iter()]
        return repr([(k, readers[kind](k)) for k, kind in keys if kind != b"none"]).encode()
