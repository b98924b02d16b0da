"""The votes of several annotators on the same items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """V votes of A annotators on I items of K classes, and what else is known of the items.

    A multiset: the votes are kept sorted by item, annotator and label, so that the order in which
    they came leaves no trace.

    item, annotator, label: (V,) indices of the item, of who voted, and the class given.
    cell: (I,) the item's cell of the pool, 0 or more; -1 for items outside it, which tell of the
        annotators only.
    predicted: (I,) the classifier's class; -1 where `cell` is.
    truth: (I,) the known class of gold items, inside the pool or not; -1 elsewhere.
    n_annotators, n_classes: A >= 0, K >= 2.

    The arrays are copied and locked.

    Raises:
        ValueError: an array has the wrong shape, or a number lies outside its range.
    """

    item: Ints
    annotator: Ints
    label: Ints
    cell: Ints
    predicted: Ints
    truth: Ints
    n_annotators: int
    n_classes: int

    def __post_init__(self) -> None:
        arrays = {name: np.array(getattr(self, name)) for name in self.__slots__[:6]}
        _check(arrays, self.n_annotators, self.n_classes)
        order = np.lexsort((arrays["label"], arrays["annotator"], arrays["item"]))
        for name, array in arrays.items():
            kept: Ints = array.astype(np.int64)
            if name in ("item", "annotator", "label"):
                kept = kept[order]
            kept.setflags(write=False)
            object.__setattr__(self, name, kept)

    @property
    def n_items(self) -> int:
        """I, with and without votes."""
        return self.cell.size

    @property
    def is_gold(self) -> NDArray[np.bool_]:
        """(I,) whether the item's class is known."""
        return self.truth >= 0


def counts(votes: Votes) -> Ints:
    """(I, K) how often each class was given to each item.

    >>> none = [-1, -1]
    >>> counts(Votes([0, 0, 1], [0, 1, 0], [1, 1, 0], none, none, none, 2, 2)).tolist()
    [[0, 2], [1, 0]]
    """
    flat = np.bincount(
        votes.item * votes.n_classes + votes.label, minlength=votes.n_items * votes.n_classes
    )
    return flat.reshape(votes.n_items, votes.n_classes)


def _check(arrays: dict[str, NDArray[Any]], n_annotators: int, n_classes: int) -> None:
    if n_classes < 2 or n_annotators < 0:
        raise ValueError(
            f"there are {n_classes} classes and {n_annotators} annotators; expected 2 classes or "
            "more, and no negative number of annotators."
        )
    for first, rest in (("item", ("annotator", "label")), ("cell", ("predicted", "truth"))):
        for name in (first, *rest):
            if arrays[name].ndim != 1 or arrays[name].shape != arrays[first].shape:
                raise ValueError(
                    f"{name} has shape {arrays[name].shape} beside {first}'s "
                    f"{arrays[first].shape}; pass flat arrays, with one entry a vote for item, "
                    "annotator and label, and one an item for cell, predicted and truth."
                )
    for name, low, high in (
        ("item", 0, arrays["cell"].size),
        ("annotator", 0, n_annotators),
        ("label", 0, n_classes),
        ("cell", -1, None),
        ("predicted", -1, n_classes),
        ("truth", -1, n_classes),
    ):
        array = arrays[name]
        if array.size and not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} holds {array.dtype}; pass an integer array.")
        is_out = (array < low) | (array >= (np.inf if high is None else high))
        if is_out.any():
            at = int(is_out.argmax())
            upto = "up" if high is None else f"to {high - 1}"
            raise ValueError(f"{name}[{at}] is {array[at]}; expected an index from {low} {upto}.")
    is_half = (arrays["cell"] < 0) != (arrays["predicted"] < 0)
    if is_half.any():
        at = int(is_half.argmax())
        raise ValueError(
            f"item {at} has cell={arrays['cell'][at]} and predicted={arrays['predicted'][at]}; "
            "give both, or -1 for both."
        )
