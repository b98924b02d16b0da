"""The contract of the outbox: what is to be told to whoever is told by a plan."""

from __future__ import annotations

from typing import Protocol


class OutboxStore(Protocol):
    """The notices of one assessment; `worker.notices.outbox` puts and delivers them."""

    def put_notice(self, notice: str, text: str) -> bool:
        """Keep what is to be told, once for its id, also after it was told; False if it was put."""

    def notices(self) -> dict[str, str]:
        """What is to be told: id -> text."""

    def replace_notice(self, notice: str, before: str, after: str) -> bool:
        """Change a notice if it still is `before`; an empty `after` takes it out, for good."""
