"""The random numbers of an assessment: seed, stream and claim number fix every draw."""

from __future__ import annotations

from functools import lru_cache
from threading import get_ident
from typing import Any

import numpy as np

# Which stream of random numbers is for what; together with the plan's seed and, for choices, the
# claim number, they fix every draw.
DECIDING, CHOOSING, GOLD = 1, 2, 3


def numbered(seed: int, stream: int, number: int) -> np.random.Generator:
    """The random numbers of one choice; seed and stream are the key, the number is counted in.

    Philox needs no mixing of its seed, which takes as long as some strategies do. One of a key is
    kept and set back: use up what came before asking again, in the same thread.
    """
    rng, start = _philox(seed, stream, get_ident())
    start["state"]["counter"][3] = number
    rng.bit_generator.state = start
    return rng


@lru_cache(maxsize=64)
def _philox(seed: int, stream: int, thread: int) -> tuple[np.random.Generator, dict[str, Any]]:
    philox = np.random.Philox(key=[seed, stream], counter=[0, 0, 0, 0])
    return np.random.Generator(philox), dict(philox.state)
