"""The small assessment: a pool of three groups, its plan, and what shows of its items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fakes import SCHEMA
from worker.assessment import Assessment, assess
from worker.plan import load_plan, plan_hash
from worker.pool import compile_pool
from worker.store import Header

CLASSES = ("cat", "dog", "cow")
N_ITEMS = 18


def item_name(number: int) -> str:
    """The id of the pool's n-th item."""
    return f"item-{number:02d}"


def predicted(item: str) -> str:
    """What the classifier said of an item."""
    return CLASSES[int(item.removeprefix("item-")) % len(CLASSES)]


def shown(item: str) -> str:
    """What an annotator sees of an item."""
    return f"the picture of {item}"


def write_plan(folder: Path, stop: str, more: str = "", show: Callable[[str], str] = shown) -> Path:
    """Write a pool of three groups and a plan that names it; return the plan.

    Args:
        more: lines of the plan.
        show: what annotators see of an item.
    """
    rows = [
        f"{item_name(n)},{show(item_name(n))},{predicted(item_name(n))},0.{60 + n},south\n"
        for n in range(N_ITEMS)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    text = "item_id,text,predicted,score,region\n" + "".join(rows)
    (folder / "predictions.csv").write_text(text, encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        "assessment: small\n"
        "pool: {predictions: predictions.csv, predicted: predicted, score: score,"
        f" data: {{text: text}}, classes: [{', '.join(CLASSES)}]}}\n"
        "question: {task: identify}\n"
        f"stop: {stop}\n{more}",
        encoding="utf-8",
    )
    return plan


def small_assessment(
    folder: Path, stop: str, more: str = "", show: Callable[[str], str] = shown
) -> tuple[Assessment, Header]:
    """Compile the small pool and return its assessment with a header.

    Args:
        more, show: as of `write_plan`.
    """
    plan = load_plan(write_plan(folder, stop, more, show))
    pool = compile_pool(plan, folder / "pools")
    header = Header(
        assessment=plan.assessment,
        plan=plan.model_dump_json(),
        plan_hash=plan_hash(plan),
        pool_hash=pool.hash,
        pool_file=str(pool.path),
        pool_sha256=pool.file_sha256,
        pool_stat=(pool.stat[0], pool.stat[1]),
        project=1,
        url="http://fake",
        control=SCHEMA.control,
        to_name=SCHEMA.to_name,
        labels=SCHEMA.labels,
        started_at="2026-01-01T00:00:00+00:00",
    )
    return assess(plan, pool), header
