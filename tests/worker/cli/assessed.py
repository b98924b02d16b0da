"""Reports from files of labels, as `assay assess` makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import Result


def report_of(done: Result) -> dict[str, Any]:
    """What a command that was asked for JSON made."""
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert Path(told["page"]).exists()
    found: dict[str, Any] = json.loads(Path(told["json"]).read_text(encoding="utf-8"))
    return found


def some_labels(folder: Path, n: int) -> Path:
    """A file with the labels of n of the items, drawn at random."""
    table = pd.read_csv(folder / "predictions.csv")[["item_id", "truth"]]
    path = folder / "labels.csv"
    table.rename(columns={"truth": "label"}).sample(n, random_state=1).to_csv(path, index=False)
    return path
