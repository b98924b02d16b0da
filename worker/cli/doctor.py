"""`assay doctor`: look at everything that Assay rests on, and say what to do about each problem."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

import httpx

from connector.client import connect as connect_label_studio
from connector.errors import ConnectorError, Unreachable
from connector.own import home_folder, own_server
from connector.settings import label_studio_settings, other_servers, secret
from connector.webhook import hook_url
from worker.errors import AssayError
from worker.formats import counted
from worker.notices.outbox import given_up
from worker.service.context import Context
from worker.service.embedded import find_binary
from worker.service.server import check
from worker.store import Header
from worker.store.settings import SECRETS, Settings
from worker.turn.shown import OTHER_DATA, labelling_text
from worker.watcher import HEARTBEAT
from worker.web.serving import RECEIVER

# The oldest that passes the tests of the desk (`make compat`). Before 1.17 there are no personal
# access tokens: a legacy token is needed.
OLDEST_LABEL_STUDIO = (1, 11)
LARGEST_CLOCK_DIFFERENCE_S = 60.0
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `cure` says what to do, or is empty when it is well.

    kind: a problem keeps labels from counting or an assessment from going on, until somebody does
        something. A hint does not: what it is about is not there yet, or something else makes up
        for it.
    """

    what: str
    seen: str
    cure: str = ""
    kind: Literal["ok", "hint", "problem"] = "ok"


def _finding(
    what: str, seen: str, cure: str = "", kind: Literal["hint", "problem"] = "hint"
) -> Finding:
    """One that is well without a cure, and of this kind with one."""
    return Finding(what, seen, cure, kind if cure else "ok")


def examine(settings: Settings, context: Context) -> Iterator[Finding]:
    """Yield findings one by one, the server first."""
    yield _finding("Python", platform.python_version())
    yield _secrets()
    yield from _server(settings, context)
    yield from _label_studios()
    receiver = _receiver(context)
    yield receiver
    yield from _people_of_ours(context, is_heard=receiver.kind == "ok")


def _secrets() -> Finding:
    """Where each secret comes from; never what it is."""
    seen, cures = [], []
    for name in SECRETS:
        try:
            found = secret(name)
        except ConnectorError as error:
            cures.append(str(error))
            continue
        if found is not None:
            is_file = bool(os.environ.get(f"{name}_FILE"))
            seen.append(f"{name} from a {'file' if is_file else 'variable'}")
    return _finding("Secrets", ", ".join(seen) or "none", " ".join(cures), kind="problem")


def _server(settings: Settings, context: Context) -> Iterator[Finding]:
    seen = check(context.state, settings.state_url or context.url)
    where = (
        "ASSAY_STATE_URL"
        if settings.state_url
        else "REDIS_URL"
        if settings.redis_url
        else f"embedded, {find_binary().source}"
    )
    yield _finding("Server", f"{seen['server']} {seen['version']} ({where})")
    yield _finding("Eviction", seen["policy"])
    full = seen["full"]
    yield _finding("Room", "too little" if full else seen["used_memory"], full, kind="problem")
    yield _finding(
        "Persistence",
        "append-only file" if seen["aof"] == "yes" else "no append-only file",
        ""
        if seen["aof"] == "yes"
        else "set `appendonly yes` and `appendfsync everysec`, or a crash of the server loses what "
        "the next sweep must read again from Label Studio (the log of choices cannot be)",
    )


def _label_studios() -> Iterator[Finding]:
    """The server of LABEL_STUDIO_URL, and those that have tokens of their own."""
    try:
        others = other_servers()
    except ConnectorError as error:
        yield _finding("Label Studio", "not usable", str(error), kind="problem")
        return
    if not others or os.environ.get("LABEL_STUDIO_URL"):
        yield from _label_studio(None)
    for url in others:
        yield from _label_studio(url)


def _label_studio(url: str | None) -> Iterator[Finding]:
    from connector.project import look_at_server

    try:
        settings = label_studio_settings(url)
        client = connect_label_studio(settings)
        seen = look_at_server(client, settings.url)
    except ConnectorError as error:
        own = own_server(home_folder()) if isinstance(error, Unreachable) else None
        is_own = own is not None and settings.url == own.url
        cure = " It is Assay's own: `assay up` runs it." if is_own else ""
        yield _finding("Label Studio", "not usable", f"{error}{cure}", kind="problem")
        return
    number = tuple(int(part) for part in seen.version.split(".")[:2] if part.isdigit())
    oldest = ".".join(map(str, OLDEST_LABEL_STUDIO))
    older = f"older than {oldest}, the oldest that Assay was tried with; upgrade it"
    version = f"{seen.version} at {settings.url}, as {seen.user}"
    yield _finding("Label Studio", version, "" if number >= OLDEST_LABEL_STUDIO else older)
    is_personal = settings.token.count(".") == 2
    yield _finding("Token", "personal access token" if is_personal else "legacy token")
    is_far = abs(seen.clock_ahead_s) > LARGEST_CLOCK_DIFFERENCE_S
    yield _finding(
        "Clock",
        f"Label Studio's is {seen.clock_ahead_s:+.0f} s from ours",
        "set both machines' clocks by NTP; only the reports' times suffer" if is_far else "",
    )


def _receiver(context: Context) -> Finding:
    base = cast("str | None", context.state.get(RECEIVER))
    if not base:
        return _finding(
            "Receiver",
            "none",
            "start `assay serve` (or `assay up`) so that labels count at once; without it the "
            "watcher finds them a few seconds later",
        )
    try:
        answered = f"answers {httpx.get(f'{base}/healthz', timeout=5.0).status_code}"
    except httpx.HTTPError as error:
        answered = type(error).__name__
    if answered == "answers 200":
        return _finding("Receiver", f"{base}, reachable from here")
    return _finding(
        "Receiver",
        f"{base}, not reachable from here ({answered})",
        "start `assay serve` again, or give it the address that Label Studio can reach with "
        "--public-url. Label Studio blocks webhooks to private addresses unless it runs with "
        "SSRF_PROTECTION_ENABLED=false",
    )


def _is_any_running(context: Context) -> bool:
    found = context.each(lambda one: context.ledger(one).state().status)
    return any(status == "running" for _, status in found)


def _people_of_ours(context: Context, is_heard: bool) -> Iterator[Finding]:
    from rq import Worker

    workers = Worker.count(connection=context.jobs)
    watching = context.state.exists(HEARTBEAT)
    # With nothing to do it is normal that nobody works; else it stands still, or hears of no label.
    is_needed = not (workers and watching) and _is_any_running(context)
    yield _finding(
        "Workers",
        str(workers),
        "" if workers else "start `assay worker` (or `assay up`)",
        "problem" if is_needed else "hint",
    )
    yield _finding(
        "Watcher",
        "watching" if watching else "none",
        "" if watching else "start `assay watch` (or `assay up`): it finds what webhooks lose",
        "problem" if is_needed and not is_heard else "hint",
    )
    for assessment, seen in context.each(lambda one: _of_assessment(context, one)):
        if isinstance(seen, AssayError):
            yield _finding(f"Assessment {assessment}", "cannot be read", str(seen), kind="problem")
        else:
            yield from seen


def _webhook(header: Header, base: str) -> list[Finding]:
    """Whether the webhook that a receiver set is still there."""
    from connector.project import is_hooked

    receiver = hook_url(base, header.assessment)
    try:
        client = connect_label_studio(label_studio_settings(header.url))
        if is_hooked(client, header.url, header.project, receiver, None):
            return []
    except ConnectorError:
        return []  # of Label Studio itself there is a finding
    cure = "restart `assay serve`, which sets it anew; until then labels are found by polling"
    return [_finding(f"Webhook of {header.assessment}", "it is gone from Label Studio", cure)]


def _of_assessment(context: Context, assessment: str) -> list[Finding]:
    ledger, found = context.ledger(assessment), []
    header = ledger.header()
    metadata = ledger.state().metadata
    if header is not None and (hooked := metadata.get("hooked")):
        found += _webhook(header, hooked.rpartition(" ")[0])
    if error := metadata.get("error", ""):
        found.append(_finding(f"Assessment {assessment}", "its last turn failed", error, "problem"))
    if cure := labelling_text(metadata):
        found.append(
            _finding(f"Labelling of {assessment}", "another configuration", cure, "problem")
        )
    others = [n for n, why in ledger.rejected().items() if why["reason"] == OTHER_DATA]
    if others:
        shown = ", ".join(map(str, sorted(others)[:_SHOWN])) + ", ..." * (len(others) > _SHOWN)
        found.append(
            _finding(
                f"Tasks of {assessment}",
                f"{counted(len(others), 'annotation')} on data that are not the items' ({shown})",
                "somebody changed these tasks' data or item_id in Label Studio; put back what the "
                "predictions file has (`assay status --json` names the items), and they count",
                "problem",
            )
        )
    if failed := metadata.get("report_error", ""):
        found.append(_finding(f"Reports of {assessment}", "the last one failed", failed))
    if lost := given_up(ledger):
        seen = f"{len(lost)} could not be delivered"
        found.append(_finding(f"Notices of {assessment}", seen, f"the last one: {lost[-1].error}"))
    return found
