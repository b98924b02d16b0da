"""Votes of people -> the frequencies of the classes, item by item (soft labels)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.scales import Scale
from worker.nearest import did_you_mean, listed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUM_TOLERANCE = 1e-3  # as for predictions; more is no rounding of three digits
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """What people said of N items.

    items: N ids. values: (N, K), >= 0, rows sum to 1. votes: (N,) how many votes an item has; None
    where only frequencies are known. classes: K names.
    """

    items: tuple[str, ...]
    values: Floats
    votes: Ints | None
    classes: tuple[str, ...]

    def of(self, items: Sequence[str]) -> "Frequencies":
        """Those of some items, in their order.

        Raises:
            KeyError: an item is not among them.
        """
        place = {item: row for row, item in enumerate(self.items)}
        rows = np.array([place[item] for item in items], dtype=np.int64)
        votes = self.votes[rows] if self.votes is not None else None
        return replace(self, items=tuple(items), values=self.values[rows], votes=votes)


def from_counts(items: Sequence[str], counts: Floats, classes: Sequence[str]) -> Frequencies:
    """Whole votes, or frequencies that sum to 1, item by item.

    Rows are taken for votes if all numbers are whole and a row's sum is above 1.

    Args:
        items: N ids, each once.
        counts: (N, K), K >= 2.
        classes: K names.

    Raises:
        EvaluatorError: one class only, an item twice, a number that is negative or missing, an
            item without votes, one vote for every item, or frequencies that do not sum to 1 within
            0.001; the message names the first items.
    """
    counts = np.asarray(counts, dtype=np.float64)
    expected = (len(items), len(classes))
    if counts.shape != expected or not len(items):
        raise EvaluatorError(
            f"The votes have the shape {counts.shape}, expected {expected}: a row for each item "
            "and a column for each class, of at least one item."
        )
    if len(classes) < 2:
        raise EvaluatorError(
            f"People had one class to choose ({listed(classes)}), expected at least two; there is "
            "nothing to agree or disagree on."
        )
    if len(set(items)) < len(items):
        twice = Counter(items).most_common(1)[0][0]
        raise EvaluatorError(
            f"The item {twice!r} is there twice among the human labels; add its votes up in one "
            "row, or give one vote a row with `evaluate.column`."
        )
    _refuse(
        items,
        np.asarray(~np.isfinite(counts).all(axis=1)),
        "have a number of votes that is missing",
    )
    _refuse(items, np.asarray((counts < 0).any(axis=1)), "have a negative number of votes")
    total = counts.sum(axis=1)
    _refuse(
        items, total == 0, "have no votes", "leave them out, or have them labelled; nothing is "
        "known of what people say of them",
    )  # fmt: skip
    is_whole = bool((counts == np.floor(counts)).all())
    if is_whole and total.max() == 1:
        raise EvaluatorError(
            f"All {len(items):,} items have one vote, so how far people disagree cannot be seen; "
            "have items labelled by several people (`annotation.per_item`), or give `evaluate."
            "human` with all votes."
        )
    if not is_whole:
        is_off = np.abs(total - 1) > SUM_TOLERANCE
        first = f"(the first sums to {total[is_off][0]:.6g}) " if is_off.any() else ""
        _refuse(
            items, is_off, f"{first}have frequencies that do not sum to 1 within {SUM_TOLERANCE}",
            "give whole numbers of votes, or frequencies of all classes",
        )  # fmt: skip
    votes = total.astype(np.int64) if is_whole else None
    return Frequencies(tuple(items), counts / total[:, None], votes, tuple(classes))


def from_votes(
    items: Sequence[str],
    votes: Sequence[str] | Floats,
    classes: Sequence[str],
    scale: Scale | None = None,
) -> Frequencies:
    """Single votes, of which an item may have many: live annotations, or a file with a vote a row.

    Args:
        items: V ids.
        votes: V names of classes, or, with a scale, V numbers (or texts of numbers).
        classes: K names. With a scale they are its own, or as many in the same order.
        scale: how ratings become classes.

    Returns:
        The frequencies of the items, in the order of their first votes.

    Raises:
        EvaluatorError: a vote for an unknown class or outside the scale; else as `from_counts`.
    """
    if len(items) != len(votes):
        raise EvaluatorError(f"{len(votes)} votes came for {len(items)} ids; give one id a vote.")
    known = tuple(classes)
    if scale is not None:
        at = reordered(scale, known)[scale.place(_numbers(votes))]
    else:
        place = {name: k for k, name in enumerate(known)}
        unknown = sorted({str(v) for v in votes} - set(place))
        if unknown:
            raise EvaluatorError(
                f"People voted for {len(unknown)} classes that the predictions do not know: "
                f"{listed([repr(name) for name in unknown], _SHOWN)}"
                f"{did_you_mean(unknown[0], known)} (the classes are {listed(known)}). Write them "
                "alike, or give `evaluate.scale` if the votes are ratings."
            )
        at = np.array([place[str(v)] for v in votes], dtype=np.int64)
    rows = {item: row for row, item in enumerate(dict.fromkeys(items))}
    cell = np.array([rows[item] for item in items], dtype=np.int64) * len(known) + at
    counts = np.bincount(cell, minlength=len(rows) * len(known)).reshape(len(rows), len(known))
    return from_counts(tuple(rows), counts.astype(np.float64), known)


def reordered(scale: Scale, classes: Sequence[str]) -> Ints:
    """(K,) where among `classes` each class of a scale stands: by name, else in the same order.

    Raises:
        EvaluatorError: the scale has another number of classes.
    """
    if len(scale.classes) != len(classes):
        raise EvaluatorError(
            f"The scale has {len(scale.classes)} classes ({listed(scale.classes)}), but the "
            f"predictions have {len(classes)} ({listed(tuple(classes))}); they must be the same "
            "ones in the same order. Correct `evaluate.scale`."
        )
    if set(scale.classes) == set(classes):
        return np.array([tuple(classes).index(name) for name in scale.classes], dtype=np.int64)
    return np.arange(len(classes))


def _numbers(votes: Sequence[str] | Floats) -> Floats:
    try:
        return np.asarray(votes, dtype=np.float64)
    except ValueError:
        bad = next(v for v in votes if not _is_number(str(v)))
        raise EvaluatorError(
            f"The rating {bad!r} came, expected a number; the plan has a scale (`evaluate.scale`), "
            "so all votes must be ratings."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse(
    items: Sequence[str], is_bad: NDArray[np.bool_], what: str, cure: str = "correct them"
) -> None:
    if is_bad.any():
        bad = [items[int(row)] for row in np.flatnonzero(is_bad)]
        raise EvaluatorError(
            f"{len(bad):,} of {len(items):,} items {what}: {listed(bad, _SHOWN)}; {cure}."
        )
