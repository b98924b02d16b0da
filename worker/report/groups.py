"""What a report says of the groups: their values, their pairs, and what is confused with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_share, group_size
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.entries import confusion_interval
from worker.core.posterior.mixing import mixed
from worker.core.stopping.verdict import Verdict
from worker.findings.evidence import rounded
from worker.formats import probability
from worker.report.contents import Confusion, Group, Pair


def groups_of(
    work: Assessment, belief: Belief, rows: Sequence[Mapping[str, Any]], verdict: Verdict
) -> tuple[Group, ...]:
    """All groups, from their rows of `worker.findings.evidence.group_rows`."""
    share = group_share(belief)
    numbers = (
        "labelled", "right", "mean", "low", "high",
        "p_lowest", "p_highest", "rank", "rank_low", "rank_high",
    )  # fmt: skip
    return tuple(
        Group(
            name=row["group"],
            size=row["size"],
            share=round(float(share[g]), 6),
            is_chosen=g in verdict.chosen,
            band_low=row.get("band_low"),
            band_high=row.get("band_high"),
            **{key: row[key] for key in numbers},
        )
        for g, row in enumerate(rows)
    )


def boundary_of(groups: Sequence[Group], verdict: Verdict) -> float | None:
    """Half-way between the means of the last group that is chosen and the first that is not."""
    m = len(verdict.chosen)
    if not 0 < m < len(verdict.ranking):
        return None
    at_the_cut = [groups[g].mean for g in verdict.ranking[m - 1 : m + 1]]
    means = [mean for mean in at_the_cut if mean is not None]  # all: empty groups are not ranked
    return round(sum(means) / len(means), 6)


def pair_of(row: Mapping[str, Any]) -> Pair:
    """A pair, from its row of `worker.findings.evidence.pair_rows`."""
    first, second = row["groups"]
    below, within, above = (probability(row[key]) for key in ("below", "within", "above"))
    return Pair(first, second, below, within, above, row["region"])


def confusion_of(work: Assessment, belief: Belief) -> Confusion | None:
    """The confusion matrix; None for other metrics."""
    if belief.metric.kind != "confusion":
        return None
    means = mixed(belief, confusion_mean)
    low, high = np.moveaxis(confusion_interval(belief), 2, 0)
    n_classes = len(work.pool.classes)

    def by_class(shares: NDArray[np.float64]) -> tuple[tuple[float | None, ...], ...]:
        # the first column is that of the right answers; the kinds of errors follow by class
        every = shares[:, 1 : 1 + n_classes].copy()
        np.fill_diagonal(every, shares[:, 0])
        every[group_size(belief) == 0] = np.nan
        return tuple(tuple(rounded(x) for x in row) for row in every)

    return Confusion(work.pool.classes, by_class(means), by_class(low), by_class(high))
