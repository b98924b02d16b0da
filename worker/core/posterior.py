"""What is known of every group's accuracy: tally and prior, and what follows from them exactly."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from worker.core.marginals import BetaMarginal, FiniteMarginal, Marginal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[Any]  # whole numbers, as integers or as floats
Population = Literal["finite", "infinite"]


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Tally and prior of C cells in G groups.

    A cell's rate of right answers is Beta(alpha + right, beta + wrong), independent of the others'.
    With the finite population a group's accuracy is the share of right answers among all its items
    once they were all labelled; with the infinite one it is the rate itself, one cell a group.

    group: (C,) index of each cell's group, 0..n_groups-1, ascending. size: (C,) items, >= 0.
    right, wrong: (C,) labelled items, >= 0, together whole and <= size; each whole but for
    `with_pending`. alpha, beta: (C,) prior, > 0.

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

    def __post_init__(self) -> None:
        for name in ("group", "size", "right", "wrong", "alpha", "beta"):
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        _check(self)


def unlabelled(b: Belief) -> Ints:
    """(C,) items of each cell without a label."""
    return np.rint(b.size - b.right - b.wrong).astype(np.int64)


def by_group(b: Belief, cells: Counts) -> Counts:
    """(G,) sums over the cells of each group; `cells` is (C,)."""
    return np.bincount(b.group, weights=cells, minlength=b.n_groups).astype(cells.dtype)


def group_size(b: Belief) -> Ints:
    """(G,) items of each group."""
    return by_group(b, b.size)


def group_labelled(b: Belief) -> Counts:
    """(G,) labelled items of each group."""
    return by_group(b, b.right + b.wrong)


def group_right(b: Belief) -> Counts:
    """(G,) items of each group that were labelled and found right."""
    return by_group(b, b.right)


def mean(b: Belief) -> Floats:
    """(G,) posterior mean accuracy, in [0, 1]; nan for groups without items."""
    rate = cell_mean(b)
    if b.population == "infinite":
        return _share(by_group(b, np.where(b.size > 0, rate, 0.0)), (group_size(b) > 0) * 1)
    return _share(by_group(b, b.right + unlabelled(b) * rate), group_size(b))


def variance(b: Belief) -> Floats:
    """(G,) posterior variance of the accuracy; 0 for labelled, nan for empty groups."""
    rate, strength = cell_mean(b), cell_strength(b)
    spread = rate * (1 - rate) / (strength + 1)
    if b.population == "infinite":
        return _share(by_group(b, np.where(b.size > 0, spread, 0.0)), (group_size(b) > 0) * 1)
    left = unlabelled(b)
    return _share(by_group(b, left * spread * (strength + left)), group_size(b) ** 2)


def cell_mean(b: Belief) -> Floats:
    """(C,) posterior mean of each cell's rate of right answers, in (0, 1)."""
    return (b.alpha + b.right) / cell_strength(b)


def cell_strength(b: Belief) -> Floats:
    """(C,) pseudo-counts and labels behind each cell's rate, > 0."""
    return b.alpha + b.beta + b.right + b.wrong


def marginals(b: Belief) -> list[Marginal | None]:
    """The law of each group's accuracy, in the order of the groups; None for empty groups."""
    a, c = (b.alpha + b.right).tolist(), (b.beta + b.wrong).tolist()
    sizes, rights = group_size(b).tolist(), group_right(b).tolist()
    starts = np.searchsorted(b.group, np.arange(b.n_groups + 1)).tolist()
    if b.population == "infinite":
        return [
            BetaMarginal(a[start], c[start]) if size else None
            for size, start in zip(sizes, starts[:-1], strict=True)
        ]
    cells = list(zip(unlabelled(b).tolist(), a, c, strict=True))
    return [
        FiniteMarginal(tuple(cell for cell in cells[start:stop] if cell[0]), right, size)
        if size
        else None
        for size, right, start, stop in zip(sizes, rights, starts[:-1], starts[1:], strict=True)
    ]


def marginal(b: Belief, g: int) -> Marginal:
    """The law of the accuracy of group `g`.

    Raises:
        ValueError: there is no such group, or it has no items.
    """
    if not 0 <= g < b.n_groups:
        raise ValueError(
            f"group {g} is unknown: the belief covers groups 0 to {b.n_groups - 1}; "
            "pass one of these."
        )
    cells = np.flatnonzero(b.group == g)
    law = marginals(_only(b, cells))[0] if cells.size else None
    if law is None:
        raise ValueError(
            f"group {g} has no items, so nothing can be said of its accuracy; leave it out."
        )
    return law


def distribution(b: Belief, g: int) -> tuple[Floats, Floats]:
    """The possible accuracies of group `g`, ascending (K,), and their probabilities (K,).

    Exact for the finite population, a fine quadrature for the infinite one (see
    `BetaMarginal.atoms`). The probabilities sum to 1.

    Raises:
        ValueError: the group is unknown or has no items.
    """
    return marginal(b, g).atoms()


def interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) equal-tailed credible interval of each group's accuracy; nan for empty groups.

    Holds at least `level`: more, where the possible accuracies are few.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability inside (0, 1), such as 0.95.")
    tail = (1 - level) / 2
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, law in enumerate(marginals(b)):
        if law is not None:
            bounds[g] = law.quantile(tail), law.quantile(1 - tail)
    return bounds


def draw(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    """(n, G) independent posterior draws of all groups' accuracies; nan for empty groups.

    A finite pool's unlabelled items are completed with whole outcomes.
    """
    drawn = rng.beta(b.alpha + b.right, b.beta + b.wrong, size=(n, b.group.size))
    theta = np.full((n, b.n_groups), np.nan)
    filled, starts = np.unique(b.group, return_index=True)
    if not filled.size:
        return theta
    if b.population == "finite":
        drawn = np.add.reduceat(b.right + rng.binomial(unlabelled(b), drawn), starts, axis=1)
        drawn = _share(drawn, group_size(b)[filled])
    theta[:, filled] = np.where(group_size(b)[filled] > 0, drawn, np.nan)
    return theta


def draw_cells(b: Belief, rng: np.random.Generator) -> Floats:
    """(C,) one posterior draw of each cell's rate of right answers, in [0, 1]."""
    return rng.beta(b.alpha + b.right, b.beta + b.wrong)


def _only(b: Belief, cells: NDArray[np.intp]) -> Belief:
    names = ("size", "right", "wrong", "alpha", "beta")
    parts = {name: getattr(b, name)[cells] for name in names}
    return Belief(np.zeros(cells.size, np.int64), **parts, n_groups=1, population=b.population)


def _share(part: Counts, whole: Ints) -> Floats:
    out = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def _check(b: Belief) -> None:
    if b.population not in get_args(Population):
        raise ValueError(
            f"population is {b.population!r}, expected one of {', '.join(get_args(Population))}."
        )
    for name in ("group", "size", "right", "wrong", "alpha", "beta"):
        shape = getattr(b, name).shape
        if b.group.ndim != 1 or shape != b.group.shape:
            raise ValueError(
                f"{name} has shape {shape} beside group's {b.group.shape}; "
                "pass flat arrays with one entry a cell."
            )
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
        (~((b.alpha > 0) & (b.beta > 0)), "alpha > 0 and beta > 0"),
        (~(np.isfinite(b.alpha) & np.isfinite(b.beta)), "finite alpha and beta"),
    ):
        if fault.any():
            c = int(fault.argmax())
            raise ValueError(
                f"cell {c} has group={b.group[c]} size={b.size[c]} right={b.right[c]} "
                f"wrong={b.wrong[c]} alpha={b.alpha[c]} beta={b.beta[c]}; expected {expected}. "
                "Correct the tally or the prior of this cell."
            )
    if b.population == "infinite" and np.unique(b.group).size < b.group.size:
        c = int((np.diff(b.group, prepend=-1) == 0).argmax())
        raise ValueError(
            f"group {b.group[c]} has several cells, but the infinite population takes one cell a "
            "group: a rate cannot be summed over strata. Use one stratum, or the finite population."
        )
