"""What an oracle needs that knows every stratum's accuracy, and estimates without knowing it.

It says where labels go, by the accuracies that it knows; what is said of the groups then comes from
the labels alone (stratified estimates, finite pool). A yardstick, not a bound: a prior that is
right does better.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 1e-4  # variance of an outcome: where all are alike the oracle looks once, too
_TRIED = 25  # groups whose best stratum is looked at in each step


@dataclass(slots=True)
class Strata:
    """C strata in G groups.

    group, size: (C,). spread: (C,) variance of one outcome. n: (C,) labels so far, at least 1.
    value: (G,) the groups' accuracies. share: (G,) of the pool's items.
    """

    group: Ints
    size: Floats
    spread: Floats
    n: Floats
    value: Floats
    share: Floats

    @classmethod
    def of(cls, group: Ints, size: Ints, right: Ints, n_groups: int) -> "Strata":
        """From the pool's strata, of whose items so many are right; one label each."""
        kept = size > 0
        group, n = group[kept], size[kept].astype(np.float64)
        rate = right[kept] / n
        items = np.bincount(group, n, n_groups)
        value = np.bincount(group, right[kept], n_groups) / np.maximum(items, 1)
        spread = np.maximum(rate * (1 - rate), _LEAST) * n / np.maximum(n - 1, 1)
        return cls(group, n, spread, np.ones(n.size), value, items / items.sum())

    def variances(self, n: Floats) -> Floats:
        """(C,) what each stratum adds to the variance of its group's estimate, with n labels."""
        weight = self.size / np.bincount(self.group, self.size, self.value.size)[self.group]
        left = np.maximum(1 - n / self.size, 0.0)
        variance: Floats = weight**2 * self.spread / n * left
        return variance

    def drops(self) -> Floats:
        """(C,) by how much one label more lowers that; -1 where none is left."""
        drop = self.variances(self.n) - self.variances(np.minimum(self.n + 1, self.size))
        return np.where(self.n < self.size, drop, -1.0)


def errors_at(strata: Strata, at: tuple[int, ...]) -> list[float]:
    """Root mean squared errors of the groups' accuracies, share-weighted, after so many labels.

    Neyman's allocation, label by label; where there are fewer labels than strata, nan.
    """
    found, share, n = list[float](), strata.share[strata.group], int(strata.n.sum())
    for labels in at:
        while n < labels:
            strata.n[int((share * strata.drops()).argmax())] += 1
            n += 1
        error = float(np.sqrt(share @ strata.variances(strata.n)))
        found.append(error if n <= labels else float("nan"))
    return found


def labels_to_rank(strata: Strata, top: int, until: float = 0.01) -> int:
    """Labels until the lowest `top` groups' mean reciprocal rank is expected above 1 - `until`.

    Each goes where it lowers the sum of the error probabilities (normal) of all pairs of one of the
    lowest groups and another one most; a wrong pair costs some 1 / (2 top) of the rank.
    """
    order = np.argsort(strata.value, kind="stable")
    order = order[strata.share[order] > 0]
    low, rest = order[:top], order[top:]
    gap = strata.value[rest] - strata.value[low][:, None]
    variance = np.bincount(strata.group, strata.variances(strata.n), strata.value.size)
    drops = strata.drops()
    while True:
        sd = np.sqrt(variance[low][:, None] + variance[rest] + 1e-12)
        z = gap / sd
        if special.ndtr(-z).sum() / (2 * top) <= until:
            return int(strata.n.sum())
        slope = np.exp(-(z**2) / 2) * gap / sd**3
        pull = np.zeros(strata.value.size)
        pull[low], pull[rest] = slope.sum(axis=1), slope.sum(axis=0)
        at = int((pull[strata.group] * drops).argmax())
        if drops[at] <= 0:
            return int(strata.n.sum())
        group = strata.group == strata.group[at]
        strata.n[at] += 1
        own = strata.variances(strata.n)[group].sum()
        variance[strata.group[at]] = own
        drops = strata.drops()
