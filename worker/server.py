"""Servers that keep our state: connect to one, and check that judgements are safe in it."""

from __future__ import annotations

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from worker.errors import AssayError

OLDEST = (7, 0)


class NoServer(AssayError):
    """There is no Valkey or Redis to use."""


class UnfitServer(AssayError):
    """The server is there, but judgements would not be safe in it."""


def connect(url: str, *, text: bool = True, is_patient: bool = True) -> Redis:
    """Return a connection that survives a restart of the server for a few seconds.

    Args:
        url: redis://, rediss:// or unix://.
        text: whether answers come as text; RQ needs bytes.
        is_patient: whether to try again when the server is away; the receiver does not, since an
            annotator waits for it.

    Raises:
        NoServer: `url` is not such an address.
    """
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise NoServer(
            f"{_without_password(url)!r} is not the address of a server; expected "
            "redis://host:6379/0, rediss://… or unix:///path in REDIS_URL or ASSAY_STATE_URL."
        )
    retry = Retry(ExponentialBackoff(cap=1.0, base=0.05), retries=6 if is_patient else 0)
    connection: Redis = Redis.from_url(
        url,
        decode_responses=text,
        retry=retry,
        retry_on_error=[RedisConnectionError, RedisTimeoutError, BusyLoadingError],
        socket_connect_timeout=5,
        health_check_interval=30,
    )
    return connection


def check(connection: Redis, url: str) -> dict[str, str]:
    """Look whether judgements are safe in a server; return what it says of itself.

    Raises:
        NoServer: it does not answer.
        UnfitServer: too old, or it may throw keys away to make room.
    """
    try:
        info = connection.info()
        policy = str(connection.config_get("maxmemory-policy").get("maxmemory-policy", "unknown"))
    except RedisError as error:
        raise NoServer(
            f"The server at {_without_password(url)} does not answer as it should "
            f"({type(error).__name__}: {error}). Check REDIS_URL and that it runs."
        ) from error
    version = str(info.get("valkey_version") or info["redis_version"])
    number = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if number < OLDEST:
        raise UnfitServer(
            f"The server at {_without_password(url)} is version {version}; Assay needs Redis 7 or "
            "newer, or Valkey. Upgrade it, or leave REDIS_URL unset to use the embedded one."
        )
    if policy not in ("noeviction", "unknown"):
        raise UnfitServer(
            f"The server at {_without_password(url)} may evict keys (maxmemory-policy {policy}): "
            "judgements could vanish. Set `maxmemory-policy noeviction` there, or use another one."
        )
    return {
        "server": str(info.get("server_name", "redis")),
        "version": version,
        "policy": policy,
        "aof": "yes" if int(info.get("aof_enabled", 0)) else "no",
        "used_memory": str(info.get("used_memory_human", "?")),
    }


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://…@{tail}" if at else url
