"""A labelling tool whose tasks and answers lie in Valkey, so that many processes see the same.

It is behind the port of the real desk (`connector.port.Desk`) and hands over recorded changes; no
Label Studio could answer as fast as this.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from redis import Redis

from connector.labels import TaskSnapshot
from connector.port import Counters, TaskBrief
from tests.bench.measuring import answered, unanswered


class StoredDesk:
    """One project: `number` names it."""

    def __init__(self, db: Redis, number: int) -> None:
        self._db = db
        self._key = f"load:{number}"

    # --- what the service sees -----------------------------------------------------------------

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        """Answers after `since_us`, earliest first."""
        rows = cast("list[str]", self._db.zrangebyscore(f"{self._key}:log", f"({since_us}", "+inf"))
        return map(_snapshot, rows)

    def counters(self) -> Counters:
        """The project's own counts."""
        answers = int(self._db.zcard(f"{self._key}:log"))
        return Counters(int(self._db.hlen(f"{self._key}:item")), answers, 0)

    def census(self) -> list[TaskBrief]:
        """All tasks, briefly."""
        at = {snapshot.task: snapshot.at_us for snapshot in self.changes(-1)}
        tasks = cast("list[str]", self._db.hkeys(f"{self._key}:item"))
        return [TaskBrief(int(t), at.get(int(t), 0), int(int(t) in at), 0) for t in tasks]

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        """Return a snapshot of each of these tasks."""
        wanted = set(tasks)
        found = {
            snapshot.task: snapshot for snapshot in self.changes(-1) if snapshot.task in wanted
        }
        items = cast("dict[str, str]", self._db.hgetall(f"{self._key}:item"))
        return [found.get(t, unanswered(t, items[str(t)], 0)) for t in tasks if str(t) in items]

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        """The tasks that show each of these items."""
        if not items:
            return {}
        found = cast("list[str | None]", self._db.hmget(f"{self._key}:task", list(items)))
        return {i: [int(t)] for i, t in zip(items, found, strict=True) if t is not None}

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        """Import tasks at the end of the queue."""
        last = int(self._db.incrby(f"{self._key}:n", len(tasks)))
        ids = list(range(last - len(tasks) + 1, last + 1))
        with self._db.pipeline() as pipe:
            for task, data in zip(ids, tasks, strict=True):
                pipe.hset(f"{self._key}:item", str(task), data["item_id"])
                pipe.hset(f"{self._key}:task", data["item_id"], str(task))
                pipe.rpush(f"{self._key}:open", f"{task} {data['item_id']}")
            pipe.execute()
        return ids

    def people(self) -> dict[int, str]:
        """Who labels here."""
        return {1: "one"}

    def close(self, tasks: Sequence[int]) -> None:
        """Withdraw tasks."""
        items = cast("dict[str, str]", self._db.hgetall(f"{self._key}:item"))
        for task in tasks:
            self._db.lrem(f"{self._key}:open", 0, f"{task} {items[str(task)]}")

    def reopen(self, tasks: Sequence[int]) -> None: ...
    def describe(self, text: str) -> None: ...
    def instruction(self) -> tuple[str, bool]:
        return "", False

    def announce(self, html: str, *, is_shown: bool = True) -> None: ...
    def tab(self, title: str) -> None: ...

    # --- what people do ------------------------------------------------------------------------

    def take(self) -> tuple[int, str] | None:
        """The next open task and its item, which nobody else gets."""
        row = cast("str | None", self._db.lpop(f"{self._key}:open"))
        if row is None:
            return None
        task, item = row.split(" ", 1)
        return int(task), item

    def answer(self, task: int, item: str, label: str) -> None:
        """Submit a label."""
        at_us = time.time_ns() // 1000
        text = json.dumps({"task": task, "item": item, "label": label, "at_us": at_us})
        self._db.zadd(f"{self._key}:log", {text: at_us})


def _snapshot(text: str) -> TaskSnapshot:
    row: dict[str, Any] = json.loads(text)
    return answered(row["task"], row["item"], row["label"], row["at_us"])
