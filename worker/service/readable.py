"""What is wrong with what is kept of one assessment, told as an error of that one alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from connector.errors import ConnectorError
from worker.errors import AssayError, Unreadable

log = logging.getLogger(__name__)

# What the server says of a key of another type, and of a count that is none or can grow no more.
_DAMAGED = ("WRONGTYPE", "is not an integer", "would overflow")


@contextmanager
def readable(assessment: str) -> Iterator[None]:
    """Whatever is wrong with what is kept of an assessment is an error of that one alone.

    Raises:
        Unreadable: in place of all that nobody expects; the log has where it came from.
        AssayError, ConnectorError, RedisError: as they come; but for what the server says of a key.
    """
    try:
        yield
    except (AssayError, ConnectorError):
        raise
    except RedisError as error:
        if not any(sign in str(error) for sign in _DAMAGED):
            raise
        raise Unreadable(assessment, error) from error
    except Exception as error:
        log.debug("%s cannot be read", assessment, exc_info=True)
        raise Unreadable(assessment, error) from error
