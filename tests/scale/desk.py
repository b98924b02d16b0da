"""The stored desk of the benches, whose changes also tell of new tasks, as Label Studio's do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from connector.labels import TaskSnapshot
from connector.port import TaskBrief
from tests.bench.measuring import unanswered
from tests.bench.stored_desk import StoredDesk


class ToldDesk(StoredDesk):
    """One project: `number` names it."""

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        at_us = time.time_ns() // 1000  # before they can be seen: an answer is never older
        ids = super().put(tasks)
        made = {f"{t} {data['item_id']}": at_us for t, data in zip(ids, tasks, strict=True)}
        self._db.zadd(f"{self._key}:made", made)
        return ids

    def answers(self, since_us: int = -1) -> Iterator[TaskSnapshot]:
        """Answered tasks alone."""
        return super().changes(since_us)

    def made(self, since_us: int = -1) -> Iterator[TaskSnapshot]:
        """New tasks, as they were before anybody answered."""
        key, after = f"{self._key}:made", f"({since_us}"
        for row, at in cast(
            "list[tuple[str, float]]", self._db.zrangebyscore(key, after, "+inf", withscores=True)
        ):
            task, item = row.split(" ", 1)
            yield unanswered(int(task), item, int(at))

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        both = [*self.made(since_us), *self.answers(since_us)]
        return iter(sorted(both, key=lambda snapshot: snapshot.at_us))

    def census(self) -> list[TaskBrief]:
        answered = {snapshot.task: snapshot.at_us for snapshot in self.answers()}
        return [
            TaskBrief(m.task, answered.get(m.task, m.at_us), int(m.task in answered), 0)
            for m in self.made()
        ]

    def items_served(self) -> list[str]:
        """The item of every task that people get next, in order."""
        rows = cast("list[str]", self._db.lrange(f"{self._key}:open", 0, -1))
        return [row.split(" ", 1)[1] for row in rows]
