"""Foreign errors become ours here, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from connector.errors import (
    InDoubt,
    NotFound,
    NotLabelStudio,
    Refused,
    Rejected,
    ServerTrouble,
    Unreachable,
)

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
# What a proxy answers when it gave up waiting: the request is perhaps still at work behind it.
_GAVE_UP = (408, 504, 524)
# What it answers when it has nobody behind it, or lost them in the middle of the request.
_CUT = (502, 503, 520)


@contextmanager
def label_studio_errors(url: str, what: str, *, writes: bool = False) -> Iterator[None]:
    """Turn every error of the SDK and of httpx into one of `connector.errors`.

    Args:
        url: the address, for the message.
        what: what was asked for, e.g. "project 12".
        writes: the request changes something, so that a lost answer leaves it in doubt.
    """
    from label_studio_sdk.core.api_error import ApiError  # takes a second, which few commands need

    try:
        yield
    except ApiError as error:
        if writes and error.status_code in (*_GAVE_UP, *_CUT):
            why = f"{error.status_code}: {_head(error.body)}"
            raise InDoubt(url, why, is_slow=error.status_code in _GAVE_UP) from error
        raise _from_answer(url, what, error.status_code, error.body) from error
    except _NEVER_SENT as error:  # so nothing is in doubt
        raise Unreachable(url, _reason(error)) from error
    except httpx.HTTPError as error:
        if writes:
            is_slow = isinstance(error, httpx.TimeoutException)
            raise InDoubt(url, _reason(error), is_slow=is_slow) from error
        raise Unreachable(url, _reason(error)) from error
    except (TypeError, ValueError) as error:
        # Not JSON; or JSON of another kind than the SDK builds its objects from.
        raise NotLabelStudio(url, None, str(error)[:120]) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")[:200]


def _head(body: object) -> str:
    return json.dumps(body)[:300] if isinstance(body, dict | list) else str(body or "")[:120]


def _from_answer(url: str, what: str, status: int | None, body: object) -> Exception:
    is_json = isinstance(body, dict | list)
    head = _head(body)
    detail = str(body.get("detail", head)) if isinstance(body, dict) else head
    if status is None:
        return NotLabelStudio(url, status, head)
    if status in (401, 403):
        return Refused(url, status, detail)
    if status >= 500:
        return ServerTrouble(url, status, head)
    if not is_json:
        return NotLabelStudio(url, status, head)
    if status == 404:
        return NotFound(url, what)
    if isinstance(body, dict) and body.get("validation_errors"):
        detail = f"{detail} {json.dumps(body['validation_errors'])}"
    return Rejected(url, status, detail[:500])
