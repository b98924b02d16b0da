"""What a compiled pool knows of several models; its cells are products of what they say.

A cell holds items on which the models agree alike, in one group of each model; its label tells of
all of them. An item's `predicted` is then the code of what all models say of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.accuracies import ModelStrata
from worker.core.posterior.views import Layout
from worker.errors import PoolChanged
from worker.pool.storing import read_array

Ints = NDArray[np.int64]

ALL_ITEMS = "all items"


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """What a compiled pool knows of M models.

    names: M. said: (T, M) index of the class that each model predicts, by the items' codes.
    layout: of the C cells. own: (C, M) group of each among the model's own; own_names: theirs.
    agreed: how many items all models give the same class.
    strata: if it is asked which model is best: of the cells; the last cell has the items on which
        all agree, if there are any. guessed: (T, M) how likely each model is right, by the codes.
    """

    names: tuple[str, ...]
    said: Ints
    layout: Layout
    own: Ints
    own_names: tuple[tuple[str, ...], ...]
    agreed: int
    strata: ModelStrata | None = None
    guessed: NDArray[np.float64] | None = None

    def as_json(self) -> dict[str, Any]:
        """For the compiled pool's header."""
        if self.strata is not None:
            guessed, size = self.strata.guessed.tolist(), self.strata.size.tolist()
            named = {"names": list(self.names), "agreed": self.agreed}
            return named | {"strata": {"guessed": guessed, "size": size}}
        return {
            "names": list(self.names),
            "said": self.said.tolist(),
            "block": self.layout.block.tolist(),
            "logit": self.layout.logit.tolist(),
            "own": self.own.tolist(),
            "own_names": [list(names) for names in self.own_names],
            "agreed": self.agreed,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What stands beside the header, as it were too long there."""
        if self.strata is None or self.guessed is None:
            return {}
        m = len(self.names)
        covariance = self.strata.covariance.reshape(-1, m)
        return {"said": self.said, "guessed": self.guessed, "covariance": covariance}


def models_from(header: Mapping[str, Any], metadata: Mapping[bytes, bytes]) -> Models | None:
    """Read what `Models.as_json` and `arrays` wrote; None if the pool is of one model."""
    kept = header.get("models")
    if kept is None:
        return None
    if "strata" in kept:
        return _with_strata(header, metadata)
    if "portions" in kept:
        raise PoolChanged(
            "the models' groups make more products than cells, which shared them in the release "
            "that began this assessment: finish it with that one"
        )

    def table(name: str) -> Ints:
        return np.array(kept[name], dtype=np.int64).reshape(-1, len(kept["names"]))

    logit = np.array(kept["logit"], dtype=np.float64).reshape(-1, len(kept["names"]))
    size = np.array(header["cells"]["size"], dtype=np.int64)
    return Models(
        tuple(kept["names"]),
        table("said"),
        Layout(size, table("block"), logit),
        table("own"),
        tuple(tuple(names) for names in kept["own_names"]),
        kept["agreed"],
    )


def _with_strata(header: Mapping[str, Any], metadata: Mapping[bytes, bytes]) -> Models:
    kept, size = header["models"], np.array(header["cells"]["size"], dtype=np.int64)
    names, m = tuple(kept["names"]), len(kept["names"])
    said, guessed, covariance = (
        read_array(metadata, name, m) for name in ("said", "guessed", "covariance")
    )
    if said is None or guessed is None or covariance is None:
        raise ValueError("what its models say is not there")
    strata = ModelStrata(
        np.array(kept["strata"]["size"], dtype=np.int64),
        np.array(kept["strata"]["guessed"], dtype=np.float64).reshape(-1, m),
        covariance.reshape(-1, m, m), kept["agreed"],
    )  # fmt: skip
    own = np.zeros((size.size, m), dtype=np.int64)
    return Models(
        names, said.astype(np.int64), Layout(size, own, own.astype(np.float64)), own,
        ((ALL_ITEMS,),) * m, kept["agreed"], strata, guessed.astype(np.float64),
    )  # fmt: skip


def blocks_of(predicted: Ints) -> Ints:
    """(n, M) the block of each model, of what M models predict (n, M)."""
    block = np.zeros_like(predicted)
    upto = np.zeros(len(predicted), dtype=np.int64)
    for m in range(1, predicted.shape[1]):
        same = predicted[:, :m] == predicted[:, [m]]
        is_new = ~same.any(axis=1)
        upto += is_new
        block[:, m] = np.where(
            is_new, upto, np.take_along_axis(block, same.argmax(axis=1)[:, None], axis=1)[:, 0]
        )
    return block
