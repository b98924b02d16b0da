"""Whatever an export or the header of a compiled pool says: it is what we write, or is refused."""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import given, settings

from tests.fuzz.mutations import mutated
from tests.fuzz.stored import export, good_export, good_header, pool
from tests.fuzz.targets import bounded

N = 40 if os.environ.get("ASSAY_SLOW") == "0" else 300


@settings(max_examples=N, derandomize=True)
@given(sent=mutated(good_export()))
def test_a_changed_export_is_refused_or_whole(sent: Any) -> None:
    with bounded():
        export(json.dumps(sent).encode())


@settings(max_examples=N, derandomize=True)
@given(header=mutated(good_header()))
def test_a_changed_header_of_a_pool_is_refused_or_fits_its_rows(header: Any) -> None:
    with bounded():
        pool(json.dumps(header).encode())
