"""A small pool of animals with opinions beside it, in its own file or in files of their own."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.worker.pool.csv_pool import THREE_CLASSES, table_of, write_csv
from worker.plan import Plan

N = 60
OLD = {"name": "old", "predicted": "old_class", "score": "old_score"}
JUDGE = {"name": "judge", "right": "judge_p"}
WORDS = {"name": "words", "number": "n_words"}
SOURCE = {"name": "source", "category": "source"}
ENSEMBLE = {"name": "ensemble", "probabilities": ["e_cat", "e_dog", "e_cow"]}
EVERY = (OLD, JUDGE, WORDS, SOURCE, ENSEMBLE)


def animals(n: int = N, first: str = "") -> dict[str, list[Any]]:
    """Columns of n animals: what is predicted, and what five opinions say."""
    rng = np.random.default_rng(3)
    said, old = rng.integers(3, size=(2, n))
    shares = rng.dirichlet([1, 1, 1], n).round(3)
    items = [(THREE_CLASSES[k], (i % 50) / 50, "xyz"[i % 3]) for i, k in enumerate(said)]
    table = table_of(items)
    return table | {
        "item_id": [f"{first}{name}" for name in table["item_id"]],
        "old_class": [THREE_CLASSES[k] for k in old],
        "old_score": (rng.integers(34, 100, n) / 100).tolist(),
        "judge_p": (rng.integers(101, size=n) / 100).tolist(),
        "n_words": rng.integers(500, size=n).tolist(),
        "source": ["web" if i % 4 else "mail" for i in range(n)],
        "e_cat": shares[:, 0].tolist(),
        "e_dog": shares[:, 1].tolist(),
        "e_cow": (1 - shares[:, 0] - shares[:, 1]).round(3).tolist(),
    }


def plan_of(folder: Path, *opinions: dict[str, Any], **parts: Any) -> Plan:
    """A plan of `a.csv` with these opinions; parts: of the pool, or of the plan."""
    pool = {
        "predictions": folder / "a.csv",
        "predicted": "said",
        "score": "sure",
        "classes": THREE_CLASSES,
        "data": {"image": "url"},
        "opinions": [dict(one) for one in opinions] or None,
    }
    whole = {key: parts.pop(key) for key in ("population", "prior", "since") if key in parts}
    question = parts.pop("question", {"task": "identify"})
    return Plan.model_validate(
        {"assessment": "a", "pool": pool | parts, "question": question} | whole
    )


def write(folder: Path, table: dict[str, list[Any]], name: str = "a.csv") -> Path:
    write_csv(folder / name, table)
    return folder / name


def two_sites(folder: Path) -> dict[str, Any]:
    """Write the animals of two sites; return what the plan's pool says of them."""
    files = {name: write(folder, animals(first=name), f"{name}.csv") for name in ("north", "south")}
    return {"predictions": files["north"], "sites": files, "site": "site"}


def own_file(folder: Path, table: dict[str, list[Any]], columns: tuple[str, ...]) -> Path:
    """A file of some columns with the ids called `key`, backwards, without every fifth item and
    with three that are none of the pool's."""
    kept = [row for row in range(N) if row % 5][::-1]
    own = {"key": [table["item_id"][row] for row in kept]}
    own |= {name: [table[name][row] for row in kept] for name in columns}
    for name, values in own.items():
        values += [f"more-{at}" for at in range(3)] if name == "key" else values[:3]
    return write(folder, own, "own.csv")
