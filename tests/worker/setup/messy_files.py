"""Files of predictions as people have them, each with a mess of its own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

N = 120
TOPICS = ("billing", "delivery", "account", "returns")
_TEXT = (
    "my parcel did not arrive and nobody answers the phone since last week "
    "the invoice shows a wrong amount please send it again"
)


def tickets(n: int = N) -> list[dict[str, Any]]:
    """Support tickets with a weak classifier's topic, its confidence and the true topic."""
    rng = np.random.default_rng(7)
    return [
        {
            "ticket_id": f"T-{at:04d}",
            "body": " ".join(rng.choice(_TEXT.split(), 12)) + f" ({at})",
            "model_topic": TOPICS[rng.integers(4)],
            "model_confidence": round(float(rng.uniform(0.3, 1)), 3),
            "topic": TOPICS[rng.integers(4)],
        }
        for at in range(n)
    ]


def _csv(path: Path, rows: list[dict[str, Any]], mark: str = ",", encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=mark)
        writer.writeheader()
        writer.writerows(rows)
    return path


def workbook(path: Path, rows: list[dict[str, Any]], title: Sequence[list[str]] = ()) -> Path:
    book = openpyxl.Workbook()
    for cells in (*title, list(rows[0]), *(list(row.values()) for row in rows)):
        book.active.append(cells)
    book.save(path)
    return path


def semicolons(folder: Path) -> Path:
    return _csv(folder / "tickets.csv", tickets(), ";")


def excel(folder: Path) -> Path:
    return workbook(folder / "tickets.xlsx", tickets())


def excel_with_title(folder: Path) -> Path:
    title = (["Results of model X, March"], [])
    return workbook(folder / "tickets.xlsx", tickets(), title)


def excel_with_shares_as_text(folder: Path) -> Path:
    """Shares as `.93`, which Excel keeps as text in a column of texts; some cells are numbers."""
    rows = tickets()
    for row in rows[1:]:
        row["model_confidence"] = str(row["model_confidence"]).removeprefix("0")
    return workbook(folder / "tickets.xlsx", rows)


def nested(folder: Path) -> Path:
    path = folder / "calls.jsonl"
    lines = [
        {
            "request": {"uid": row["ticket_id"], "text": row["body"]},
            "response": {"prediction": row["model_topic"], "confidence": row["model_confidence"]},
        }
        for row in tickets()
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def missing_scores(folder: Path) -> Path:
    rows = tickets()
    rows[3]["model_confidence"] = rows[90]["model_confidence"] = "NaN"
    return _csv(folder / "tickets.csv", rows)


def double_ids(folder: Path) -> Path:
    rows = tickets()
    return _csv(folder / "tickets.csv", [*rows, rows[5], rows[5], rows[60]])


def empty_texts(folder: Path) -> Path:
    rows = tickets()
    rows[0]["body"], rows[70]["body"] = "", "   "
    return _csv(folder / "tickets.csv", rows)


def unknown_class(folder: Path) -> Path:
    """Probabilities of the classes, and a row that is none."""
    rng = np.random.default_rng(1)
    shares = rng.dirichlet((1, 1, 1), N).round(3)
    shares[:, 2] = (1 - shares[:, :2].sum(axis=1)).round(3)
    rows = [
        {"id": at, "text": f"some words of the text {at}", "p_cat": a, "p_dog": b, "p_cow": c}
        for at, (a, b, c) in enumerate(shares)
    ]
    rows[7]["p_cow"] = 3.0
    return _csv(folder / "animals.csv", rows)


def images(folder: Path) -> Path:
    # a grey dot as PNG
    content = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
        "3a7e9b550000000a49444154789c63680000008200817746dfd00000000049454e44ae426082"
    )
    rows = []
    for at in range(40):
        name = f"photos/{at:03d}.png"
        (folder / "photos").mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        rows.append({"path": name, "pred": ("cat", "dog")[at % 2], "conf": 0.5 + at / 100})
    return _csv(folder / "photos.csv", rows)


def hugging_face(folder: Path) -> Path:
    path = folder / "reviews"
    path.mkdir()
    rows = tickets()
    columns = {
        "text": [row["body"] for row in rows],
        "label": [row["topic"] for row in rows],
        "predicted_label": [row["model_topic"] for row in rows],
        "score": [row["model_confidence"] for row in rows],
    }
    pq.write_table(pa.table(columns), path / "train-00000-of-00001.parquet")
    return path


def coco(folder: Path) -> Path:
    """Results without anything that a person could look at."""
    rows = [{"image_id": at, "category_id": at % 3, "score": 0.5} for at in range(N)]
    path = folder / "results.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def many_columns(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        row | {f"feature_{at}": round(float(rng.normal()), 3) for at in range(195)}
        for row in tickets()
    ]
    return _csv(folder / "wide.csv", rows)


def five_rows(folder: Path) -> Path:
    return _csv(folder / "few.csv", tickets(5))


def latin(folder: Path) -> Path:
    rows = [row | {"body": f"Das Päckchen für Zoë kam nicht: {row['body']}"} for row in tickets()]
    return _csv(folder / "tickets.csv", rows, ";", "latin-1")


def reasons(folder: Path) -> Path:
    """Content with an odd name beside reasons of the model's, which name what it says or repeat."""
    rows = [
        {
            "nr": f"K{at:03d}",
            "utterance": row["body"],
            "comment": f"I take this for {row['model_topic']}, as {row['ticket_id']} sounds so",
            "note on it": f"One of our typical cases of kind {TOPICS.index(row['model_topic'])}",
            "prediction": row["model_topic"],
            "p(billing)": 0.5,
            "p(delivery)": 0.2,
        }
        for at, row in enumerate(tickets())
    ]
    return _csv(folder / "reasons.csv", rows)


def percents(folder: Path) -> Path:
    rows = [row | {"model_confidence": f"{row['model_confidence']:.0%}"} for row in tickets()]
    return _csv(folder / "tickets.csv", rows)


# What becomes of each: a plan that `check` finds fine at once; one that it finds fine after one
# answer (rows are left out); or a sentence that says what to do.
FINE: tuple[Callable[[Path], Path], ...] = (
    semicolons, excel, excel_with_title, excel_with_shares_as_text, nested, images, hugging_face,
    many_columns, five_rows, latin,
)  # fmt: skip
AFTER_ONE_ANSWER = (missing_scores, double_ids, empty_texts)
TOLD = (unknown_class, coco)
