"""The ledger in Valkey or Redis: every step that must be whole is one Lua script.

All keys of an assessment share a hash slot, `assay:{id}:…`, so the state may live on a Cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

from redis import Redis
from redis.exceptions import OutOfMemoryError

from worker.store.changes import Change
from worker.store.contract import AlreadyStarted, Claim, Header, State, Status, Stored
from worker.store.metadata import Metadata, read_metadata
from worker.store.scripts import Scripts, changes_sent, claims_sent
from worker.store.texts import COUNTS, counts_from, state_from, task_from, whole

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


class ValkeyLedger:
    """Keeps one assessment on a server; any number of processes may hold one each."""

    def __init__(self, connection: Redis, assessment: str) -> None:
        """`connection` must return text (`decode_responses=True`)."""
        self.assessment = assessment
        self._db = connection
        self._run = Scripts(connection)

    def _key(self, name: str) -> str:
        return f"assay:{{{self.assessment}}}:{name}"

    def begin(self, header: Header) -> None:
        if not self._run.begin(keys=[self._key("meta")], args=[header.dump()]):
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
        return state_from(*parts)

    def _parts(self, *, transaction: bool) -> list[Any]:
        with self._db.pipeline(transaction=transaction) as pipe:
            pipe.hmget(self._key("meta"), ["status", *COUNTS])
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
            pipe.hget(self._key("notes"), "report_claim")
            meta, decisions, latest, report = pipe.execute()
        return tuple(str(part) for part in (*meta, decisions, sum(map(int, latest)), report))

    def revision(self) -> int:
        # All of them: whoever goes on with one moves the others.
        told = cast("list[str | None]", self._db.hmget(self._key("meta"), list(COUNTS)))
        return counts_from(told)["revision"]

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
            sent = changes_sent(changes[start : start + _CHUNK])
            conflicts += self._run.commit(keys=keys, args=[json.dumps(_EDITED), sent])
        return conflicts

    def claim(self, revision: int, claims: Sequence[Claim]) -> bool:
        if not claims:
            return False
        keys = [self._key(name) for name in ("meta", "items", "open", "taken", "choices")]
        sent = claims_sent(claims)
        return bool(self._run.claim(keys=keys, args=[revision, claims[0].number, sent]))

    def publish(self, revision: int, text: str, *, stops: bool) -> bool:
        keys = [self._key(name) for name in ("meta", "decided", "decision", "decisions")]
        channel = self._key("decisions")
        return bool(self._run.publish(keys=keys, args=[revision, text, int(stops), channel]))

    def decisions(self) -> list[str]:
        entries = cast("list[tuple[str, dict[str, str]]]", self._db.xrange(self._key("decisions")))
        return [fields["decision"] for _, fields in entries]

    def choices(self) -> list[dict[str, Any]]:
        return self._log("choices")

    def changes(self, after: int = 0) -> list[dict[str, Any]]:
        return self._log("log", after)  # every revision is one line

    def _log(self, name: str, first: int = 0) -> list[dict[str, Any]]:
        lines = cast("list[str]", self._db.lrange(self._key(name), first, -1))
        return [json.loads(line) for line in lines]

    def rejected(self) -> dict[int, dict[str, Any]]:
        raw = cast("dict[str, str]", self._db.hgetall(self._key("rejected")))
        return {int(k): json.loads(v) for k, v in raw.items()}

    def every_record(self) -> Iterable[str]:
        for _, text in self._db.hscan_iter(self._key("items"), count=1000):
            yield text

    def move(self, before: Status, after: Status) -> bool:
        return bool(self._run.move(keys=[self._key("meta")], args=[before, after]))

    def set_metadata(self, **facts: Unpack[Metadata]) -> None:
        self._db.hset(self._key("notes"), mapping=cast("dict[Any, Any]", facts))

    def compare_and_set(self, name: str, before: str | int, after: str | int) -> bool:
        keys = [self._key("notes")]
        return bool(self._run.compare_and_set(keys=keys, args=[name, before, after]))

    def advance_cursor(self, cursor_us: int, **facts: Unpack[Metadata]) -> None:
        told: list[Any] = [part for fact in facts.items() for part in fact]
        self._run.cursor(keys=[self._key("notes")], args=[cursor_us, *told])

    def take_lease(self, holder: str, ttl_ms: int) -> bool:
        keys = [self._key("lease"), self._key("meta")]
        return bool(self._run.take_lease(keys=keys, args=[holder, ttl_ms]))

    def keep_lease(self, holder: str, ttl_ms: int) -> bool:
        keys = [self._key("lease"), self._key("meta")]
        return bool(self._run.keep_lease(keys=keys, args=[holder, ttl_ms]))

    def begin_import(self, holder: str, ttl_ms: int, claims: Sequence[int], doubt_ms: int) -> int:
        keys = [self._key("lease"), self._key("meta"), *map(self._doubt_of, claims)]
        return whole("reading", self._run.begin_import(keys=keys, args=[holder, ttl_ms, doubt_ms]))

    def drop_lease(self, holder: str) -> None:
        self._run.drop_lease(keys=[self._key("lease")], args=[holder])

    def release_lease(self, process: str) -> bool:
        return bool(self._run.release_lease(keys=[self._key("lease")], args=[f"{process}-"]))

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
        return bool(self._run.put_notice(keys=keys, args=[notice, text]))

    def notices(self) -> dict[str, str]:
        return cast("dict[str, str]", self._db.hgetall(self._key("notices")))

    def replace_notice(self, notice: str, before: str, after: str) -> bool:
        keys = [self._key("notices")]
        return bool(self._run.replace_notice(keys=keys, args=[notice, before, after]))

    def wakes(self) -> int:
        return whole("wakes", cast("str | None", self._db.hget(self._key("meta"), "wakes")))

    def wake(self) -> int:
        return self._count_on("wakes")

    def _count_on(self, name: str) -> int:
        return whole(name, int(self._db.hincrby(self._key("meta"), name, 1)))
