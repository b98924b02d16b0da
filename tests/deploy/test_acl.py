"""The users of `deploy/valkey-acl.conf`, on a real server: all that we do passes, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from connector.local import LabelStudioServer
from tests.deploy.guarded import DEPLOY, Guarded, guarded_server
from tests.live.pools import SignUp, insects, label_until_stopped
from tests.live.service import eventually, service
from worker.service.context import Context
from worker.service.server import check, connect
from worker.store.settings import Settings

PASSWORD = "only-for-tests"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded_server(tmp_path_factory.mktemp("guarded"), PASSWORD) as running:
        yield running


@pytest.fixture
def admin(guarded: Guarded) -> Iterator[Redis]:
    with connect(guarded.admin) as db:
        db.execute_command("ACL LOG RESET")
        yield db


@pytest.fixture
def assay(guarded: Guarded) -> Iterator[Redis]:
    with connect(guarded.url) as db:
        yield db


@pytest.mark.live
def test_a_whole_assessment_passes_without_one_refusal(
    guarded: Guarded,
    admin: Redis,
    label_studio: LabelStudioServer,
    annotator: SignUp,
    tmp_path: Path,
) -> None:
    trial = insects(
        tmp_path,
        stop="{mrr: {confidence: 0.9}}",
        more="notify: [{url: 'https://127.0.0.1:1/x'}]\nreport: {every: 1m}\n",
    )
    secret = tmp_path / "redis-url"
    secret.write_text(guarded.url + "\n")
    more = {"REDIS_URL_FILE": str(secret)}
    with service(tmp_path / "home", label_studio, more) as running:
        running._context = Context(Settings(running.home, None, None), guarded.url)
        running.spawn_all("--workers", "2")
        project = running.begin(trial.plan)
        running.json("pause", trial.assessment)
        running.json("resume", trial.assessment)
        label_until_stopped(running, trial, project, annotator())
        eventually(lambda: running.context.ledger(trial.assessment).metadata().get("told_desk"))
        assert "REDIS_URL from a file" in running.run("doctor").out
        for command in ("status", "export", "replay"):
            assert running.run(command, trial.assessment).code == 0
        simulated = running.run("simulate", str(trial.plan), "--rq", "--runs", "2")
        assert "NOPERM" not in simulated.err + simulated.out

    assert admin.execute_command("ACL LOG") == []


def test_what_we_ask_of_a_server_at_first_needs_no_configuration(
    guarded: Guarded, assay: Redis
) -> None:
    assert check(assay, guarded.url)["policy"] == "noeviction"


@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL",
        "FLUSHDB",
        "CONFIG SET dir /tmp",
        "CONFIG GET requirepass",
        "KEYS *",
        "ACL SETUSER other on nopass +@all",
        "ACL WHOAMI",
        "EVAL 'return 1' 0",
        "FUNCTION LIST",
        "SCRIPT FLUSH",
        "MODULE LIST",
        "SHUTDOWN NOSAVE",
        "REPLICAOF 127.0.0.1 1",
        "SAVE",
        "BGREWRITEAOF",
        "MONITOR",
        "CLIENT KILL ID 1",
        "SORT assay:x",
        "DUMP assay:x",
        "RESTORE assay:x 0 x",
        "RENAME assay:x other",
        "MIGRATE 127.0.0.1 1 assay:x 0 10",
    ],
)
def test_what_none_of_us_needs_is_refused(assay: Redis, command: str) -> None:
    with pytest.raises((NoPermissionError, ResponseError), match="no permissions"):
        assay.execute_command(*re.findall(r"'[^']*'|\S+", command))


@pytest.mark.parametrize("key", ["other", "rq", "assay", "xassay:y", "{assay:}x"])
def test_keys_of_others_are_refused_also_to_scripts(assay: Redis, key: str) -> None:
    for refused in (("GET", key), ("SET", key, "1"), ("DEL", key), ("MGET", "assay:x", key)):
        with pytest.raises(NoPermissionError):
            assay.execute_command(*refused)
    undeclared = assay.register_script("return redis.call('GET', ARGV[1])")
    with pytest.raises((NoPermissionError, ResponseError), match=r"(?i)access|permission"):
        undeclared(args=[key])


def test_channels_of_others_are_refused(assay: Redis) -> None:
    assert assay.publish("rq:pubsub:nobody", "x") == 0
    with pytest.raises(NoPermissionError):
        assay.publish("other", "x")


def test_nobody_gets_in_without_the_password(guarded: Guarded) -> None:
    address = guarded.url.rpartition("@")[2]
    for who in ("", "assay:wrong@", "default:@", ":only-for-tests@"):
        with (
            connect(f"redis://{who}{address}", is_patient=False) as db,
            pytest.raises((AuthenticationError, NoPermissionError)),
        ):
            db.ping()


def test_a_new_password_takes_the_place_of_the_old_one_at_a_restart(tmp_path: Path) -> None:
    with guarded_server(tmp_path, "old") as before, connect(before.url) as db:
        db.set("assay:kept", "yes")
    with guarded_server(tmp_path, "new") as after:
        with connect(after.url) as db:
            assert db.get("assay:kept") == "yes"
        old = after.url.replace(":new@", ":old@")
        with connect(old, is_patient=False) as db, pytest.raises(AuthenticationError):
            db.ping()
    assert "SETUSER" not in (DEPLOY / "operations.md").read_text(encoding="utf-8")
