"""The ledger in Valkey or Redis: every step that must be whole is one Lua script.

All keys of an assessment share a hash slot, `assay:{id}:…`, so the state may live on a Cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Unpack, cast

from redis import Redis
from redis.exceptions import OutOfMemoryError

from worker.store.changes import Change, open_note
from worker.store.contract import (
    AlreadyStarted,
    Claim,
    Header,
    State,
    Status,
    Stored,
)
from worker.store.metadata import Metadata, read_metadata
from worker.store.records import Record, dump
from worker.store.texts import all_whole, choice_text, task_from, unsettled_from, whole

# What counts in `meta`.
_COUNTS = ("revision", "claims", "reading", "wakes")

# Hashes that an edit of a record may name.
_EDITED = ("tally", "open", "tasks", "authors", "rejected", "notes")

# Records of a chunk are sent in one script call: large enough to amortise the round trip, small
# enough not to hold up other clients (about 30 ms).
_CHUNK = 500


def keys_of(db: Redis, assessment: str) -> list[str]:
    """All keys of an assessment that are there, whatever its id is, sorted."""
    prefix = f"assay:{{{assessment}}}:"
    pattern = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in prefix)
    return sorted(cast("list[str]", list(db.scan_iter(match=f"{pattern}*"))))


def _counts(told: Sequence[str | None]) -> dict[str, int]:
    return {name: whole(name, text) for name, text in zip(_COUNTS, told, strict=True)}


@cache  # every ledger asks for all of them
def _script(name: str) -> str:
    return files("worker.store").joinpath(f"{name}.lua").read_text(encoding="utf-8")


class ValkeyLedger:
    """Keeps one assessment on a server; any number of processes may hold one each."""

    def __init__(self, connection: Redis, assessment: str) -> None:
        """`connection` must return text (`decode_responses=True`)."""
        self.assessment = assessment
        self._db = connection
        self._commit = connection.register_script(_script("commit"))
        self._claim = connection.register_script(_script("claim"))
        self._publish = connection.register_script(_script("publish"))
        self._take = connection.register_script(_script("take_lease"))
        self._keep = connection.register_script(_script("keep_lease"))
        self._import = connection.register_script(_script("begin_import"))
        self._drop = connection.register_script(_script("drop_lease"))
        self._release = connection.register_script(_script("release_lease"))
        self._begin = connection.register_script(_script("begin"))
        self._move = connection.register_script(_script("move"))
        self._cursor = connection.register_script(_script("cursor"))
        self._swap = connection.register_script(_script("compare_and_set"))
        self._notice = connection.register_script(_script("put_notice"))
        self._replace = connection.register_script(_script("replace_notice"))

    def _key(self, name: str) -> str:
        return f"assay:{{{self.assessment}}}:{name}"

    def begin(self, header: Header) -> None:
        if not self._begin(keys=[self._key("meta")], args=[header.dump()]):
            raise AlreadyStarted(f"{self.assessment} was started already")

    def header(self) -> Header | None:
        text = cast("str | None", self._db.hget(self._key("meta"), "header"))
        return None if text is None else Header.load(text)

    def state(self) -> State:
        try:
            parts = self._parts(transaction=True)
        except OutOfMemoryError:
            # A full Redis 7 takes no transaction, even of reads; nor any claim or decision that
            # could rest on a picture of two moments.
            parts = self._parts(transaction=False)
        (status, *told), tally, taken, unsettled, authors, metadata, n_rejected = parts
        counts = _counts(told)
        return State(
            status=cast(Status, status or "starting"),
            revision=counts["revision"],
            claims=counts["claims"],
            tally=all_whole("the tally of", tally),
            taken={int(k): n for k, n in all_whole("what is taken of cell", taken).items()},
            unsettled={k: unsettled_from(k, v) for k, v in unsettled.items()},
            authors={k: int(v) for k, v in authors.items()},
            n_rejected=n_rejected,
            metadata=read_metadata(metadata),
        )

    def _parts(self, *, transaction: bool) -> list[Any]:
        with self._db.pipeline(transaction=transaction) as pipe:
            pipe.hmget(self._key("meta"), ["status", *_COUNTS])
            for name in ("tally", "taken", "open", "authors", "notes"):
                pipe.hgetall(self._key(name))
            pipe.hlen(self._key("rejected"))
            return list(pipe.execute())

    def glance(self) -> tuple[str, ...]:
        """What every change that a status shows moves: cheap to read, and only to be compared."""
        with self._db.pipeline(transaction=False) as pipe:
            pipe.hmget(self._key("meta"), ["status", "revision", "claims"])
            pipe.xlen(self._key("decisions"))
            pipe.hvals(self._key("authors"))  # a vote may leave the outcome, and so the revision
            meta, decisions, latest = pipe.execute()
        return tuple(str(part) for part in (*meta, decisions, sum(map(int, latest))))

    def revision(self) -> int:
        # All of them: whoever goes on with one moves the others.
        told = cast("list[str | None]", self._db.hmget(self._key("meta"), list(_COUNTS)))
        return _counts(told)["revision"]

    def metadata(self) -> Metadata:
        return read_metadata(cast("dict[str, str]", self._db.hgetall(self._key("notes"))))

    def next_reading(self) -> int:
        return self._count_on("reading")

    def records(self, items: Sequence[str]) -> dict[str, str]:
        return self.known((), items)[1]

    def tasks(self) -> dict[int, tuple[int, int, int, str]]:
        raw = cast("dict[str, str]", self._db.hgetall(self._key("tasks")))
        return {int(k): task_from(v) for k, v in raw.items()}

    def items_of(self, tasks: Sequence[int]) -> dict[int, str]:
        return self.known(tasks, ())[0]

    def known(self, tasks: Sequence[int], items: Sequence[str]) -> Stored:
        with self._db.pipeline(transaction=False) as pipe:
            pipe.hgetall(self._key("notes"))
            if tasks:
                pipe.hmget(self._key("tasks"), [str(task) for task in tasks])
            if items:
                pipe.hmget(self._key("items"), list(items))
            metadata, *found = pipe.execute()
        briefs, texts = found.pop(0) if tasks else (), found.pop(0) if items else ()
        owners = {t: task_from(v)[3] for t, v in zip(tasks, briefs, strict=True) if v is not None}
        records = {i: text for i, text in zip(items, texts, strict=True) if text is not None}
        return owners, records, read_metadata(metadata)

    def mark_foreign(self, tasks: Mapping[int, str]) -> None:
        if tasks:
            briefs: dict[Any, Any] = {str(task): brief for task, brief in tasks.items()}
            self._db.hset(self._key("tasks"), mapping=briefs)

    def forget_foreign(self, tasks: Sequence[int]) -> None:
        if tasks:
            self._db.hdel(self._key("tasks"), *(str(task) for task in tasks))

    def commit(self, changes: Sequence[Change]) -> list[str]:
        keys = [self._key(name) for name in ("items", "meta", "log", *_EDITED)]
        conflicts: list[str] = []
        for start in range(0, len(changes), _CHUNK):
            sent = [
                [
                    c.item,
                    c.before,
                    c.after,
                    [[e.verb, e.hash, e.key, e.value] for e in c.edits],
                    c.note,
                ]
                for c in changes[start : start + _CHUNK]
            ]
            conflicts += self._commit(keys=keys, args=[json.dumps(_EDITED), json.dumps(sent)])
        return conflicts

    def claim(self, revision: int, claims: Sequence[Claim]) -> bool:
        if not claims:
            return False
        sent = []
        for claim in claims:
            record = Record(claim.item, claim.number, claim.row, claim.cell, claim.predicted)
            note = open_note(record, "intended")
            sent.append([claim.item, str(claim.cell), dump(record), note, choice_text(claim)])
        keys = [self._key(name) for name in ("meta", "items", "open", "taken", "choices")]
        return bool(self._claim(keys=keys, args=[revision, claims[0].number, json.dumps(sent)]))

    def publish(self, revision: int, text: str, *, stops: bool) -> bool:
        keys = [self._key(name) for name in ("meta", "decided", "decision", "decisions")]
        channel = self._key("decisions")
        return bool(self._publish(keys=keys, args=[revision, text, int(stops), channel]))

    def decisions(self) -> list[str]:
        entries = cast("list[tuple[str, dict[str, str]]]", self._db.xrange(self._key("decisions")))
        return [fields["decision"] for _, fields in entries]

    def choices(self) -> list[dict[str, Any]]:
        return self._log("choices")

    def changes(self) -> list[dict[str, Any]]:
        return self._log("log")

    def _log(self, name: str) -> list[dict[str, Any]]:
        lines = cast("list[str]", self._db.lrange(self._key(name), 0, -1))
        return [json.loads(line) for line in lines]

    def rejected(self) -> dict[int, dict[str, Any]]:
        raw = cast("dict[str, str]", self._db.hgetall(self._key("rejected")))
        return {int(k): json.loads(v) for k, v in raw.items()}

    def every_record(self) -> Iterable[str]:
        for _, text in self._db.hscan_iter(self._key("items"), count=1000):
            yield text

    def move(self, before: Status, after: Status) -> bool:
        return bool(self._move(keys=[self._key("meta")], args=[before, after]))

    def set_metadata(self, **facts: Unpack[Metadata]) -> None:
        self._db.hset(self._key("notes"), mapping=cast("dict[Any, Any]", facts))

    def compare_and_set(self, name: str, before: str | int, after: str | int) -> bool:
        return bool(self._swap(keys=[self._key("notes")], args=[name, before, after]))

    def advance_cursor(self, cursor_us: int, **facts: Unpack[Metadata]) -> None:
        told: list[Any] = [part for fact in facts.items() for part in fact]
        self._cursor(keys=[self._key("notes")], args=[cursor_us, *told])

    def take_lease(self, holder: str, ttl_ms: int) -> bool:
        keys = [self._key("lease"), self._key("meta")]
        return bool(self._take(keys=keys, args=[holder, ttl_ms]))

    def keep_lease(self, holder: str, ttl_ms: int) -> bool:
        keys = [self._key("lease"), self._key("meta")]
        return bool(self._keep(keys=keys, args=[holder, ttl_ms]))

    def begin_import(self, holder: str, ttl_ms: int, claims: Sequence[int], doubt_ms: int) -> int:
        keys = [self._key("lease"), self._key("meta"), *map(self._doubt_of, claims)]
        return whole("reading", self._import(keys=keys, args=[holder, ttl_ms, doubt_ms]))

    def drop_lease(self, holder: str) -> None:
        self._drop(keys=[self._key("lease")], args=[holder])

    def release_lease(self, process: str) -> bool:
        return bool(self._release(keys=[self._key("lease")], args=[f"{process}-"]))

    def doubt(self, claims: Sequence[int], ttl_ms: int) -> None:
        doubts = [self._doubt_of(claim) for claim in claims]
        if ttl_ms <= 0:
            self._db.delete(*doubts)
            return
        with self._db.pipeline(transaction=False) as pipe:
            for key in doubts:
                pipe.set(key, 1, px=ttl_ms)
            pipe.execute()

    def in_doubt(self, claims: Sequence[int]) -> frozenset[int]:
        with self._db.pipeline(transaction=False) as pipe:
            for claim in claims:
                pipe.exists(self._doubt_of(claim))
            return frozenset(c for c, is_so in zip(claims, pipe.execute(), strict=True) if is_so)

    def _doubt_of(self, claim: int) -> str:
        """A key each, so that the server's clock tells its end: those of workers may be wrong."""
        return self._key(f"doubt:{claim}")

    def put_notice(self, notice: str, text: str) -> bool:
        keys = [self._key("noticed"), self._key("notices")]
        return bool(self._notice(keys=keys, args=[notice, text]))

    def notices(self) -> dict[str, str]:
        return cast("dict[str, str]", self._db.hgetall(self._key("notices")))

    def replace_notice(self, notice: str, before: str, after: str) -> bool:
        return bool(self._replace(keys=[self._key("notices")], args=[notice, before, after]))

    def wakes(self) -> int:
        return whole("wakes", cast("str | None", self._db.hget(self._key("meta"), "wakes")))

    def wake(self) -> int:
        return self._count_on("wakes")

    def _count_on(self, name: str) -> int:
        return whole(name, int(self._db.hincrby(self._key("meta"), name, 1)))
