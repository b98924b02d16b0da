"""The groups' parents, as the compiled pool keeps them."""

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
