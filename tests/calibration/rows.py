"""Runs -> rows: what was said, what came true, and how far chance could have moved it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEAST, LOW, HIGH = 0.88, 0.93, 0.99  # of each row, and of the mean of all, for 95% intervals
_PROBABILITIES = ("claim", "confidence", "shortlist", "P(", "pair region", "forecast")
SLACK = 0.95 - LEAST
_FORECAST = 1 / 3
_SURE = 0.005  # either tail of a row's bounds
_MADE, _REAL = "made pools", "real pools"  # kinds of rows over pools
_FIXED = ("c calibrated", "d falling", "d surest off")  # each item's chance is the same in all runs


@dataclass(frozen=True, slots=True)
class Row:
    """One statistic of one way on one kind of pool after so many labels (0: at the stop).

    said: how probable the numbers were said to be, on average. came: the share that is so; low,
    high: between which it is surely (99%), by how much runs differ.
    """

    way: str
    kind: str
    statistic: str
    labels: int
    runs: int
    n: int
    said: float
    came: float
    low: float
    high: float

    @property
    def is_interval(self) -> bool:
        return not self.statistic.startswith(_PROBABILITIES)

    @property
    def is_of_one_truth(self) -> bool:
        """A probability that claims nothing, and is right in all runs or in none, but for chance.

        Of a real pool; of infinite populations of fixed rates, whose worst class is the same in all
        runs; and how groups or models stand, which is nearly the same in all runs (with one rate
        for all: practically equal).
        Those who say .44 of many truths are to be wrong about 56 in 100 of them, and of each in
        nearly every run while labels are few: it is judged over pools (`over_pools`).
        """
        if self.is_interval or self.statistic.startswith(("claim", "forecast")):
            return False
        of_pairs = ("pair region", "pair region of a difference", "P(best model)")
        is_pair = self.statistic in of_pairs and self.kind not in ("a model", _MADE, _REAL)
        is_fixed = self.kind in _FIXED and "infinite" in self.way
        return is_pair or is_fixed or self.kind[0] == "g"

    @property
    def fails(self) -> bool:
        """Whether it surely holds less often than is allowed.

        On truths from the model claims and probabilities have to be right as often as they say;
        everything else, on every truth, no more than .07 less often (a 95% interval: .88).
        """
        if self.is_of_one_truth:
            return False
        least = self.said - SLACK
        if self.statistic == "forecast":
            return self.high < _FORECAST  # a guess, and said to be one
        if self.kind == "a model" and not self.is_interval:
            least = self.said
        return self.high < least


def row_of(
    way: str, kind: str, statistic: str, labels: int, found: Sequence[tuple[float, float, float]]
) -> Row:
    """Sum up runs; those of one run are not independent, and count as far as runs differ."""
    said, came, n = np.array(found, dtype=np.float64).T
    total, share = n.sum(), came.sum() / n.sum()
    runs = len(found)
    effective = float(runs)
    if runs > 1 and 0 < share < 1:
        error = came - share * n
        variance = (error @ error) * runs / (runs - 1) / total**2
        if variance > 0:
            effective = float(np.clip(share * (1 - share) / variance, min(runs, total), total))
    low, high = surely(share, effective)
    said_mean = float(said.sum() / total)
    return Row(way, kind, statistic, labels, runs, int(total), said_mean, float(share), low, high)


def surely(share: float, n: float) -> tuple[float, float]:
    """Between what a probability lies (99%) that came true in a share of n independent cases."""
    k = share * n
    low = float(stats.beta.ppf(_SURE, k, n - k + 1)) if k > 0 else 0.0
    high = float(stats.beta.ppf(1 - _SURE, k + 1, n - k)) if k < n else 1.0
    return low, high


def over_pools(rows: Sequence[Row]) -> list[Row]:
    """Rows of what was said of single truths: each plan on each pool is one run of them.

    Real pools are few: they are judged with all plans together.
    """
    found = defaultdict(list)
    for row in rows:
        if row.is_of_one_truth:
            share = row.n / row.runs
            of = ("every plan", _REAL) if row.kind[0] == "g" else (row.way, _MADE)
            key = *of, row.statistic, row.labels
            found[key].append((row.said * share, row.came * share, share))
    return [row_of(*key, of) for key, of in found.items()]
