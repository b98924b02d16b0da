"""Makes a pool one that continues an assessment: puts the earlier labels into its cells."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.pool.file import Pool
from worker.pool.opening import open_pool
from worker.pool.since import Since, as_json
from worker.pool.storing import write_again


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The labelled items of an earlier pool: names of group, predicted class and label; score."""

    group: Sequence[str]
    predicted: Sequence[str]
    score: NDArray[np.float32]  # NaN without scores
    label: Sequence[str]


def in_cells(
    items: Labelled, pool: Pool, positive: str | None, needs_class: bool
) -> tuple[Counter[str], Counter[str]]:
    """Put earlier labels into the cells of a pool.

    The group is found by its name, the predicted one where the groups are the classes; the cell is
    the one of the group whose scores are nearest.

    Args:
        positive: that of recall, precision and F1, whose cells are by predicted class.
        needs_class: a label that is no class of this pool cannot be counted.

    Returns:
        A tally, and how many labels were left out by what is not here.
    """
    groups = {name: g for g, name in enumerate(pool.group_names)}
    classes = {name: k for k, name in enumerate(pool.classes)}
    is_by_class = pool.group_names == pool.classes
    ends = _ends(pool)
    tally: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    every = zip(items.group, items.predicted, items.score.tolist(), items.label, strict=True)
    for name, predicted, score, label in every:
        g = groups.get(predicted if is_by_class else name)
        if predicted not in classes:
            missing[f"the predicted class {predicted}"] += 1
            continue
        if needs_class and label not in classes:
            missing[f"the label {label}"] += 1
            continue
        own = np.flatnonzero(pool.cell_group == (-1 if g is None else g))
        if positive is not None:
            own = own[pool.cell_unit[own] == int(predicted == positive)]
        elif pool.has_classes_apart:
            own = own[pool.cell_unit[own] == classes[predicted]]
        if not own.size:
            missing[f"the group {predicted if is_by_class else name}"] += 1
            continue
        low, high = ends[:, own]
        away = np.maximum(np.maximum(low - score, score - high), 0)
        cell = int(own[int(np.nan_to_num(away).argmin())])
        tally[f"0:{cell}:{classes[predicted]}:{label}"] += 1
    return tally, missing


def needs_scores(pool: Pool, positive: str | None) -> bool:
    """Whether only its score tells in which cell of its group an earlier label belongs.

    Args:
        positive: as of `in_cells`.
    """
    is_by_score = positive is None and not pool.has_classes_apart
    place = pool.cell_group
    if not is_by_score:
        place = len(pool.unit_names) * pool.cell_group + pool.cell_unit
    return bool(np.unique(place).size < pool.n_cells)


def _ends(pool: Pool) -> NDArray[np.float32]:
    """(2, C) the lowest and the highest score of each cell: its items stand together."""
    score, begin = pool.score, pool.cell_start
    return np.stack([np.minimum.reduceat(score, begin), np.maximum.reduceat(score, begin)])


def continued(pool: Pool, since: Since) -> Pool:
    """The pool as one that continues an assessment, in a file of its own beside it.

    The same pool and labels give the same bytes.
    """
    told = as_json(since)
    own_hash = hashlib.sha256(f"{pool.hash}\n{_canonical(told)}".encode()).hexdigest()
    path = pool.path.with_name(f"{own_hash}.arrow")
    if not path.exists():
        write_again(pool.path, path, {"pool_hash": own_hash, "since": told})
    return open_pool(path)


def _canonical(told: Mapping[str, Any]) -> str:
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
