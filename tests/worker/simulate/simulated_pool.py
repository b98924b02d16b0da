"""A small labelled pool with a plan that leaves out everything about annotators."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.fakes import SCHEMA
from worker.assessment import Assessment, assess
from worker.plan import Plan, load_plan, plan_hash
from worker.pool import Pool, compile_pool
from worker.pool.truth import read_truth
from worker.simulate.truths import outcomes
from worker.store import Header

CLASSES = ("cat", "dog", "cow")
ACCURACY = (0.95, 0.85, 0.55)
N_ITEMS = 150


def write_plan(
    folder: Path,
    *,
    strategy: str = "thompson",
    prior: str = "{kind: uniform}",
    question: str = "{task: identify}",
    stop: str = "{mrr: {confidence: 0.95}}",
    groups: str = "predicted_class",
    strata: int | None = None,
    by_probabilities: bool = False,
    opinions: str | None = None,
    more: str = "",
) -> Path:
    """Write predictions with the column `truth`, and a plan about them; return the plan.

    Also `region` (north, south), the classes' probabilities, and `costs.csv`; with opinions the
    columns `old`, the class that another classifier says, right in .85 (of some items nothing),
    and `length`, a number that tells nothing.
    """
    rng = np.random.default_rng(3)
    names = ["item_id", "predicted", "score", *(f"p_{name}" for name in CLASSES), "region", "truth"]
    names += ["old", "length"] if opinions is not None else []
    rows, others = [",".join(names)], np.random.default_rng(4)
    for n in range(N_ITEMS):
        k = n % len(CLASSES)
        score = rng.uniform(0.4, 1.0)
        is_right = rng.random() < ACCURACY[k] + 0.3 * (score - 0.7)
        truth = CLASSES[k if is_right else (k + 1) % len(CLASSES)]
        shares = [score if j == k else (1 - score) * (0.6, 0.4)[(j - k) % 3 - 1] for j in range(3)]
        region = ("north", "south")[n % 5 in (0, 3)]
        listed = ",".join(f"{share:.5f}" for share in shares)
        rows.append(f"i{n:03d},{CLASSES[k]},{score:.4f},{listed},{region},{truth}")
        if opinions is not None:
            old = truth if others.random() < 0.85 else CLASSES[(CLASSES.index(truth) + 1) % 3]
            rows[-1] += f",{old if n % 25 else ''},{others.integers(5, 500)}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "predictions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "costs.csv").write_text("0,1,5\n2,0,1\n10,4,0\n", encoding="utf-8")
    plan = folder / "plan.yaml"
    said = (
        f"probabilities: [{', '.join(f'p_{name}' for name in CLASSES)}]"
        if by_probabilities
        else "predicted: predicted, score: score"
    )
    plan.write_text(
        "seed: 7\n"
        f"pool: {{predictions: predictions.csv, {said}, groups: {groups},"
        f" classes: [{', '.join(CLASSES)}]"
        f"{'' if strata is None else f', strata: {strata}'}"
        f"{'' if opinions is None else f', opinions: {opinions}'}}}\n"
        f"question: {question}\n"
        f"prior: {prior}\n"
        f"strategy: {strategy}\n"
        f"stop: {stop}\n"
        f"{more}",
        encoding="utf-8",
    )
    return plan


# One open item at a time: so the choice before a label is the choice after the one before it.
LIVE = "assessment: small\nqueue: {look_ahead: 1}\n"


def plan_at_work(folder: Path, more: str = "", **parts: Any) -> Plan:
    """The same plan for annotators, who see one item at a time."""
    path = write_plan(folder, more=LIVE + more, **parts)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("pool: {", "pool: {data: {text: item_id}, "), encoding="utf-8")
    return load_plan(path)


def header_of(plan: Plan, pool: Pool) -> Header:
    """The header of its assessment."""
    return Header(
        assessment=plan.assessment,
        plan=plan.model_dump_json(),
        plan_hash=plan_hash(plan),
        pool_hash=pool.hash,
        pool_file=str(pool.path),
        pool_sha256=pool.file_sha256,
        pool_stat=pool.stat,
        project=1,
        url="http://fake",
        control=SCHEMA.control,
        to_name=SCHEMA.to_name,
        labels=SCHEMA.labels,
        started_at="2026-01-01T00:00:00+00:00",
    )


def at_work(plan: Path) -> tuple[Assessment, np.ndarray]:
    """The assessment of a plan, and the outcomes of its items."""
    read = load_plan(plan, for_simulation=True)
    assessment = assess(read, compile_pool(read, plan.parent / "pools"))
    return assessment, outcomes(assessment, read_truth(read, assessment.pool, "truth"))
