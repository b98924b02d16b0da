"""The doctor sees what is wrong, says what to do, and fails only for a problem."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import time

import pytest
from click.testing import CliRunner
from rq import Queue
from rq.serializers import JSONSerializer

from worker.cli.doctor import Finding, examine
from worker.cli.main import cli
from worker.cli.printing import finding_text
from worker.jobs import AssayWorker
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.job_data import QUEUE
from worker.store.settings import Settings
from worker.watcher import HEARTBEAT
from worker.web.serving import RECEIVER

# An address at which nothing listens.
NOWHERE = "http://127.0.0.1:9"

Listen = Callable[..., str]


@pytest.fixture
def listen() -> Iterator[Listen]:
    """Start small web servers that give fixed answers, path -> JSON; all else is 404."""
    with ExitStack() as running:

        def listen_at(answers: dict[str, object], ahead_s: float = 0.0) -> str:
            class Handler(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    path = self.path.split("?")[0].rstrip("/")
                    body = json.dumps(answers.get(path)).encode()
                    self.send_response_only(200 if path in answers else 404)
                    self.send_header("Date", formatdate(time() + ahead_s, usegmt=True))
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

                def log_message(self, *_: object) -> None:
                    """Nobody reads it."""

            web = running.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
            thread = Thread(target=web.serve_forever, args=(0.01,))
            thread.start()
            running.callback(thread.join)
            running.callback(web.shutdown)
            return f"http://127.0.0.1:{web.server_address[1]}"

        yield listen_at


@pytest.fixture
def context(
    valkey_home: Path, valkey_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Context]:
    """A context whose server holds nothing (a database of its own), without Label Studio."""
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    context = Context(Settings(valkey_home, None, None), f"{valkey_url}?db=5")
    context.state.flushdb()
    yield context
    context.state.flushdb()
    context.close()


@pytest.fixture
def label_studio_of(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the environment name a server that talks like a Label Studio of some release."""

    def stand_in(release: str, ahead_s: float = 0.0) -> None:
        me = {"id": 1, "email": "ops@example.com", "username": "ops"}
        answers = {"/api/version": {"release": release}, "/api/current-user/whoami": me}
        monkeypatch.setenv("LABEL_STUDIO_URL", listen(answers, ahead_s))
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0123456789abcdef")

    return stand_in


def found(context: Context) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(context.settings, context)}


# --- the server ----------------------------------------------------------------------------------


def test_the_embedded_server_is_well_and_told_with_version_and_origin(context):
    findings = found(context)
    assert re.search(r"\d+\.\d+.* \(embedded, .+\)", findings["Server"].seen)
    assert findings["Eviction"].seen == "noeviction"
    assert findings["Persistence"].seen == "append-only file"
    assert not any(findings[what].cure for what in ("Python", "Server", "Eviction", "Persistence"))


def test_an_outside_server_is_told_to_come_from_the_environment(context):
    settings = Settings(context.settings.home, context.url, None)
    server = next(f for f in examine(settings, context) if f.what == "Server")
    assert "(REDIS_URL)" in server.seen


def test_a_server_without_an_append_only_file_gets_a_cure(tmp_path):
    with server(tmp_path, None) as url:
        context = Context(Settings(tmp_path, None, None), url)
        context.state.config_set("appendonly", "no")
        persistence = found(context)["Persistence"]
        context.close()
    assert persistence.seen == "no append-only file"
    assert "`appendonly yes`" in persistence.cure


# --- Label Studio --------------------------------------------------------------------------------


def test_without_label_studio_that_alone_is_a_problem_and_the_rest_is_still_looked_at(context):
    findings = found(context)
    assert [what for what, one in findings.items() if one.kind == "problem"] == ["Label Studio"]
    assert "LABEL_STUDIO_URL is not set" in findings["Label Studio"].cure
    assert {"Receiver", "Workers", "Watcher"} <= findings.keys()


def test_a_label_studio_that_does_not_answer_is_a_problem(context, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_URL", NOWHERE)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0123456789abcdef")
    finding = found(context)["Label Studio"]
    assert finding.kind == "problem"
    assert f"{NOWHERE} did not answer" in finding.cure


def test_something_else_at_the_address_is_a_problem(context, listen, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_URL", listen({}))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0123456789abcdef")
    finding = found(context)["Label Studio"]
    assert finding.kind == "problem"
    assert "not Label Studio's JSON" in finding.cure


def test_a_label_studio_that_is_well_is_told_with_version_user_token_and_clock(
    context, label_studio_of
):
    label_studio_of("1.23.2")
    findings = found(context)
    assert findings["Label Studio"].seen.startswith("1.23.2 at http://127.0.0.1:")
    assert findings["Label Studio"].seen.endswith("as ops@example.com")
    assert findings["Token"].seen == "legacy token"
    assert not any(findings[what].cure for what in ("Label Studio", "Token", "Clock"))


def test_an_old_label_studio_is_to_be_upgraded_but_no_problem(context, label_studio_of):
    label_studio_of("1.9.2")
    finding = found(context)["Label Studio"]
    assert "upgrade it" in finding.cure
    assert finding.kind == "hint"


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
def test_a_clock_that_is_an_hour_off_is_told_with_its_sign(context, label_studio_of, ahead_s):
    label_studio_of("1.23.2", ahead_s)
    clock = found(context)["Clock"]
    told = re.search(r"([+-]\d+) s", clock.seen)
    assert told is not None
    assert float(told[1]) == pytest.approx(ahead_s, abs=30)
    assert "NTP" in clock.cure


# --- our own processes ---------------------------------------------------------------------------


def test_nobody_at_work_is_told_with_the_command_that_starts_each(context):
    findings = found(context)
    assert "assay serve" in findings["Receiver"].cure
    assert "assay worker" in findings["Workers"].cure
    assert "assay watch" in findings["Watcher"].cure


def test_a_receiver_that_answers_is_well(context, listen):
    context.state.set(RECEIVER, listen({"/healthz": {"status": "up"}}))
    receiver = found(context)["Receiver"]
    assert receiver.seen.endswith("reachable from here")
    assert receiver.cure == ""


def test_a_receiver_that_is_gone_or_another_program_gets_a_cure(context, listen):
    for base, answer in ((NOWHERE, "ConnectError"), (listen({}), "answers 404")):
        context.state.set(RECEIVER, base)
        receiver = found(context)["Receiver"]
        assert f"not reachable from here ({answer})" in receiver.seen
        assert "--public-url" in receiver.cure


def test_a_worker_and_a_watcher_at_work_are_seen(context):
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    worker = AssayWorker([queue], connection=context.jobs, serializer=JSONSerializer)
    worker.register_birth()
    context.state.set(HEARTBEAT, 1, ex=60)
    findings = found(context)
    worker.register_death()

    assert (findings["Workers"].seen, findings["Workers"].cure) == ("1", "")
    assert (findings["Watcher"].seen, findings["Watcher"].cure) == ("watching", "")


def test_nobody_at_work_is_a_problem_only_where_an_assessment_would_stand_still(context, listen):
    assert {found(context)[what].kind for what in ("Receiver", "Workers", "Watcher")} == {"hint"}

    context.enter("mine")
    context.state.hset("assay:{mine}:meta", mapping={"status": "running"})
    findings = found(context)
    assert findings["Workers"].kind == "problem"
    assert findings["Watcher"].kind == "problem", "nobody hears of a label"

    context.state.set(RECEIVER, listen({"/healthz": {"status": "up"}}))
    assert found(context)["Watcher"].kind == "hint", "webhooks tell of labels"


def test_an_assessment_whose_last_turn_failed_is_named_with_the_error(context):
    context.enter("mine")
    context.enter("other")
    context.ledger("mine").set_metadata(error="Unreachable: it did not answer")
    findings = found(context)
    assert findings["Assessment mine"].cure == "Unreachable: it did not answer"
    assert findings["Assessment mine"].kind == "problem"
    assert "Assessment other" not in findings


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def doctor(context: Context, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Run the command on the context's server; its exit code and what it printed."""
    monkeypatch.setenv("ASSAY_HOME", str(context.settings.home))
    monkeypatch.setenv("REDIS_URL", context.url)

    def run(*options: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, ["doctor", *options])
        return result.exit_code, result.stdout

    return run


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_fails_when_label_studio_is_not_usable(doctor, options):
    code, _ = doctor(*options)
    assert code == 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_succeeds_when_only_our_processes_are_missing(doctor, label_studio_of, options):
    label_studio_of("1.23.2")
    code, _ = doctor(*options)
    assert code == 0


def test_the_command_marks_what_needs_a_cure_and_puts_it_below(doctor):
    _, text = doctor()
    assert "ok Eviction: noeviction\n" in text
    assert "Problem: Label Studio: not usable\n   -> LABEL_STUDIO_URL is not set" in text
    assert max(map(len, text.splitlines())) <= 100


def test_what_is_well_comes_first_then_hints_then_problems_and_how_many(doctor):
    _, text = doctor()
    marks = [line.split()[0] for line in text.splitlines() if not line.startswith("   ")]
    order = ["ok", "Hint:", "Problem:", "1"]
    assert list(dict.fromkeys(marks)) == order
    assert text.splitlines()[-1] == "1 problem, 3 hints."


def test_scripts_get_every_finding_in_one_document(doctor):
    _, text = doctor("--json")
    findings = json.loads(text)
    assert all(finding.keys() == {"what", "seen", "cure", "kind"} for finding in findings)
    kinds = {finding["what"]: finding["kind"] for finding in findings}
    assert (kinds["Server"], kinds["Label Studio"], kinds["Receiver"]) == ("ok", "problem", "hint")


def test_a_finding_without_a_cure_is_one_line():
    assert finding_text(Finding("Server", "valkey 9")) == "ok Server: valkey 9"
