"""A small pool of animals in a CSV file, with scores, letters and addresses of pictures."""

from pathlib import Path
from typing import Any

import numpy as np

from worker.plan import Plan
from worker.pool import Pool

THREE_CLASSES = ["cat", "dog", "cow"]


def table_of(items: list[tuple[str, float, str]]) -> dict[str, list[Any]]:
    return {
        "item_id": [f"{i:03d}" for i in range(len(items))],
        "said": [said for said, _, _ in items],
        "sure": [sure for _, sure, _ in items],
        "letter": [letter for _, _, letter in items],
        "url": [f"http://pictures/{i}" for i in range(len(items))],
    }


def write_csv(path: Path, table: dict[str, list[Any]]) -> None:
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")


def plan_of(folder: Path, name: str = "a.csv", seed: int = 1, **parts: Any) -> Plan:
    pool = {
        "predictions": folder / name,
        "predicted": "said",
        "score": "sure",
        "classes": THREE_CLASSES,
        "data": {"image": "url"},
    }
    question = parts.pop("question", {"task": "identify"})
    return Plan.model_validate(
        {"assessment": "a", "seed": seed, "pool": pool | parts, "question": question}
    )


def write_animals(folder: Path) -> Path:
    """Write 200 animals as `a.csv`; return the folder."""
    rng = np.random.default_rng(5)
    items = [
        (THREE_CLASSES[rng.integers(3)], rng.integers(1001) / 1000, "xyz"[rng.integers(3)])
        for _ in range(200)
    ]
    write_csv(folder / "a.csv", table_of(items))
    return folder


def ids_of(pool: Pool) -> list[str]:
    return [pool.item(row).item_id for row in range(pool.n_items)]
