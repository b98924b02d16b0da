"""Beliefs one step further: one label later, or as if the queue had come back."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Counts, replaced
from worker.core.posterior.metrics import Errors
from worker.core.posterior.moments import moments
from worker.core.prior.shared import Shared

# What depends on prior and pool only, and so stays when the tally changes.
_LASTING = (
    "even_strength", "group_size", "starts", "filled", "prior_key", "divisor", "empty",
    "given_points",
)  # fmt: skip


def labelled(b: Belief, cell: int, outcome: int) -> Belief:
    """The belief after one more label in `cell`; what belongs to other groups is not worked anew.

    Args:
        outcome: 0 for a right answer, j >= 1 for an error of kind j - 1.

    Raises:
        ValueError: the cell has no unlabelled items.
    """
    if b.right[cell] + b.wrong[cell] >= b.size[cell]:
        raise ValueError(
            f"cell {cell} has {b.size[cell]} items, all labelled; no further label can be of it."
        )
    right, wrong, errors = b.right, b.wrong, b.errors
    if outcome == 0:
        right = right.copy()
        right[cell] += 1
    else:
        wrong = wrong.copy()
        wrong[cell] += 1
        if errors is not None:
            counts = errors.counts.copy()
            counts[cell, outcome - 1] += 1
            errors = replaced(errors, counts=counts)
    return _after(b, right, wrong, errors, (int(b.group[cell]),))


def with_pending(b: Belief, pending: Counts) -> Belief:
    """The belief as if the claimed items had come back with their expected outcomes.

    So the variance of a group shrinks with every item queued in it, while its mean hardly moves:
    what is already on its way to an annotator is not asked for again. To choose by, never to
    decide by.

    Args:
        pending: (C,) whole, >= 0; claimed and not yet judged.

    Raises:
        ValueError: a cell has more labelled and pending items than items.
    """
    at = np.flatnonzero(pending)
    if not at.size:
        return b
    over = at[(b.right + b.wrong + pending)[at] > b.size[at] + 1e-6]
    if over.size:
        c = int(over[0])
        raise ValueError(
            f"cell {c} has {pending[c]} pending items beside {b.right[c] + b.wrong[c]} labelled "
            f"ones, but {b.size[c]} in all; derive them from the same state."
        )
    rate = moments(b).rate[at]
    right, wrong = b.right.astype(np.float64), b.wrong.astype(np.float64)
    right[at] += pending[at] * rate
    wrong[at] += pending[at] * (1 - rate)
    errors = b.errors
    if errors is not None:
        behind = errors.counts[at] + errors.prior[at]
        counts = errors.counts.astype(np.float64)
        counts[at] += (pending[at] * (1 - rate))[:, None] * behind / behind.sum(1, keepdims=True)
        errors = replaced(errors, counts=counts)
    return _after(b, right, wrong, errors, tuple(np.unique(b.group[at]).tolist()))


def with_prior(
    b: Belief,
    alpha: NDArray[np.float64],
    beta: NDArray[np.float64],
    mixture: NDArray[np.float64],
    errors: Errors | None = None,
    shared: Shared | None = None,
) -> Belief:
    """The same tally with another prior; `errors` with another prior too, if they are given.

    Args:
        shared: what is uncertain of the prior for all groups together.

    Raises:
        ValueError: as `Belief`.
    """
    return Belief(
        b.group, b.size, b.right, b.wrong, alpha, beta, b.n_groups, b.population, mixture,
        b.metric, errors or b.errors, shared=shared,
    )  # fmt: skip


def with_tally(b: Belief, counts: NDArray[np.int64]) -> Belief:
    """The same prior with another tally.

    Args:
        counts: (C, 1 + L) right answers and errors of each kind (of one kind, if all are alike).

    Raises:
        ValueError: as `Belief`.
    """
    errors = replace(b.errors, counts=counts[:, 1:]) if b.errors is not None else None
    return Belief(
        b.group, b.size, counts[:, 0], counts[:, 1:].sum(axis=1), b.alpha, b.beta, b.n_groups,
        b.population, b.mixture, b.metric, errors, shared=b.shared,
    )  # fmt: skip


def with_counts(b: Belief, counts: NDArray[np.int64]) -> Belief:
    """`with_tally` that keeps what belongs to groups whose tally stays the same.

    It is `b` itself if no tally changed.

    Args:
        counts: as of `with_tally`.

    Raises:
        ValueError: a cell has more labels than items, or fewer than none.
    """
    right, wrong = counts[:, 0].copy(), counts[:, 1:].sum(axis=1)
    over = (right + wrong > b.size) | (counts < 0).any(axis=1)
    if over.any():
        c = int(over.argmax())
        raise ValueError(
            f"cell {c} has {b.size[c]} items, but the tally says {counts[c].tolist()}; it was "
            "counted for another pool."
        )
    is_new, errors = (right != b.right) | (wrong != b.wrong), b.errors
    if errors is not None:
        is_new |= (counts[:, 1:] != errors.counts).any(axis=1)
        errors = replaced(errors, counts=counts[:, 1:])
    if not b.variants and not is_new.any():
        return b
    return _after(b, right, wrong, errors, tuple(np.unique(b.group[is_new]).tolist()))


def _after(
    b: Belief, right: Counts, wrong: Counts, errors: Errors | None, groups: tuple[int, ...]
) -> Belief:
    """`b` with another tally in `groups`; valid by construction, hence not checked again."""
    right.setflags(write=False)
    wrong.setflags(write=False)
    memo = {name: b._memo[name] for name in _LASTING if name in b._memo}
    after = replaced(b, right=right, wrong=wrong, errors=errors, variants=(), _memo=memo)
    _carry_over(b, after, groups)
    return after


def _carry_over(b: Belief, after: Belief, groups: tuple[int, ...]) -> None:
    """Let `after`, which differs from `b` in the tally of `groups` only, begin with b's moments.

    And with the distributions of the groups. Nothing is worked out yet: many beliefs are never
    asked.
    """
    if b.metric.pooled or b.metric.classes == "each":
        return  # all groups share their components, or their errors
    if "marginals" in b._memo and not b.variants:
        after._memo["stale_marginals"] = b._memo["marginals"], groups
    old, stale = b._memo.get("moments"), groups
    if old is None and "stale_moments" in b._memo:
        old, stale = b._memo["stale_moments"]
        stale = tuple(sorted({*stale, *groups}))
    if old is not None:
        after._memo["stale_moments"] = old, stale
