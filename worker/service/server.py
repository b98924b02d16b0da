"""Servers that keep our state: connect to one, and check that judgements are safe in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.cluster import RedisCluster
from redis.exceptions import (
    BusyLoadingError,
    OutOfMemoryError,
    RedisClusterException,
    RedisError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from worker.errors import AssayError
from worker.service import sentinels

OLDEST = (7, 0)
NEARLY_FULL = 0.9
_CLUSTER = ("redis+cluster://", "rediss+cluster://")


class NoServer(AssayError):
    """There is no Valkey or Redis to use."""


class UnfitServer(AssayError):
    """The server is there, but judgements would not be safe in it."""


def connect(url: str, *, text: bool = True, is_patient: bool = True) -> Redis:
    """Return a connection that survives a restart of the server for a few seconds.

    Args:
        url: redis://, rediss:// or unix://; redis+sentinel:// or rediss+sentinel:// and the
            Sentinels that know the server (`sentinels.SHAPE`); for state also redis+cluster:// or
            rediss+cluster:// and any node of a cluster, which is asked at once for the others.
        text: whether answers come as text; RQ needs bytes.
        is_patient: whether to try again when the server is away; the receiver does not, since an
            annotator waits for it.

    Raises:
        NoServer: `url` is not such an address; or it is a cluster's, which does not answer, or
            which RQ is to use: RQ takes from several keys at once, and a cluster spreads them.
    """
    if not url.startswith(("redis://", "rediss://", "unix://", *sentinels.SCHEMES, *_CLUSTER)):
        raise NoServer(
            f"{_without_password(url)!r} is not the address of a server; expected "
            "redis://host:6379/0, rediss://…, unix:///path or "
            "redis+sentinel://host:26379,host:26379/name in REDIS_URL or ASSAY_STATE_URL, or "
            "redis+cluster://host:6379 in ASSAY_STATE_URL."
        )
    options: dict[str, Any] = {
        "decode_responses": text,
        "retry": Retry(ExponentialBackoff(cap=1.0, base=0.05), retries=6 if is_patient else 0),
        "socket_connect_timeout": 5,
        "health_check_interval": 30,
        "driver_info": None,  # CLIENT SETINFO is unknown to Redis 7.0, also as a right in its ACL
    }
    again = [RedisConnectionError, RedisTimeoutError, BusyLoadingError]
    try:
        if url.startswith(_CLUSTER):
            return _connect_cluster(url, options)
        options["retry_on_error"] = again
        if url.startswith(sentinels.SCHEMES):
            return sentinels.connect_by_sentinels(url, options)
        connection: Redis = Redis.from_url(url, **options)
    except ValueError:  # its text may show a part of the password
        raise NoServer(
            f"{_without_password(url)!r} cannot be read as an address; expected "
            f"redis://user:password@host:6379/0 or {sentinels.SHAPE} in REDIS_URL or "
            "ASSAY_STATE_URL, where the characters / # ? @ of a password are written as "
            "%2F %23 %3F %40."
        ) from None
    return connection


class _Cluster(RedisCluster):
    """A cluster that is away says so as a single server does.

    redis-py's errors of clusters are none of its RedisErrors, for which everybody here waits.
    """

    def execute_command(self, *args: Any, **named: Any) -> Any:
        with _as_connection_error():
            return super().execute_command(*args, **named)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> Any:
        pipe = super().pipeline(transaction, shard_hint)  # type: ignore[no-untyped-call]
        execute = pipe.execute

        def execute_or_say(*args: Any, **named: Any) -> Any:
            with _as_connection_error():
                return execute(*args, **named)

        pipe.execute = execute_or_say
        return pipe


@contextmanager
def _as_connection_error() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:
        raise RedisConnectionError(str(error)) from error


def _connect_cluster(url: str, options: dict[str, Any]) -> Redis:
    if not options["decode_responses"]:
        raise NoServer(
            "RQ's jobs cannot lie on a cluster. Let REDIS_URL name a single server, and "
            f"ASSAY_STATE_URL the cluster at {_without_password(url)}."
        )
    try:
        cluster = _Cluster.from_url(url.replace("+cluster", "", 1), **options)
    except (RedisError, RedisClusterException) as error:
        raise NoServer(
            f"The cluster at {_without_password(url)} does not answer as it should "
            f"({type(error).__name__}: {error}). Check ASSAY_STATE_URL and that it is up and whole."
        ) from error
    # It has the methods of a Redis that we call, and no class in common with it.
    return cast(Redis, cluster)


def check(connection: Redis, url: str) -> dict[str, str]:
    """Look whether judgements are safe in a server; return what it says of itself.

    Raises:
        NoServer: it does not answer.
        UnfitServer: too old, or it may throw keys away to make room.
    """
    try:
        infos = _infos(connection)
    except RedisError as error:
        raise NoServer(
            f"The server at {_without_password(url)} does not answer as it should "
            f"({type(error).__name__}: {error}). Check REDIS_URL (or ASSAY_STATE_URL), and "
            "that it runs."
        ) from error
    for info in infos:
        _check_one(info, url, is_cluster=isinstance(connection, RedisCluster))
    info = infos[0]
    return {
        "server": str(info.get("server_name", "redis")),
        "version": str(info.get("valkey_version") or info["redis_version"]),
        "policy": str(info.get("maxmemory_policy", "unknown")),
        "aof": "yes" if all(int(one.get("aof_enabled", 0)) for one in infos) else "no",
        "used_memory": str(info.get("used_memory_human", "?")),
        "full": "; ".join(filter(None, map(_full, infos))),
    }


def why_no_writes(error: RedisError) -> str:
    """Say in a word why a server did not do what it was asked."""
    if isinstance(error, OutOfMemoryError):
        return "its memory is full (maxmemory); give it more, nothing is lost"
    if "MISCONF" in str(error):
        return "it cannot write to its disk, which may be full; nothing is lost"
    return f"away: {type(error).__name__}"


def _full(info: dict[str, Any]) -> str:
    """What a server lacks room for, or nearly; empty if it has some."""
    used, most = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    if most and used > NEARLY_FULL * most:
        return (
            f"uses {info['used_memory_human']} of {info['maxmemory_human']} memory: raise "
            "`maxmemory`, or end and `assay forget` what is over. Full, it takes no label; those "
            "wait in Label Studio"
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return "cannot write to its disk: make room there. Labels wait in Label Studio meanwhile"
    return ""


def _infos(connection: Redis) -> list[dict[str, Any]]:
    """What the server says of itself; of a cluster, every node that takes writes."""
    if not isinstance(connection, RedisCluster):
        return [connection.info()]
    return [connection.info(target_nodes=node) for node in connection.get_primaries()]


def _check_one(info: dict[str, Any], url: str, *, is_cluster: bool) -> None:
    # Not from CONFIG GET: who may read the configuration reads the server's password.
    policy = str(info.get("maxmemory_policy", "unknown"))
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
    if int(info.get("cluster_enabled", 0)) and not is_cluster:
        raise UnfitServer(
            f"The server at {_without_password(url)} is a node of a cluster. Name it as "
            "redis+cluster://host:port in ASSAY_STATE_URL; REDIS_URL must name a single server."
        )


def _without_password(url: str) -> str:
    """The address to show; a password may stand before the last @, or behind a ?."""
    head, at, tail = url.rpartition("@")
    shown = tail.partition("?")[0]
    if "?" in head:  # it is the password's, or what comes before a password
        shown = ""
    return f"{head.partition('://')[0]}://…@{shown}" if at else shown
