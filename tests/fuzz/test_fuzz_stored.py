"""Whatever an export, a pool's header or a key says: it is what we write, or is refused."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings

from tests.amount import IS_SHORT
from tests.fuzz.bounds import bounded
from tests.fuzz.mutations import mutated
from tests.fuzz.stored import export, good_export, good_header, good_state, header, state

N = 40 if IS_SHORT else 200


@settings(max_examples=N, derandomize=True)
@given(sent=mutated(good_export()))
def test_a_changed_export_is_refused_or_whole(sent: Any) -> None:
    with bounded():
        export(json.dumps(sent).encode())


@settings(max_examples=N, derandomize=True)
@given(told=mutated(good_header()))
def test_a_changed_header_of_a_pool_is_refused_or_fits_its_rows(told: Any) -> None:
    with bounded():
        header(json.dumps(told).encode())


@settings(max_examples=N, derandomize=True)
@given(kept=mutated(good_state()))
def test_changed_keys_are_read_or_said_and_disturb_no_other_assessment(kept: Any) -> None:
    with bounded():
        state(json.dumps(kept).encode())
