"""Bands of the groups' accuracies that hold at all times at once, whatever chose the labels.

They believe no model: a bad forecast only widens them. The items of a cell are claimed in random
order, so the probability of what was seen is known for every candidate truth, and the forecast's
probability over it is a martingale under the real one. Only counts enter.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from worker.core.confidence_sequences.extremes import Evidence, evidence, least, least_totals
from worker.core.confidence_sequences.forecast import Counts, Forecast

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What came back from the claimed items of C cells in G groups.

    group: (C,) index of each cell's group, 0..n_groups-1, ascending. size: (C,) items.
    right, wrong: (C,) judged items. unknown: (C,) items that were claimed, in the cell's random
    order like all others, and have no outcome: pending, skipped, rejected, deleted or withheld.

    Raises:
        ValueError: the counts do not fit each other.
    """

    group: NDArray[np.int64]
    size: NDArray[np.int64]
    right: Counts
    wrong: Counts
    unknown: Counts
    n_groups: int

    def __post_init__(self) -> None:
        for name in ("size", "right", "wrong", "unknown"):
            shape = getattr(self, name).shape
            if shape != self.group.shape:
                raise ValueError(
                    f"{name} has shape {shape}, but there are {self.group.size} cells; "
                    "pass one count a cell."
                )
        claimed = self.right + self.wrong + self.unknown
        least = np.minimum(np.minimum(self.right, self.wrong), self.unknown)
        over = (claimed > self.size + 1e-6) | (least < 0)
        if over.any():
            c = int(over.argmax())
            raise ValueError(
                f"cell {c} has {self.right[c]} right, {self.wrong[c]} wrong and {self.unknown[c]} "
                f"unknown items of {self.size[c]}; derive all of them from the same claims."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Every group's accuracy lies in [low, high], now and at all times, but for the misses.

    low, high: (G,) accuracies that the whole pool's labels would give; nan for groups without
    items. rate_low, rate_high: (C,) share of right answers among each cell's unclaimed items in the
    truth that is hardest to rule out at each end; nan where all are claimed.
    miss_low, miss_high: (G,) probability that an end is ever wrong.
    """

    low: Floats
    high: Floats
    rate_low: Floats
    rate_high: Floats
    miss_low: Floats
    miss_high: Floats
    seen: Seen


def bands(
    seen: Seen,
    expected: Forecast,
    miss_low: float | Floats,
    miss_high: float | Floats,
    known: Bands | None = None,
) -> Bands:
    """The set of truths under which what was seen is not too improbable, as one band a group.

    With n_c of N_c items of cell c claimed, r_c right and w_c wrong, a truth of R_c right items
    makes the sequence as likely as P = prod_c R_c^(r_c) (N_c-R_c)^(w_c) / N_c^(n_c), falling
    factorials. The forecast's Q is a mixture of beta-binomial sequences, fixed in advance. Q/P is a
    martingale at the truth, so by Ville's inequality {R: Q/P < 1/miss} has it at all times with
    probability 1 - miss. The lowest and highest totals in the set are found exactly.

    Items without an outcome may be missing because of it: the band covers the sets of all their
    possible outcomes (see `extremes` for how). The selection of cells, the moment of looking and
    the order of arrival may depend on everything that is known; the order within a cell may not.

    Args:
        miss_low, miss_high: probability in (0, 1], of each group or of all. Where both are the
            same, that is the probability that either end is ever wrong.
        known: earlier bands; groups of which nothing changed are taken from them.

    Source:
        Waudby-Smith & Ramdas, "Confidence sequences for sampling without replacement" (2020); here
        for strata under one forecast, and with missing outcomes.
    """
    low, high = np.full((2, seen.n_groups), np.nan)
    rate_low, rate_high = np.full((2, seen.group.size), np.nan)
    misses = [np.full(seen.n_groups, miss, dtype=np.float64) for miss in (miss_low, miss_high)]
    found = Bands(low, high, rate_low, rate_high, misses[0], misses[1], seen)
    changed: NDArray[np.bool_] = np.ones(seen.n_groups, dtype=bool)
    if known is not None and _is_alike(known, found):
        changed = _changed(known.seen, seen)
        for name in ("low", "high", "rate_low", "rate_high"):
            getattr(found, name)[:] = getattr(known, name)
    return _work_out(found, expected, np.flatnonzero(changed[seen.group]))


def _work_out(found: Bands, expected: Forecast, cells: NDArray[np.intp]) -> Bands:
    """Fill in what belongs to the groups of these cells."""
    if not cells.size:
        return found
    seen = found.seen
    groups, of = np.unique(seen.group[cells], return_inverse=True)
    both = _both_sides(seen, expected, cells, of)
    budget = -np.log(np.concatenate([found.miss_low[groups], found.miss_high[groups]]))
    totals, rates = least_totals(both, budget)
    size = np.bincount(of, seen.size[cells])
    with np.errstate(invalid="ignore"):  # groups without items: 0 / 0
        found.low[groups] = totals[: groups.size] / size
        found.high[groups] = 1 - totals[groups.size :] / size
    found.rate_low[cells], found.rate_high[cells] = rates[: cells.size], 1 - rates[cells.size :]
    return found


def joint_differences(
    seen: Seen, expected: Forecast, pairs: NDArray[np.intp], miss: float
) -> Floats:
    """(P, 2) ends between which theta_g1 - theta_g2 lies, by both groups' labels together.

    The product of two groups' martingales is one too, and rules out more of a pair than each of
    them alone can, while both groups are open.

    Args:
        pairs: (P, 2) groups with items.
        miss: probability in (0, 1] that either end of one pair is ever wrong.
    """
    n_pairs = len(pairs)
    first, second = np.concatenate([pairs, pairs[:, ::-1]]).T
    asked = np.isin(seen.group, pairs) & (seen.size > 0)
    cells = np.flatnonzero(asked)
    groups, of = np.unique(seen.group[cells], return_inverse=True)
    both = _both_sides(seen, expected, cells, of)
    size = np.bincount(of, seen.size[cells])
    # theta_first - theta_second = R_first / N_first + W_second / N_second - 1
    right, wrong = np.searchsorted(groups, first), np.searchsorted(groups, second) + groups.size
    begin = np.searchsorted(both.of, np.arange(2 * groups.size + 1))
    members = [
        np.r_[begin[i] : begin[i + 1], begin[j] : begin[j + 1]]
        for i, j in zip(right.tolist(), wrong.tolist(), strict=True)
    ]
    picked = np.concatenate(members)
    pair = np.repeat(np.arange(first.size), [m.size for m in members])
    # counted in items of the pair's smaller group, so that prices are of one order
    unit = np.minimum(size[right], size[wrong - groups.size])
    weight = unit[pair] / size[both.of[picked] % groups.size]
    budget = -np.log(miss) - both.log_q[right] - both.log_q[wrong]
    gap = least(both, picked, pair, weight, budget) / unit - 1
    return np.stack([gap[:n_pairs], -gap[n_pairs:]], axis=1)


def _both_sides(
    seen: Seen, expected: Forecast, cells: NDArray[np.intp], of: NDArray[np.intp]
) -> Evidence:
    """The evidence on right answers, and behind it, as more groups, that on wrong ones."""
    counts = (seen.right, seen.wrong, seen.size, seen.unknown)
    r, w, n, u = (np.asarray(c[cells], dtype=np.float64) for c in counts)
    a, b, norm = (h[cells] for h in (expected.alpha, expected.beta, expected.log_norm))
    ahead = evidence(of, (n, r, w, u), (a, b, norm), expected.log_weight)
    behind = (
        evidence(of, (n, w, r, u), (b, a, norm), expected.log_weight)
        if u.any()
        else replace(ahead, right=ahead.wrong, wrong=ahead.right)
    )
    behind = replace(behind, of=of + of.max() + 1)
    return Evidence(
        *(
            np.concatenate([getattr(side, f.name) for side in (ahead, behind)])
            for f in fields(ahead)
        )
    )


def _is_alike(known: Bands, found: Bands) -> bool:
    return all(
        np.array_equal(was, now)
        for was, now in (
            (known.seen.size, found.seen.size),
            (known.seen.group, found.seen.group),
            (known.miss_low, found.miss_low),
            (known.miss_high, found.miss_high),
        )
    )


def _changed(was: Seen, now: Seen) -> NDArray[np.bool_]:
    cells = np.zeros(now.group.size, dtype=bool)
    for name in ("right", "wrong", "unknown"):
        cells |= getattr(was, name) != getattr(now, name)
    return np.bincount(now.group, cells, minlength=now.n_groups) > 0
