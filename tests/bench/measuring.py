"""What the parts share: pools that are generated, a desk that does nothing, quantiles."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from connector.labels import Judgement, TaskSnapshot
from connector.port import Counters, TaskBrief
from connector.shown import fingerprint


def say(text: str) -> None:
    """Print a line of the bench."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def line(what: str, value: str, goal: str) -> None:
    """Print one number beside what was asked for."""
    asked = f"   (goal {goal})" if goal else ""
    say(f"{what:<72} {value:>14}{asked}")


def quantiles(seconds: Sequence[float] | NDArray[np.float64]) -> str:
    """p50 and p95 in milliseconds."""
    p50, p95 = np.quantile(np.array(seconds) * 1e3, [0.5, 0.95])
    return f"{p50:.1f} / {p95:.1f} ms"


def write_pool(folder: Path, n_groups: int, n_items: int, assessment: str, more: str = "") -> Path:
    """Write predictions (class and score) of a made-up classifier and a plan; return the plan."""
    rng = np.random.default_rng(7)
    predicted = rng.integers(0, n_groups, n_items)
    names = np.array([f"class-{g:04d}" for g in range(n_groups)])
    table = pa.table(
        {
            "item_id": pa.array([f"item-{i:07d}" for i in range(n_items)]),
            "predicted": pa.array(names[predicted]).dictionary_encode(),
            "score": pa.array(rng.beta(8, 2, n_items).astype(np.float32)),
            "text": pa.array([f"text of {i}" for i in range(n_items)]),
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "predictions.parquet")
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: {assessment}\n"
        "pool: {predictions: predictions.parquet, predicted: predicted, score: score,"
        " data: {text: text}}\n"
        "question: {task: identify}\n" + more
    )
    return plan


class NullDesk:
    """A labelling tool that does nothing but hand over the snapshots it was given."""

    def __init__(self) -> None:
        self.snapshots: list[TaskSnapshot] = []
        self.next_task = 1
        self.put_items: list[tuple[int, str]] = []

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        snapshots, self.snapshots = self.snapshots, []
        return iter(snapshots)

    def counters(self) -> Counters:
        return Counters(0, 0, 0)

    def census(self) -> list[TaskBrief]:
        return []

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        return []

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        return {}

    def put(self, tasks: Sequence[Mapping[str, str]]) -> list[int]:
        ids = list(range(self.next_task, self.next_task + len(tasks)))
        self.next_task += len(tasks)
        self.put_items += zip(ids, (task["item_id"] for task in tasks), strict=True)
        return ids

    def people(self) -> dict[int, str]:
        return {}

    def close(self, tasks: Sequence[int]) -> None: ...
    def reopen(self, tasks: Sequence[int]) -> None: ...
    def describe(self, text: str) -> None: ...
    def instruction(self) -> tuple[str, bool]:
        return "", False

    def announce(self, html: str, *, is_shown: bool = True) -> None: ...
    def tab(self, title: str) -> None: ...


def answered(task: int, item: str, label: str, at_us: int) -> TaskSnapshot:
    """A snapshot of a task that one annotator answered."""
    judgement = Judgement(task, 1, "valid", label, "", at_us, 1.0)
    return replace(unanswered(task, item, at_us), is_closed=True, judgements=(judgement,))


def unanswered(task: int, item: str, at_us: int) -> TaskSnapshot:
    """A snapshot of an open task; it shows what `write_pool` has of the item."""
    data = {"text": f"text of {int(item.partition('-')[2])}"}
    return TaskSnapshot(task, item, at_us, False, (), fingerprint(data, {"text": "text"}))


def used_memory(connection: object) -> int:
    """Bytes that the server uses for data."""
    info = connection.info("memory")  # type: ignore[attr-defined]
    return int(info["used_memory"])


def as_json(path: Path) -> dict[str, object]:
    """Read a JSON file."""
    value: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return value
