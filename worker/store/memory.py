"""The ledger in memory: the twin that tests, replays and simulations use."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from worker.store.changes import Change, Edit, open_note
from worker.store.contract import AlreadyStarted, Claim, Header, State, Status, Stored
from worker.store.memory_lease import MemoryLease
from worker.store.metadata import Metadata, read_metadata
from worker.store.records import Record, dump
from worker.store.texts import choice_text, task_from, unsettled_from


class MemoryLedger:
    """Keeps one assessment in plain dictionaries; safe to share between threads."""

    def __init__(self, assessment: str) -> None:
        self.assessment = assessment
        self._lock = threading.RLock()
        self._header: str | None = None
        self._hashes: dict[str, dict[str, str]] = defaultdict(dict)
        self._items: dict[str, str] = {}
        self._choices: list[str] = []
        self._changes: list[str] = []
        self._decisions: list[str] = []
        self._decided: set[int] = set()
        self._noticed: set[str] = set()
        self._status: Status = "starting"
        self._revision = self._claims = self._reading = self._wakes = 0
        self._lease = MemoryLease()

    def begin(self, header: Header) -> None:
        with self._lock:
            if self._header is not None:
                raise AlreadyStarted(f"{self.assessment} was started already")
            self._header = header.dump()
            self._status = "running"

    def header(self) -> Header | None:
        return None if self._header is None else Header.load(self._header)

    def state(self) -> State:
        with self._lock:
            return State(
                status=self._status,
                revision=self._revision,
                claims=self._claims,
                tally={k: int(v) for k, v in self._hashes["tally"].items()},
                taken={int(k): int(v) for k, v in self._hashes["taken"].items()},
                unsettled={k: unsettled_from(k, v) for k, v in self._hashes["open"].items()},
                authors={k: int(v) for k, v in self._hashes["authors"].items()},
                n_rejected=len(self._hashes["rejected"]),
                metadata=read_metadata(self._hashes["notes"]),
            )

    def revision(self) -> int:
        return self._revision

    def metadata(self) -> Metadata:
        with self._lock:
            return read_metadata(self._hashes["notes"])

    def next_reading(self) -> int:
        with self._lock:
            self._reading += 1
            return self._reading

    def records(self, items: Sequence[str]) -> dict[str, str]:
        with self._lock:
            return {item: self._items[item] for item in items if item in self._items}

    def tasks(self) -> dict[int, tuple[int, int, int, str]]:
        with self._lock:
            return {int(k): task_from(v) for k, v in self._hashes["tasks"].items()}

    def items_of(self, tasks: Sequence[int]) -> dict[int, str]:
        known = self.tasks()
        return {task: known[task][3] for task in tasks if task in known}

    def known(self, tasks: Sequence[int], items: Sequence[str]) -> Stored:
        return self.items_of(tasks), self.records(items), self.metadata()

    def mark_foreign(self, tasks: Mapping[int, str]) -> None:
        with self._lock:
            self._hashes["tasks"].update({str(task): brief for task, brief in tasks.items()})

    def forget_foreign(self, tasks: Sequence[int]) -> None:
        with self._lock:
            for task in tasks:
                self._hashes["tasks"].pop(str(task), None)

    def commit(self, changes: Sequence[Change]) -> list[str]:
        conflicts: list[str] = []
        with self._lock:
            for change in changes:
                if self._items.get(change.item) != change.before:
                    conflicts.append(change.item)
                    continue
                self._items[change.item] = change.after
                for edit in change.edits:
                    edit.apply(self._hashes)
                if change.note:
                    self._revision += 1
                    told = {"revision": self._revision, **json.loads(change.note)}
                    self._changes.append(json.dumps(told))
        return conflicts

    def claim(self, revision: int, claims: Sequence[Claim]) -> bool:
        with self._lock:
            fits = (
                self._status == "running"
                and self._revision == revision
                and bool(claims)
                and claims[0].number == self._claims
                and not any(claim.item in self._items for claim in claims)
            )
            if not fits:
                return False
            for claim in claims:
                record = Record(claim.item, claim.number, claim.row, claim.cell, claim.predicted)
                self._items[claim.item] = dump(record)
                self._hashes["open"][claim.item] = open_note(record, "intended")
                Edit("add", "taken", str(claim.cell), 1).apply(self._hashes)
                self._choices.append(choice_text(claim))
            self._claims += len(claims)
            return True

    def publish(self, revision: int, text: str, *, stops: bool) -> bool:
        with self._lock:
            if self._revision != revision or revision in self._decided:
                return False
            if stops:
                if self._status not in ("running", "paused"):
                    return False
                self._status = "stopped"
            self._decided.add(revision)
            self._decisions.append(text)
            return True

    def decisions(self) -> list[str]:
        return list(self._decisions)

    def choices(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self._choices]

    def changes(self, after: int = 0) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self._changes[after:]]

    def rejected(self) -> dict[int, dict[str, Any]]:
        with self._lock:
            return {int(k): json.loads(v) for k, v in self._hashes["rejected"].items()}

    def every_record(self) -> Iterable[str]:
        with self._lock:
            return list(self._items.values())

    def move(self, before: Status, after: Status) -> bool:
        with self._lock:
            if self._status != before:
                return False
            self._status = after
            return True

    def set_metadata(self, **facts: Unpack[Metadata]) -> None:
        with self._lock:
            self._hashes["notes"].update({k: str(v) for k, v in facts.items()})

    def compare_and_set(self, name: str, before: str | int, after: str | int) -> bool:
        with self._lock:
            if self._hashes["notes"].get(name, "") != str(before):
                return False
            self._hashes["notes"][name] = str(after)
            return True

    def advance_cursor(self, cursor_us: int, **facts: Unpack[Metadata]) -> None:
        with self._lock:
            Edit("max", "notes", "cursor", cursor_us).apply(self._hashes)
            self.set_metadata(**facts)

    def take_lease(self, holder: str, ttl_ms: int) -> bool:
        with self._lock:
            return self._lease.take(holder, ttl_ms)

    def keep_lease(self, holder: str, ttl_ms: int) -> bool:
        with self._lock:
            return self._lease.keep(holder, ttl_ms)

    def begin_import(self, holder: str, ttl_ms: int, claims: Sequence[int], doubt_ms: int) -> int:
        with self._lock:
            if not self._lease.prolong(holder, ttl_ms):
                return 0
            self.doubt(claims, doubt_ms)
            return self.next_reading()

    def drop_lease(self, holder: str) -> None:
        with self._lock:
            self._lease.drop(holder)

    def release_lease(self, process: str) -> bool:
        with self._lock:
            return self._lease.release(process)

    def doubt(self, claims: Sequence[int], ttl_ms: int) -> None:
        with self._lock:
            self._lease.doubt(claims, ttl_ms)

    def in_doubt(self, claims: Sequence[int]) -> frozenset[int]:
        with self._lock:
            return self._lease.in_doubt(claims)

    def put_notice(self, notice: str, text: str) -> bool:
        with self._lock:
            if notice in self._noticed:
                return False
            self._noticed.add(notice)
            self._hashes["notices"][notice] = text
            return True

    def notices(self) -> dict[str, str]:
        with self._lock:
            return dict(self._hashes["notices"])

    def replace_notice(self, notice: str, before: str, after: str) -> bool:
        with self._lock:
            if self._hashes["notices"].get(notice) != before:
                return False
            if after:
                self._hashes["notices"][notice] = after
            else:
                del self._hashes["notices"][notice]
            return True

    def wakes(self) -> int:
        return self._wakes

    def wake(self) -> int:
        with self._lock:
            self._wakes += 1
            return self._wakes
