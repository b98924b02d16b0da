"""Opinions made of arrays, without a file, and items that they are of."""

from __future__ import annotations

from typing import Any

import numpy as np

from worker.plan.opinions_part import OpinionPlan
from worker.pool.opinions_reading import Opinion


def classifier(value: Any, agrees: Any) -> Opinion:
    return Opinion(
        OpinionPlan(name="old", predicted="old"), np.asarray(value, np.float32), np.asarray(agrees)
    )


def number(value: Any) -> Opinion:
    return Opinion(OpinionPlan(name="words", number="words"), np.asarray(value, np.float32))


def category(code: Any, names: tuple[str, ...] = ("web", "mail", "fax")) -> Opinion:
    code = np.asarray(code, np.int32)
    plan = OpinionPlan(name="source", category="source")
    return Opinion(plan, np.zeros(code.size, np.float32), None, code, names)


def made(
    n: int, seed: int = 0, n_groups: int = 3, kinds: str = "cnk", missing: float = 0.0
) -> tuple[Any, Any, Any, list[Opinion]]:
    """Group, unit and score of n items, and opinions: c a classifier, n a number, k a category."""
    rng = np.random.default_rng(seed)
    group, unit = rng.integers(n_groups, size=n), np.zeros(n)
    score = rng.beta(4, 1, n).astype(np.float32)
    silent = rng.random(n) < missing
    silent[0] = False  # what says nothing of all items is refused before
    agrees = (rng.random(n) < 0.8) & ~silent
    value = np.where(silent, np.nan, np.where(agrees, 1, -1) * rng.exponential(2, n))
    of = {
        "c": classifier(value, agrees),
        "n": number(np.where(silent, np.nan, rng.normal(size=n))),
        "k": category(np.where(silent, -1, rng.integers(3, size=n))),
    }
    opinions = [of[kind] for kind in kinds]
    return group.astype(np.int32), unit.astype(np.int32), score, opinions
