"""The calls about leases, and about imports of which nobody knows yet whether they arrived."""

from __future__ import annotations

import time

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.contract.ledger_model import Model
from worker.store import Ledger

HOLDERS = st.sampled_from(["w1", "w2"])
NUMBERS = range(4)
SOME_CLAIMS = st.lists(st.sampled_from(NUMBERS), min_size=1, unique=True)


class LeaseRules:
    """Rules of `ledger_machine.LedgerMachine`, which has the ledger and the model."""

    ledger: Ledger
    model: Model

    @rule(holder=HOLDERS, is_short=st.booleans())
    def take_lease(self, holder: str, is_short: bool) -> None:
        fits = self.model.holder in (None, holder)
        assert self.ledger.take_lease(holder, 1 if is_short else 60_000) == fits
        if fits:
            self.model.holder = self.model.turn = holder
            self.let_run_out(is_short)

    @rule(holder=HOLDERS, is_short=st.booleans())
    def keep_lease(self, holder: str, is_short: bool) -> None:
        fits = self.model.turn == holder
        assert self.ledger.keep_lease(holder, 1 if is_short else 60_000) == fits
        if fits:
            self.model.holder = holder
            self.let_run_out(is_short)

    @rule(holder=HOLDERS, is_short=st.booleans(), claims=SOME_CLAIMS)
    def begin_import(self, holder: str, is_short: bool, claims: list[int]) -> None:
        fits = self.model.holder == holder
        lease_ms = 1 if is_short else 60_000
        expected = self.model.readings + 1 if fits else 0
        assert self.ledger.begin_import(holder, lease_ms, claims, 60_000) == expected
        if fits:
            self.model.readings = expected
            self.model.doubtful |= set(claims)
            self.let_run_out(is_short)

    @rule(claims=SOME_CLAIMS, ttl_ms=st.sampled_from([0, 1, 60_000]))
    def doubt(self, claims: list[int], ttl_ms: int) -> None:
        self.ledger.doubt(claims, ttl_ms)
        self.model.doubtful -= set(claims)
        if ttl_ms == 1:
            time.sleep(0.004)
        elif ttl_ms:
            self.model.doubtful |= set(claims)

    def let_run_out(self, is_short: bool) -> None:
        if is_short:
            time.sleep(0.004)  # four times as long as it was taken for
            self.model.holder = None

    @rule(holder=HOLDERS)
    def drop_lease(self, holder: str) -> None:
        self.ledger.drop_lease(holder)
        if self.model.holder == holder:
            self.model.holder = None
