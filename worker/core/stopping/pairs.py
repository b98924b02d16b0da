"""What is said of pairs of groups: where the difference of two values lies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

RegionName = Literal["below", "within", "above"]

REGION_NAMES: tuple[RegionName, RegionName, RegionName] = ("below", "within", "above")


class PairVerdict(NamedTuple):
    """Where the difference of values g1 - g2 lies: probabilities, and the likeliest region.

    below: g1 is lower by more than epsilon; within: practically equal; above: the reverse.
    """

    g1: int
    g2: int
    p_below: float
    p_within: float
    p_above: float
    region: RegionName

    @property
    def confidence(self) -> float:
        """The paper's lambda: the probability of the likeliest region."""
        return max(self.p_below, self.p_within, self.p_above)


@dataclass(frozen=True, slots=True, eq=False)
class PairVerdicts(Sequence[PairVerdict]):
    """Of many pairs: all pairs of a hundred groups are thousands, and few are ever looked at.

    groups: (P, 2) of each pair. probabilities: (P, 3) of the regions. region: (P,) which of them is
    reported.
    """

    groups: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    region: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[PairVerdict]:
        names = map(REGION_NAMES.__getitem__, self.region.tolist())
        return map(PairVerdict, *self.groups.T.tolist(), *self.probabilities.T.tolist(), names)

    @overload
    def __getitem__(self, at: int) -> PairVerdict: ...

    @overload
    def __getitem__(self, at: slice) -> "PairVerdicts": ...

    def __getitem__(self, at: int | slice) -> "PairVerdict | PairVerdicts":
        if isinstance(at, slice):
            return PairVerdicts(self.groups[at], self.probabilities[at], self.region[at])
        (g1, g2), (below, within, above) = self.groups[at].tolist(), self.probabilities[at].tolist()
        return PairVerdict(g1, g2, below, within, above, REGION_NAMES[self.region[at]])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairVerdicts) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


NO_PAIRS = PairVerdicts(np.empty((0, 2), np.intp), np.empty((0, 3)), np.empty(0, np.intp))
