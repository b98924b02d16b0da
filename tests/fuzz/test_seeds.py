"""What fuzzing once found, and what it begins with: each input is tried again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.atheris_run import json_changed
from tests.fuzz.targets import TARGETS, bounded

SEEDS = sorted(path for path in (Path(__file__).parent / "seeds").glob("*/*"))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_once_does_no_harm_again(seed: Path) -> None:
    with bounded():
        TARGETS[seed.parent.name](seed.read_bytes())


def test_every_target_has_seeds() -> None:
    assert {seed.parent.name for seed in SEEDS} == set(TARGETS)


@given(seed=st.integers(0, 2**32), data=st.sampled_from([p.read_bytes() for p in SEEDS]))
def test_what_atheris_changes_in_json_stays_json_where_it_was(seed: int, data: bytes) -> None:
    def unchanged(part: bytes, largest: int) -> bytes:
        return part[:largest]

    changed = json_changed(data, 100_000, seed, unchanged)

    body = data.rpartition(b"\n")[2]
    if is_json(body):
        assert is_json(changed.rpartition(b"\n")[2])
    else:
        assert changed == data


def is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
