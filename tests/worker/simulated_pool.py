"""A small labelled pool with a plan that leaves out everything about annotators."""

from pathlib import Path

import numpy as np

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
    more: str = "",
) -> Path:
    """Write predictions with the column `truth`, and a plan about them; return the plan."""
    rng = np.random.default_rng(3)
    rows = ["item_id,predicted,score,truth"]
    for n in range(N_ITEMS):
        k = n % len(CLASSES)
        score = rng.uniform(0.4, 1.0)
        is_right = rng.random() < ACCURACY[k] + 0.3 * (score - 0.7)
        truth = CLASSES[k if is_right else (k + 1) % len(CLASSES)]
        rows.append(f"i{n:03d},{CLASSES[k]},{score:.4f},{truth}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "predictions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        "seed: 7\n"
        "pool: {predictions: predictions.csv, predicted: predicted, score: score,"
        f" classes: [{', '.join(CLASSES)}]}}\n"
        f"question: {question}\n"
        f"prior: {prior}\n"
        f"strategy: {strategy}\n"
        f"stop: {stop}\n"
        f"{more}",
        encoding="utf-8",
    )
    return plan
