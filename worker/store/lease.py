"""The contract of the lease: who may import now, and which imports may be under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class LeaseStore(Protocol):
    """The lease of one assessment; `worker.turn.leasing` takes it for a turn."""

    @property
    def assessment(self) -> str:
        """Its id."""

    def take_lease(self, holder: str, ttl_ms: int) -> bool:
        """Become, or stay, the one that may import, for `ttl_ms`."""

    def keep_lease(self, holder: str, ttl_ms: int) -> bool:
        """Stay it for `ttl_ms` more, even if the lease ran out; False, and nothing, if the last who
        took it is another: one who came later, or, at a server that forgot, one before."""

    def begin_import(self, holder: str, ttl_ms: int, claims: Sequence[int], doubt_ms: int) -> int:
        """Stay it for `ttl_ms` more, put the claims in doubt, and begin the reading by which what
        comes of it is recorded; return its number. 0, and nothing, if the lease ran out, even if
        nobody took it since."""

    def drop_lease(self, holder: str) -> None:
        """Stop being it."""

    def release_lease(self, process: str) -> bool:
        """Take it from a turn of a process that is known to be dead; say whether it had it.

        A holder's name is that of its process, a dash and the number of its turn.
        """

    def doubt(self, claims: Sequence[int], ttl_ms: int) -> None:
        """Remember for `ttl_ms` that the import of these claims may be under way; 0: it is over.

        Only the holder of the lease says so; what it says of a claim replaces what it said before.
        """

    def in_doubt(self, claims: Sequence[int]) -> frozenset[int]:
        """Those of these claims of which that is so still."""
