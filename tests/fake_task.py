"""A task of a Label Studio project in memory, with its annotations."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from connector.labels import TaskSnapshot, judge
from connector.schema import Schema
from connector.shown import fingerprint

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class FakeTask:
    id: int
    data: dict[str, str]
    at_us: int
    overlap: int
    shown: dict[str, str]
    is_labeled: bool = False
    annotations: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        return sum(not a["was_cancelled"] for a in self.annotations.values())

    @property
    def skips(self) -> int:
        return len(self.annotations) - self.answers

    def stamp(self, now_us: int, annotation: int | None = None) -> None:
        """Note that it changed just now, and so did one of its annotations."""
        self.at_us = now_us
        if annotation is not None:
            # Like Label Studio: a stamp on a whole second comes without its fraction.
            stamp = (_EPOCH + timedelta(microseconds=now_us)).isoformat()
            self.annotations[annotation]["updated_at"] = stamp

    def snapshot(self, schema: Schema) -> TaskSnapshot:
        """What the service reads of it."""
        return TaskSnapshot(
            task=self.id,
            item=self.data.get("item_id", ""),
            at_us=self.at_us,
            is_closed=self.is_labeled,
            judgements=tuple(judge(a, schema) for a in self.annotations.values()),
            shown=fingerprint(self.data, self.shown),
        )
