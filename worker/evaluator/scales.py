"""Ordinal and binned ratings as classes: Label Studio's Rating, Number, and numbers in a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers as K classes, in ascending order.

    edges: K + 1 ascending edges; a class holds the numbers from its lower edge up to, but without,
    its upper one; the last class holds its upper edge, too.
    is_whole: the classes are the whole numbers themselves, and others are outside.
    classes: K names.
    """

    edges: tuple[float, ...]
    is_whole: bool
    classes: tuple[str, ...]

    def place(self, ratings: Floats) -> NDArray[np.int64]:
        """The class of every rating.

        Args:
            ratings: (V,) numbers.

        Returns:
            (V,) indices of classes.

        Raises:
            EvaluatorError: a rating is no number, outside the scale, or between its whole numbers.
        """
        edges = np.array(self.edges)
        at = np.searchsorted(edges, ratings, side="right") - 1
        if not self.is_whole:
            at = np.where(ratings == edges[-1], edges.size - 2, at)
        is_bad = ~np.isfinite(ratings) | (at < 0) | (at >= len(self.classes))
        if self.is_whole:
            is_bad |= ratings != np.floor(ratings)
        if is_bad.any():
            bad = np.flatnonzero(is_bad)
            shown = ", ".join(f"{ratings[row]:g} (vote {row + 1})" for row in bad[:_SHOWN])
            kind = "whole numbers" if self.is_whole else "numbers"
            raise EvaluatorError(
                f"{bad.size:,} ratings are outside the scale: came {shown}, expected {kind} from "
                f"{self.edges[0]:g} to {self._top:g}. Correct `evaluate.scale`, or the ratings."
            )
        return at.astype(np.int64)

    @property
    def _top(self) -> float:
        return self.edges[-1] - 1 if self.is_whole else self.edges[-1]


def ordinal(low: int, high: int) -> Scale:
    """The scale of whole numbers from `low` to `high`, each a class: stars, agreement.

    Raises:
        EvaluatorError: it has fewer than two steps.

    >>> ordinal(1, 3).classes
    ('1', '2', '3')
    """
    if high <= low:
        raise EvaluatorError(
            f"A scale from {low} to {high} came, expected at least two steps: `low` below `high`."
        )
    steps = range(low, high + 1)
    return Scale((*map(float, steps), float(high + 1)), True, tuple(map(str, steps)))


def binned(edges: Sequence[float]) -> Scale:
    """The scale of numbers in bins: ages, prices.

    Args:
        edges: ascending; one more than there are bins.

    Raises:
        EvaluatorError: fewer than two bins, or edges that do not ascend.

    >>> binned([0, 5, 10]).classes
    ('0 to 5', '5 to 10')
    """
    numbers = tuple(map(float, edges))
    if len(numbers) < 3 or any(a >= b for a, b in pairwise(numbers)):
        raise EvaluatorError(
            f"The edges {list(edges)} came, expected at least three numbers in ascending order: "
            "[0, 5, 10] makes the bins 0 to 5 and 5 to 10."
        )
    names = [f"{a:g} to {b:g}" for a, b in pairwise(numbers)]
    return Scale(numbers, False, tuple(names))
