"""A pool whose annotators see files here, and plans of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool import Pool, compile_pool

N = 40
CLASSES = ["cat", "dog"]


def said(n: int) -> str:
    return CLASSES[n % 2]


def path(n: int) -> str:
    return f"images/{said(n)}/{n}.png"


def write(folder: Path, paths: Callable[[int], str] = path, n: int = N) -> None:
    """Write files of different sizes where the paths say."""
    for at in range(n):
        file = folder / paths(at)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * (at + 1))


def plan_of(
    folder: Path, values: Callable[[int], str] = path, key: str = "scan", **more: Any
) -> Plan:
    """A plan whose data are these values, in a file of the folder."""
    rows = [f'i{n},{said(n)},0.{60 + n},"{values(n)}"\n' for n in range(N)]
    (folder / "p.csv").write_text("item_id,said,score,seen\n" + "".join(rows), encoding="utf-8")
    pool = {"predictions": folder / "p.csv", "predicted": "said", "score": "score"}
    pool |= {"data": {key: "seen"}} | more.pop("pool", {})
    named = {"assessment": "a", "pool": pool, "question": {"task": "identify"}}
    return Plan.model_validate(named | more)


def compiled(folder: Path, values: Callable[[int], str] = path, **more: Any) -> Pool:
    return compile_pool(plan_of(folder, values, **more), folder / "pools")


def refused(folder: Path, values: Callable[[int], str] = path, **more: Any) -> str:
    with pytest.raises(PredictionsError) as caught:
        compiled(folder, values, **more)
    return str(caught.value)
