"""What a pool keeps of the assessment that it continues: earlier labels in its own cells.

It is compiled into the pool's file, so that the file alone makes the same belief everywhere; a pool
that continues nothing is not changed by a byte.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from worker.pool.storing import write_again

if TYPE_CHECKING:
    from worker.pool.file import Pool

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Then:
    """What was known of a group: mean and 95% interval; labels, items, and share of that pool."""

    mean: float
    low: float
    high: float
    labels: int
    size: int
    share: float


@dataclass(frozen=True, slots=True)
class Inputs:
    """How the predictions of both pools differ: p-values, and distances in [0, 1].

    class_*: the shares of the predicted classes; None if the classes are not the same ones.
    score_*: the scores; None if one of the pools has none. size_then, size_now: (K,) items of each
    predicted class.
    """

    class_p: float | None
    class_distance: float | None
    score_p: float | None
    score_distance: float | None
    size_then: tuple[int, ...]
    size_now: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Since:
    """The assessment that a pool continues.

    base: the hash of the pool without it. metric, text, status: what was asked, and how it stood.
    tally: its labels in this pool's cells, keys as of `worker.judgements.changes.tally_key`.
    left_out: what its labels belonged to that is not here, and how many they were.
    then: (G,) by this pool's groups; None for groups that it did not have. overall: mean and 95%
    interval.
    """

    base: str
    assessment: str
    status: str
    text: str
    metric: str
    labels: int
    tally: Mapping[str, int]
    left_out: Mapping[str, int]
    then: tuple[Then | None, ...]
    overall: tuple[float, float, float] | None
    inputs: Inputs

    @property
    def n_left_out(self) -> int:
        """Labels whose group or class is not in this pool."""
        return sum(self.left_out.values())


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
        positive: the positive class of the metric tpr, whose cells are by predicted class.
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
    place = pool.cell_group if positive is None else 2 * pool.cell_group + pool.cell_unit
    return bool(np.unique(place).size < pool.n_cells)


def _ends(pool: Pool) -> NDArray[np.float32]:
    """(2, C) the lowest and the highest score of each cell: its items stand together."""
    score, begin = pool.score, pool.cell_start
    return np.stack([np.minimum.reduceat(score, begin), np.maximum.reduceat(score, begin)])


def continued(pool: Pool, since: Since) -> Pool:
    """The pool as one that continues an assessment, in a file of its own beside it.

    The same pool and labels give the same bytes.
    """
    from worker.pool.file import open_pool

    told = as_json(since)
    own_hash = hashlib.sha256(f"{pool.hash}\n{_canonical(told)}".encode()).hexdigest()
    path = pool.path.with_name(f"{own_hash}.arrow")
    if not path.exists():
        write_again(pool.path, path, {"pool_hash": own_hash, "since": told})
    return open_pool(path)


def as_json(since: Since) -> dict[str, Any]:
    """As plain values, which `since_from` reads."""
    return {
        **{key: getattr(since, key) for key in _PLAIN},
        "tally": dict(sorted(since.tally.items())),
        "left_out": dict(sorted(since.left_out.items())),
        "then": [None if t is None else [getattr(t, k) for k in _THEN] for t in since.then],
        "overall": since.overall,
        "inputs": {key: getattr(since.inputs, key) for key in _INPUTS},
    }


def since_from(header: Mapping[str, Any]) -> Since | None:
    """Read what `as_json` wrote into a header."""
    if "since" not in header:
        return None
    told = header["since"]
    inputs = {key: told["inputs"][key] for key in _INPUTS}
    sizes = {key: tuple(inputs[key]) for key in ("size_then", "size_now")}
    return Since(
        **{key: told[key] for key in _PLAIN},
        tally=told["tally"],
        left_out=told["left_out"],
        then=tuple(None if t is None else Then(*t) for t in told["then"]),
        overall=None if told["overall"] is None else tuple(told["overall"]),
        inputs=Inputs(**(inputs | sizes)),
    )


_PLAIN = ("base", "assessment", "status", "text", "metric", "labels")
_THEN = tuple(Then.__dataclass_fields__)
_INPUTS = tuple(Inputs.__dataclass_fields__)


def _canonical(told: Mapping[str, Any]) -> str:
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
