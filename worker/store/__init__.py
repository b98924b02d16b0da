"""Judgements, claims, tally and decisions of an assessment, the lease and the outbox.

Three contracts (`contract`, `lease`, `outbox`), and two that keep them: in Valkey and in memory.
"""

from worker.store.contract import (
    AlreadyStarted,
    Claim,
    Header,
    Ledger,
    LedgerError,
    State,
    Unsettled,
)
from worker.store.memory import MemoryLedger

__all__ = [
    "AlreadyStarted",
    "Claim",
    "Header",
    "Ledger",
    "LedgerError",
    "MemoryLedger",
    "State",
    "Unsettled",
]
