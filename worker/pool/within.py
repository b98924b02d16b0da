"""What groups have in common, as the compiled pool keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Parents:
    """names: P of them. of_group: (G,) index of each group's parent; -1: it has no items."""

    names: tuple[str, ...]
    of_group: NDArray[np.int64]


def parents_from(header: Mapping[str, Any]) -> Parents | None:
    """Return what a compiled pool's header says of parents; None if it has none."""
    said = header.get("parents")
    if said is None:
        return None
    return Parents(tuple(said["names"]), np.array(said["of"], dtype=np.int64))


def levels_from(header: Mapping[str, Any]) -> NDArray[np.int64] | None:
    """Return (F, G) the level of each group in the factors that groups share; None: in none.

    Of each factor from 0, without gaps; groups without items have one of their own. Pools of
    earlier releases tell of parents alone.
    """
    within = header.get("parents")
    said = header.get("levels", [] if within is None else [within["of"]])
    found = [np.unique(of, return_inverse=True)[1].astype(np.int64) for of in said]
    return np.stack(found) if found else None
