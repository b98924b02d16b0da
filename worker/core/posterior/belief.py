"""Tally and prior: all that is known of the pool, and how one more label changes it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.accuracies import Accuracies
from worker.core.posterior.metrics import ACCURACY, Errors, Metric, check_fit
from worker.core.prior.shared import Shared
from worker.core.soft_labels.known import Known

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[Any]  # whole numbers, as integers or as floats
Cells = slice | NDArray[np.intp]  # which of them, ascending
Population = Literal["finite", "infinite"]
T = TypeVar("T")

ONE_COMPONENT = np.ones(1)


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Tally and prior of C cells in G groups.

    Every group draws one of U components, u ~ `mixture`, for all its cells (its "group effect"; if
    the metric is pooled, one component is drawn for all groups, which then are bins of one pool);
    given it, a cell's rate of right answers is Beta(alpha_u + right, beta_u + wrong), independent
    of the other cells. With one component that is a plain Beta a cell. (Of differences of models
    the components are how much alike a group's cells are: `posterior.differences`.) With the finite
    population a group's accuracy is the share of right answers among all its items once they were
    all labelled; with the infinite one it is the rate itself, one cell a group.

    group: (C,) index of each cell's group, 0..n_groups-1, ascending. size: (C,) items, >= 0.
    right, wrong: (C,) labelled items, >= 0, together whole and <= size; each whole but for
    `with_pending`. alpha, beta: (C,) or (C, U) prior, > 0; kept as (C, U).
    mixture: (U,) prior probabilities of the components, > 0; or (G, U), where those of the groups
        differ.
    metric, errors: what a group's value is, and what it takes.
    variants: equally likely tallies where labels are in doubt (`posterior.mixing`); the belief's
        own tally is then the likeliest one.
    soft_labels: of a measure, what the votes tell of it; all that is said of the groups comes
        from its draws. `right` are then the items for which most people say what is predicted, and
        the prior is not used.

    parts: of several models the belief about each one's groups, of which the arrays here are laid
        end to end: the same items lie in all of them.
    n_labels: labelled items, where the cells of several models' views overlap.
    accuracies: of models that are asked which is best: the groups are the models, all of them of
        the same items; all that is said of the groups comes from it, and the prior is not used.
    shared: what is uncertain for all groups together; None if they are independent.
    paired: (G, R) loadings of what is each group's own on what outputs of the same prompts have in
        common (`posterior.paired`); None if nothing is paired.

    The arrays are copied and locked.

    Raises:
        ValueError: an array has the wrong shape, or a number lies outside its range.
    """

    group: Ints
    size: Ints
    right: Counts
    wrong: Counts
    alpha: Floats
    beta: Floats
    n_groups: int
    population: Population = "finite"
    mixture: Floats = field(default_factory=lambda: ONE_COMPONENT)
    metric: Metric = ACCURACY
    errors: Errors | None = None
    variants: tuple["Belief", ...] = ()
    soft_labels: Known | None = None
    parts: tuple["Belief", ...] = ()
    n_labels: int | None = None
    shared: Shared | None = None
    paired: Floats | None = None
    accuracies: Accuracies | None = None
    # Derived once, on demand (`derived`): beliefs are made by the thousand, most are asked little.
    _memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("group", "size", "right", "wrong", "alpha", "beta", "mixture"):
            array = np.array(getattr(self, name))
            if name in ("alpha", "beta") and array.ndim == 1:
                array = array[:, None]
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        _check(self)
        if (self.soft_labels is None) == (self.metric.kind == "measure"):
            raise ValueError(
                f"the metric is {self.metric.kind}, and what votes tell of a measure is "
                f"{'missing' if self.soft_labels is None else 'there'}; pass `soft_labels` with a "
                "measure."
            )
        check_fit(self.metric, self.group.size, self.errors)


def unlabelled(b: Belief) -> Ints:
    """(C,) items of each cell without a label."""
    if "unlabelled" not in b._memo:
        left = b.size - b.right - b.wrong
        b._memo["unlabelled"] = left if left.dtype.kind == "i" else np.rint(left).astype(np.int64)
    items: Ints = b._memo["unlabelled"]
    return items


def by_group(b: Belief, cells: Counts) -> Counts:
    """(G,) sums over the cells of each group; `cells` is (C,)."""
    return np.bincount(b.group, weights=cells, minlength=b.n_groups).astype(cells.dtype)


def group_size(b: Belief) -> Ints:
    """(G,) items of each group."""
    if "group_size" not in b._memo:
        b._memo["group_size"] = by_group(b, b.size)
    sizes: Ints = b._memo["group_size"]
    return sizes


def group_labelled(b: Belief) -> Counts:
    """(G,) labelled items of each group."""
    return by_group(b, b.right + b.wrong)


def group_right(b: Belief) -> Counts:
    """(G,) items of each group that were labelled and found right."""
    return by_group(b, b.right)


def group_share(b: Belief) -> Floats:
    """(G,) each group's share of the pool's items."""
    sizes = group_size(b)
    return sizes / max(1, int(sizes.sum()))


def starts(b: Belief) -> Ints:
    """(G + 1,) where each group's cells begin; the last entry is C."""
    if "starts" not in b._memo:
        b._memo["starts"] = np.searchsorted(b.group, np.arange(b.n_groups + 1))
    begins: Ints = b._memo["starts"]
    return begins


def filled_groups(b: Belief) -> NDArray[np.intp]:
    """The groups that have cells."""
    if "filled" not in b._memo:
        b._memo["filled"] = np.flatnonzero(np.diff(starts(b)))
    filled: NDArray[np.intp] = b._memo["filled"]
    return filled


def cells_of(b: Belief, g: int) -> slice:
    """The cells of group `g`."""
    begins = starts(b)
    return slice(int(begins[g]), int(begins[g + 1]))


def cells_of_groups(b: Belief, groups: NDArray[np.intp]) -> Cells:
    """The cells of some groups (ascending, all with cells); a slice if they lie side by side."""
    if groups.size == 1:
        return cells_of(b, int(groups[0]))
    begins, ends = starts(b)[groups], starts(b)[groups + 1]
    if (begins[1:] == ends[:-1]).all():
        return slice(int(begins[0]), int(ends[-1]))
    return np.concatenate([np.arange(*ends_of) for ends_of in zip(begins, ends, strict=True)])


def replaced(frozen: T, **changes: object) -> T:
    """`dataclasses.replace` without the checks of the class: for what is valid by construction."""
    kind = type(frozen)
    names, values_of = _slots(cast("Hashable", kind))
    copy = object.__new__(kind)
    for name, value in zip(names, values_of(frozen), strict=True):
        _set(copy, name, changes.get(name, value))
    return copy


_set = object.__setattr__


@cache
def _slots(kind: Hashable) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names: tuple[str, ...] = kind.__slots__  # type: ignore[attr-defined]
    return names, attrgetter(*names)


def _check(b: Belief) -> None:
    if b.population not in get_args(Population):
        raise ValueError(
            f"population is {b.population!r}, expected one of {', '.join(get_args(Population))}."
        )
    for name in ("group", "size", "right", "wrong"):
        shape = getattr(b, name).shape
        if b.group.ndim != 1 or shape != b.group.shape:
            raise ValueError(
                f"{name} has shape {shape} beside group's {b.group.shape}; "
                "pass flat arrays with one entry a cell."
            )
    for name in ("alpha", "beta"):
        shape = getattr(b, name).shape
        if shape != (b.group.size, b.mixture.shape[-1]):
            raise ValueError(
                f"{name} has shape {shape} for {b.group.size} cells and {b.mixture.shape[-1]} "
                "components; pass one row a cell and one column a component."
            )
    if b.mixture.ndim == 2 and (len(b.mixture) != b.n_groups or b.metric.pooled):
        expected = "one row for all groups" if b.metric.pooled else f"{b.n_groups} rows"
        raise ValueError(f"mixture has shape {b.mixture.shape}, expected {expected}.")
    if not ((b.mixture > 0).all() and (np.abs(b.mixture.sum(axis=-1) - 1) < 1e-9).all()):
        raise ValueError(f"mixture is {b.mixture}, expected positive probabilities that sum to 1.")
    for name in ("group", "size"):
        if not np.issubdtype(getattr(b, name).dtype, np.integer) and b.group.size:
            raise ValueError(
                f"{name} holds {getattr(b, name).dtype}, expected integers; pass an integer array."
            )
    done = b.right + b.wrong
    for fault, expected in (
        ((b.group < 0) | (b.group >= b.n_groups), f"group in 0..{b.n_groups - 1}"),
        (np.diff(b.group, prepend=0) < 0, "the cells of a group together, groups ascending"),
        (b.size < 0, "size >= 0"),
        (~((b.right >= 0) & (b.wrong >= 0)), "right >= 0 and wrong >= 0"),
        (np.abs(done - np.rint(done)) > 1e-6, "right + wrong to be a whole number"),
        (done > b.size + 1e-6, "right + wrong (labelled and pending) <= size"),
        (~((b.alpha > 0) & (b.beta > 0)).all(axis=1), "alpha > 0 and beta > 0"),
        (~np.isfinite(b.alpha + b.beta).all(axis=1), "finite alpha and beta"),
    ):
        if fault.any():
            c = int(fault.argmax())
            raise ValueError(
                f"cell {c} has group={b.group[c]} size={b.size[c]} right={b.right[c]} "
                f"wrong={b.wrong[c]} alpha={b.alpha[c]} beta={b.beta[c]}; expected {expected}. "
                "Correct the tally or the prior of this cell."
            )
