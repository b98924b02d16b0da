"""What groups have in common: the factors that they are products of, and what they lie within."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.plan.group_spec import GroupBy
from worker.pool.groups import Codes, group_codes
from worker.pool.predictions import Predictions


def parents_of(
    factor: GroupBy, group: Codes, names: Sequence[str], predictions: Predictions
) -> dict[str, Any]:
    """Return the parents' names, and which of them each group has, as JSON has it.

    A group without items has none: -1.

    Raises:
        PredictionsError: a group has items in two parents.
    """
    parent, parents = group_codes((factor,), predictions)
    of_group = _of_groups(parent, group, len(names))
    astray = of_group[group] != parent
    if astray.any():
        g = int(group[astray][0])
        two = sorted({parents[int(parent[astray][0])], parents[int(of_group[g])]})
        raise PredictionsError(
            f"{predictions.path}: the group {names[g]!r} has items in {two[0]!r} and in {two[1]!r} "
            f"of {factor}; parents hold whole groups: let `pool.groups` name {factor} too, as in "
            f"`groups: [{factor}, ...]`, or leave `pool.parents` out"
        )
    return {"names": list(parents), "of": of_group.tolist()}


def levels_of(
    factors: Sequence[GroupBy], group: Codes, n_groups: int, predictions: Predictions
) -> list[list[int]]:
    """Return the level of every group in each of the factors, as JSON has them; -1: no items."""
    codes = (group_codes((factor,), predictions)[0] for factor in factors)
    return [_of_groups(code, group, n_groups).tolist() for code in codes]


def _of_groups(code: Codes, group: Codes, n_groups: int) -> NDArray[np.int64]:
    """(G,) the code of each group's last item."""
    found: NDArray[np.int64] = np.full(n_groups, -1, dtype=np.int64)
    found[group] = code
    return found
