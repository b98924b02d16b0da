"""What a pool keeps of the assessment that it continues: earlier labels in its own cells.

It is compiled into the pool's file, so that the file alone makes the same belief everywhere; a pool
that continues nothing is not changed by a byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    tally: its labels in this pool's cells, keys as of `worker.store.tally.tally_key`.
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
