"""A server whose address Sentinels know: each new connection asks them which one is the master.

A failover ends the connections to the old master (it is gone, or demoted), and the next ones go to
the promoted replica. What that had not heard of is read again from Label Studio.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

SCHEMES = ("redis+sentinel://", "rediss+sentinel://")
SHAPE = "redis+sentinel://user:password@host:26379,other-host:26379/mymaster/0"
PORT = 26379
# The next Sentinel of the list is asked then: one of them may be gone with the master's machine.
PATIENCE_S = 2.0
_OF_SENTINELS = {"sentinel_username": "username", "sentinel_password": "password"}


def connect_by_sentinels(url: str, options: dict[str, Any]) -> Redis:
    """Return a connection to whichever server is the master now.

    Args:
        url: as SHAPE; user and password are the server's. Those of the Sentinels, if they want
            any, stand behind it: `?sentinel_username=…&sentinel_password=…`. With rediss+sentinel://
            servers and Sentinels speak TLS, and their certificates name what Sentinels say.
        options: of each connection to the server.

    Raises:
        ValueError: `url` is not such an address.
    """
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    user, _, password = map(unquote, login.partition(":"))
    master, _, number = parts.path.strip("/").partition("/")
    if not master or not hosts:
        raise ValueError("no name of a master, or no Sentinel")
    secured = {"ssl": True} if parts.scheme == "rediss+sentinel" else {}
    sentinels = Sentinel(  # type: ignore[no-untyped-call]
        [_place(host) for host in hosts.split(",")],
        sentinel_kwargs={
            **secured,
            **_login_of_sentinels(parts.query),
            "socket_timeout": PATIENCE_S,
            "socket_connect_timeout": PATIENCE_S,
            "retry": Retry(NoBackoff(), 0),
        },
    )
    named = {"username": user or None, "password": password or None, "db": int(number or 0)}
    connection: Redis = sentinels.master_for(  # type: ignore[no-untyped-call]
        master, **secured, **named, **options
    )
    return connection


def _login_of_sentinels(query: str) -> dict[str, str]:
    more = parse_qs(query, strict_parsing=bool(query))
    if more.keys() - _OF_SENTINELS.keys():
        raise ValueError("a part that is none")
    return {_OF_SENTINELS[name]: values[-1] for name, values in more.items()}


def _place(host: str) -> tuple[str, int]:
    parts = urlsplit(f"//{host}")
    if not parts.hostname:
        raise ValueError("a Sentinel without a host")
    return parts.hostname, parts.port or PORT
