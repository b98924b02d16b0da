"""Sessions that were ended before their time; every receiver knows them.

A session is its cookie, signed, and nothing is kept of it. So one that somebody copied before its
owner signed out would be good until its time is over.
"""

from __future__ import annotations

from redis import Redis
from redis.exceptions import RedisError

from worker.web.security import SESSION_S


class SignedOut:
    """The sessions that ended, for as long as they would have lasted."""

    def __init__(self, state: Redis) -> None:
        self._state = state

    def add(self, session: str) -> None:
        """End a session.

        Raises:
            RedisError: it could not be kept.
        """
        self._state.set(_key(session), 1, ex=SESSION_S)

    def has(self, session: str) -> bool:
        """Whether a session ended; where that cannot be asked, nothing else can be done either."""
        try:
            return bool(self._state.exists(_key(session)))
        except RedisError:
            return False


def _key(session: str) -> str:
    return f"assay:signed-out:{session}"
