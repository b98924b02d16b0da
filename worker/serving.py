"""`assay serve`: the receiver as a process, and the hooks that lead to it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from connector.desk import connect as connect_label_studio
from connector.errors import ConnectorError
from connector.settings import label_studio_settings, webhook_secret
from connector.webhook import receiver
from worker.errors import AssayError
from worker.office import Office
from worker.starting import RECEIVER, add_hook


class PortTaken(AssayError):
    """Somebody listens on the receiver's port already."""


def serve(
    office: Office, host: str, port: int, public_url: str | None, say: Callable[[str], None]
) -> None:
    """Run the receiver until told to stop.

    Args:
        public_url: how Label Studio reaches it; host and port unless it says otherwise.

    Raises:
        PortTaken, MissingSetting.
    """
    secret = webhook_secret()
    listener = _listen(host, port)
    base = public_url or f"http://{host}:{listener.getsockname()[1]}"
    office.state.set(RECEIVER, base)
    hook_all(office, say)
    say(f"Webhooks are received at {base}")
    quick = Office(office.settings, office.url, is_patient=False)
    app = receiver(secret, quick.wake)
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
        quick.close()


def hook_all(office: Office, say: Callable[[str], None]) -> None:
    """Point the webhooks of all assessments here; those that cannot be are left to the watcher."""
    for assessment in office.ids():
        header = office.header(assessment)
        try:
            client = connect_label_studio(label_studio_settings(header.url))
        except ConnectorError as error:
            say(f"Note: {error}")
            continue
        add_hook(office, header, client, say)


def port_is_free(port: int) -> None:
    """Raise PortTaken if the receiver could not listen there."""
    _listen("127.0.0.1", port).close()


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
    listener.listen(128)
    return listener
