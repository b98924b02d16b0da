"""Outputs of the same prompt, which are labelled and compared in pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.pool.predictions import Predictions

Codes = NDArray[np.int32]


def prompt_codes(column: str, predictions: Predictions) -> Codes:
    """(n,) which prompt each output answers, 0, 1, ... in the order of the file."""
    codes: Codes = predictions.columns[column].indices.to_numpy()
    return codes


def check_pairs(
    column: str, predictions: Predictions, group: Codes, group_names: Sequence[str]
) -> None:
    """Check that of each prompt every group has one output at most, and some prompt has two.

    Raises:
        PredictionsError: they do not.
    """
    prompt = prompt_codes(column, predictions)
    both = prompt.astype(np.int64) * len(group_names) + group
    _, first, n = np.unique(both, return_index=True, return_counts=True)
    if (n > 1).any():
        at = first[n > 1].min()
        text = predictions.columns[column][int(at)].as_py()
        n_rows = int(n[n > 1].sum())
        raise PredictionsError(
            f"{predictions.path}: {n_rows:,} rows are of a prompt (column {column}) that the same "
            f"group has twice, the first in row {at + 1:,} ({_short(text)!r} in "
            f"{group_names[group[at]]}). Leave one output of each in the file; or, if they are of "
            "different models, group by the column that names the model"
        )
    if np.bincount(prompt).max() < 2:
        raise PredictionsError(
            f"{predictions.path}: no two outputs answer the same prompt (column {column}), so "
            "there are no pairs; put the outputs of all models into one file, or leave "
            "`pool.pairs_by` out"
        )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
