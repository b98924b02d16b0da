"""The commands that go on until they are told to end: worker, watcher, receiver, the demo."""

from __future__ import annotations

import os
import signal
from threading import Event
from types import FrameType

import click

from connector.settings import is_address
from worker.cli.ending import ended_by_signals
from worker.cli.ends import leave
from worker.cli.parts import LOGS, context_here, say
from worker.store.settings import ONE_THREAD

PORT = click.IntRange(0, 65535)
SECONDS = click.FloatRange(min=0.05)


def _stop_event() -> tuple[Event, list[int]]:
    """Set by Ctrl-C and by SIGTERM; and which of them came."""
    stop, came = Event(), list[int]()

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return stop, came


@click.command()
@click.option("--burst", is_flag=True, help="End when no job is left.")
@LOGS
def worker(burst: bool) -> None:
    """Take turns of the loop as they are asked for (run as many as you like)."""
    for name, one in ONE_THREAD.items():
        os.environ.setdefault(name, one)
    from worker.jobs import work

    with context_here() as context:
        is_interrupted = work(context, burst=burst)
    leave(is_whole=not is_interrupted)


@click.command()
@click.option(
    "--every", type=SECONDS, default=3.0, show_default=True, help="Seconds between two rounds."
)
@LOGS
def watch(every: float) -> None:
    """Ask for a turn of every assessment every few seconds: the truth, webhooks or not."""
    from worker.watcher import watch as keep_watch

    with context_here() as context:
        stop, came = _stop_event()  # until here Ctrl-C ends it at once, as it may end the server
        keep_watch(context, every, stop)
    leave(is_whole=signal.SIGINT not in came)


HOST = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Any but a loopback one needs ASSAY_DASHBOARD_TOKEN.",
)


def _checked_url(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    if url is not None and not is_address(url):
        raise click.BadParameter(
            f"{url!r} is no address; expected http://host:port or https://host."
        )
    return url


PUBLIC_URL = click.option(
    "--public-url",
    callback=_checked_url,
    help="How Label Studio and people reach it, if not by host and port. "
    "Any but a loopback one needs ASSAY_DASHBOARD_TOKEN.",
)


@click.command()
@HOST
@click.option("--port", type=PORT, default=8765, show_default=True, help="0: any free one.")
@PUBLIC_URL
@LOGS
def serve(host: str, port: int, public_url: str | None) -> None:
    """Receive Label Studio's webhooks, and show the dashboard, /metrics and /readyz."""
    from worker.web.serving import serve as receive

    with context_here() as context:
        is_interrupted = receive(context, host, port, public_url, say)
    leave(is_whole=not is_interrupted)


@click.command()
@click.option("--by-hand", is_flag=True, help="You label in the browser, nobody else does.")
@click.option("--keep", is_flag=True, help="Leave the servers up at the end, until Ctrl-C.")
def demo(by_hand: bool, keep: bool) -> None:
    """Assess a weak digit classifier with a real Label Studio and two scripted annotators."""
    from worker.cli.demo import run

    with ended_by_signals() as stop:
        run(by_hand=by_hand, keep=keep, stop=stop)
