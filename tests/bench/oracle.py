"""What an oracle needs that knows every stratum's accuracy, and estimates without knowing it.

It says where labels go, by the rates that it knows; what is said of the groups then comes from the
labels alone (stratified estimates, finite pool). A yardstick, not a bound: a prior that is right
does better, and an oracle that knows a stratum of six items knows more than any score tells.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 1e-4  # variance of an outcome: where all are alike the oracle looks once, too


@dataclass(slots=True)
class Strata:
    """C strata in G groups.

    group, size: (C,). spread: (C,) variance of one item's value. n: (C,) labels so far, at least 1.
    value: (G,) the groups' means. share: (G,) of the pool's items.
    """

    group: Ints
    size: Floats
    spread: Floats
    n: Floats
    value: Floats
    share: Floats

    @classmethod
    def of(cls, group: Ints, size: Ints, total: Floats, squared: Floats, n_groups: int) -> "Strata":
        """From the pool's strata, and the sums of their items' values and of the squares of these.

        One label each.
        """
        kept = size > 0
        group, n, total = group[kept], size[kept].astype(np.float64), total[kept]
        items = np.bincount(group, n, n_groups)
        value = np.bincount(group, total, n_groups) / np.maximum(items, 1)
        spread = squared[kept] / n - (total / n) ** 2
        spread = np.maximum(spread, _LEAST) * n / np.maximum(n - 1, 1)
        return cls(group, n, spread, np.ones(n.size), value, items / items.sum())

    def variances(self, n: Floats) -> Floats:
        """(C,) what each stratum adds to the variance of its group's estimate, with n labels."""
        left = 1 / np.minimum(n, self.size) - 1 / self.size
        variance: Floats = self.of_one() * left
        return variance

    def of_one(self) -> Floats:
        """(C,) what it would add with a single label, were the pool endless."""
        weight = self.size / np.bincount(self.group, self.size, self.value.size)[self.group]
        return weight**2 * self.spread

    def drops(self) -> Floats:
        """(C,) by how much one label more lowers that; -1 where none is left."""
        drop = self.variances(self.n) - self.variances(self.n + 1)
        return np.where(self.n < self.size, drop, -1.0)


def errors_at(strata: Strata, at: tuple[int, ...]) -> list[float]:
    """Root mean squared errors of the groups' values, share-weighted, after so many labels.

    Neyman's allocation, of parts of labels, too.
    """
    weight = np.sqrt(strata.share[strata.group] * strata.of_one())
    return [_error(strata, _filled(weight, strata.size, labels)) for labels in at]


def even_errors_at(strata: Strata, at: tuple[int, ...]) -> list[float]:
    """Those if the labels lie as the items do."""
    items = strata.size.sum()
    return [_error(strata, strata.size * labels / items) for labels in at]


def _error(strata: Strata, n: Floats) -> float:
    return float(np.sqrt(strata.share[strata.group] @ strata.variances(n)))


def _filled(weight: Floats, size: Floats, labels: int) -> Floats:
    """(C,) labels in proportion to the weights, but nowhere more than there are items."""
    n, is_full = np.zeros(size.size), np.zeros(size.size, dtype=bool)
    while not is_full.all():
        open_weight = np.where(is_full, 0.0, weight)
        rest = max(labels - size[is_full].sum(), 0.0)
        n = np.where(is_full, size, rest * open_weight / open_weight.sum())
        if not (over := (n > size) & ~is_full).any():
            break
        is_full |= over
    return n


def labels_to_tell(
    strata: Strata, first: int, second: int, epsilon: float, confidence: float
) -> int:
    """Labels until the difference of two groups is surely below, within or above +-epsilon."""
    delta = strata.value[first] - strata.value[second]
    asked = np.isin(strata.group, (first, second))
    while True:
        sd = np.sqrt(strata.variances(strata.n)[asked].sum() + 1e-12)
        upto = special.ndtr((np.array([-epsilon, epsilon]) - delta) / sd)
        if max(upto[0], upto[1] - upto[0], 1 - upto[1]) >= confidence:
            return int(strata.n[asked].sum())
        strata.n[int(np.where(asked, strata.drops(), -1.0).argmax())] += 1


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
