"""How a command ends that does not end well: one message, or one JSON object, and an exit code."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

from connector.errors import ConnectorError
from worker.cli.parts import complain
from worker.errors import AssayError

INTERRUPTED = 130  # 128 + SIGINT, as a shell has it

_pressed: list[int] = []  # Ctrl-C, in this command


@contextmanager
def told_in(args: Sequence[str]) -> Iterator[None]:
    """Say why the command within failed, and exit.

    Args:
        args: what was given. With `--json` the reason is a JSON object with `error` on standard
            output, where a script reads the result.
    """
    before = signal.getsignal(signal.SIGINT)
    _pressed.clear()
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)
    try:
        yield
    except click.Abort as error:
        # Of click's own: Ctrl-C, also at a prompt; no answer to a prompt; or the answer no.
        if isinstance(error.__context__, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        _end("without a yes nothing is changed.", 1, args)
    except click.UsageError as error:
        if not args:  # the help of all commands
            error.show()
            sys.exit(error.exit_code)
        if error.ctx is not None and "--json" not in args:
            more = f"Try `{error.ctx.command_path} --help`."
            click.echo(f"{error.ctx.get_usage()}\n{more}\n", err=True)
        _end(error.format_message(), error.exit_code, args)
    except click.ClickException as error:
        _end(error.format_message(), error.exit_code, args)
    except (AssayError, ConnectorError) as error:
        _end(str(error), 1, args)
    except OSError as error:
        # Only what names a file is about what was asked for; anything else is ours.
        if error.filename is None:
            raise
        _end(f"{error.filename}: {error.strerror}.", 1, args)
    except Exception as error:
        from redis.exceptions import RedisError

        if _pressed:
            sys.exit(INTERRUPTED)
        if not isinstance(error, RedisError):
            raise
        _end(
            f"the server that keeps the state failed ({type(error).__name__}: {error}). "
            "Check that it runs and has memory and disk left; `assay doctor` looks at it.",
            1,
            args,
        )
    finally:
        if signal.getsignal(signal.SIGINT) is _note:
            signal.signal(signal.SIGINT, before)


def _note(number: int, frame: FrameType | None) -> None:
    """Libraries that call us from other languages make other errors of what is raised for it."""
    _pressed.append(number)
    signal.default_int_handler(number, frame)


def leave(*, is_whole: bool) -> None:
    """Exit after a result; one that Ctrl-C cut short is not what was asked for."""
    sys.exit(0 if is_whole else INTERRUPTED)


def _end(text: str, code: int, args: Sequence[str]) -> None:
    if _pressed:
        sys.exit(INTERRUPTED)
    if "--json" in args:
        click.echo(json.dumps({"error": text}, ensure_ascii=False))
    else:
        complain(text)
    sys.exit(code)
