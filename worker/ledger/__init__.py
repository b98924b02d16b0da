"""Judgements, claims, tally and decisions of an assessment: one contract, two keepers."""

from worker.ledger.contract import (
    AlreadyStarted,
    Claim,
    Header,
    Ledger,
    LedgerError,
    Standing,
    Unsettled,
)
from worker.ledger.memory import MemoryLedger
from worker.ledger.valkey import ValkeyLedger

__all__ = [
    "AlreadyStarted",
    "Claim",
    "Header",
    "Ledger",
    "LedgerError",
    "MemoryLedger",
    "Standing",
    "Unsettled",
    "ValkeyLedger",
]
