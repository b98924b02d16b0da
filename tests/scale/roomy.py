"""The small assessment of the promises with one cell a group: a cell's items have an order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.promises.small import small_assessment, write_plan
from worker.assessment import Assessment, assess
from worker.plan import load_plan, plan_hash
from worker.pool import compile_pool
from worker.store import Header


def roomy(folder: Path, stop: str) -> tuple[Assessment, Header]:
    """Three groups of six items each, without strata."""
    _, header = small_assessment(folder / "strata", stop)
    file = write_plan(folder, stop)
    text = file.read_text(encoding="utf-8").replace("classes: [", "strata: 1, classes: [")
    file.write_text(text, encoding="utf-8")
    plan = load_plan(file)
    pool = compile_pool(plan, folder / "pools")
    header = replace(
        header,
        plan=plan.model_dump_json(),
        plan_hash=plan_hash(plan),
        pool_hash=pool.hash,
        pool_file=str(pool.path),
        pool_sha256=pool.file_sha256,
        pool_stat=(pool.stat[0], pool.stat[1]),
    )
    return assess(plan, pool), header
