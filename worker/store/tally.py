"""What the tally counts by: one key for all items that count alike, written and read here only."""

from functools import lru_cache
from typing import NamedTuple

from worker.core.stopping.schedule import epoch


class TallyKey(NamedTuple):
    """Items of one key are exchangeable: nothing else of them is looked at.

    epoch: of the claim; it says which outcomes the empirical prior may be fitted to
        (`stopping.schedule`). cell: -1 for gold items. predicted: index of the class, or a code
        that stands for it. label: what the annotators said.
    """

    epoch: int
    cell: int
    predicted: int
    label: str


def tally_key(claim: int, cell: int, predicted: int, label: str) -> str:
    """The key of an item by the number of its claim, as it is stored."""
    return f"{epoch(claim)}:{cell}:{predicted}:{label}"


@lru_cache(maxsize=1 << 16)  # every turn reads the whole tally
def read_tally_key(key: str) -> TallyKey:
    """Read what `tally_key` wrote.

    Raises:
        ValueError: it is no such key.
    """
    in_epoch, cell, predicted, label = key.split(":", 3)
    return TallyKey(int(in_epoch), int(cell), int(predicted), label)
