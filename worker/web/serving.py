"""`assay serve`: receiver and dashboard as one process, which hooks itself to every assessment."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import FrameType
from urllib.parse import quote

import uvicorn
from redis.exceptions import RedisError, ResponseError
from starlette.types import ASGIApp

from connector.client import connect as connect_label_studio
from connector.errors import ConnectorError
from connector.project import hook, is_hooked
from connector.settings import label_studio_settings, webhook_secret
from connector.webhook import hook_url, receiver
from worker.errors import AssayError
from worker.service.connections import BACKLOG, limited
from worker.service.context import Context
from worker.service.counters import count_webhook
from worker.service.logs import write_seldom
from worker.web.app import website
from worker.web.security import Gate, gate
from worker.web.status_cache import StatusCache

# Where the receiver says how Label Studio reaches it.
RECEIVER = "assay:receiver"
# How soon a new assessment gets its webhook.
HOOK_S = 2.0
# How soon one is tried again that could not be set or looked for.
HOOK_AGAIN_S = 300.0
NOT_HOOKED = (
    "Note: no webhook for {assessment} ({error}). Its labels are found by polling, a few "
    "seconds later. Label Studio blocks private addresses unless it runs with "
    "SSRF_PROTECTION_ENABLED=false."
)
# Live pages are let go within a second; who is slower than this is cut off.
GRACE_S = 5


class PortTaken(AssayError):
    """Somebody listens on the receiver's port already."""


def serve(
    context: Context, host: str, port: int, public_url: str | None, say: Callable[[str], None]
) -> bool:
    """Run receiver and dashboard until told to stop; return whether it was by Ctrl-C.

    Args:
        public_url: how Label Studio reaches it; host and port unless it says otherwise.

    Raises:
        PortTaken, MissingSetting.
    """
    secret = webhook_secret()
    guarded_by = gate(host, public_url)
    listener = _listen(host, port)
    here = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    base = public_url or here
    with suppress(ResponseError):  # full: pages can be read meanwhile, and it is told again below
        context.state.set(RECEIVER, base)
    quick = Context(context.settings, context.url, is_patient=False)

    def wake(assessment: str) -> bool:
        is_known = quick.wake(assessment)
        if is_known:
            count_webhook(quick.state, assessment)
        return is_known

    app = website(
        StatusCache(quick), guarded_by, receiver(secret, wake), lambda: server.should_exit
    )
    server = uvicorn.Server(config_of(app))
    write_seldom("uvicorn.error", "asyncio")

    came: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        server.should_exit = True

    # uvicorn raises a signal again once it has ended for it, and by default that would end us
    # before our own end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    say(f"Webhooks are received at {base}")
    say(f"The dashboard is at {_entrance(here, guarded_by)}")
    ended = Event()
    hooking = Thread(target=_keep_hooked, args=(context, base, secret, ended, say))
    hooking.start()
    try:
        server.run(sockets=[listener])
    finally:
        ended.set()
        hooking.join()
        listener.close()
        quick.close()
    return signal.SIGINT in came


def _entrance(here: str, guarded_by: Gate) -> str:
    """The dashboard's address; on a terminal with what signs in. In a log the token must not be."""
    if guarded_by.token is None:
        return f"{here}/"
    if sys.stderr.isatty():
        return f"{here}/login?token={quote(guarded_by.token, safe='')}"
    path = os.environ.get("ASSAY_DASHBOARD_TOKEN_FILE", "")
    return f"{here}/ (its token is {f'in {path}' if path else 'ASSAY_DASHBOARD_TOKEN'})"


def config_of(app: ASGIApp) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app,
        http=limited(),
        ws="none",
        backlog=BACKLOG,
        log_config=None,  # as all of this process's logs
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
    )


def _keep_hooked(
    context: Context, base: str, secret: str, ended: Event, say: Callable[[str], None]
) -> None:
    """Point the webhook of every assessment here, also of those that begin later.

    Those of earlier starts are looked for once: somebody may have deleted them.
    """
    hooked: set[str] = set()
    again: dict[str, float] = {}  # where it failed: when it is tried again

    def keep(assessment: str) -> None:
        now = time.monotonic()
        if ended.is_set() or assessment in hooked or now < again.get(assessment, now):
            return
        try:
            if hook_one(context, assessment, base, secret):
                hooked.add(assessment)
        except ConnectorError as error:
            if assessment not in again:  # the watcher finds its labels
                say(NOT_HOOKED.format(assessment=assessment, error=error))
            again[assessment] = time.monotonic() + HOOK_AGAIN_S

    while not ended.is_set():
        try:
            context.state.set(RECEIVER, base)
            for assessment, seen in context.each(keep):
                if isinstance(seen, AssayError):
                    again[assessment] = time.monotonic() + HOOK_AGAIN_S
        except RedisError:
            pass
        ended.wait(HOOK_S)


def hook_one(context: Context, assessment: str, base: str, secret: str) -> bool:
    """Let Label Studio wake us for an assessment, unless it does; False if it has not begun.

    Raises:
        ConnectorError: Label Studio will not, or is away.
    """
    ledger = context.ledger(assessment)
    header = ledger.header()
    if header is None:
        return False
    # A new secret needs a new hook; the secret itself must not be kept.
    sign = f"{base} {hashlib.sha256(secret.encode()).hexdigest()[:16]}"
    receiver = hook_url(base, assessment)
    client = connect_label_studio(label_studio_settings(header.url))
    is_known = ledger.metadata().get("hooked") == sign
    if is_known and is_hooked(client, header.url, header.project, receiver, secret):
        return True
    hook(client, header.url, header.project, receiver, secret)
    ledger.set_metadata(hooked=sign)
    return True


def port_is_free(host: str, port: int) -> None:
    """Raise PortTaken if the receiver could not listen there."""
    _listen(host, port).close()


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise PortTaken(
            f"The receiver cannot listen on {host}:{port} ({error.strerror}). Another receiver or "
            "another program has the port; stop it, or choose one with --port."
        ) from error
    listener.listen(BACKLOG)
    return listener
