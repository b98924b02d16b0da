"""The accuracies of many models on one pool, of which one label tells at once.

What all models say of an item gives its classes probabilities: the mean of what each model gives
them. They are taken for a guess. Labels show how far right answers differ from it: in all strata
together, by how much each model is to be believed more or less than the guess has it (a tilt), and
in each stratum by itself. The guess saves labels where it is good; it never decides for them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Pseudo-labels of a stratum's own residual: how much strata are believed to be alike.
OWN = 16.0
# Pseudo-labels of a stratum's covariance, which the guess gives before there are labels.
SPREAD = 2.0
# Prior variances of the tilts of all models together, in squared logits, and how likely each is:
# accuracies of models that somebody compares are seldom far apart, and a belief in anything else
# decides too early; where they are, labels soon say so.
TILTS = ((0.1875, 0.5), (1.5, 0.3), (12.0, 0.2))
# Beta prior of the accuracy where all models agree, which is mostly right: 95% from .35 to 1. It
# changes no difference, and nobody asks for labels there.
_AGREED_RIGHT, _AGREED_WRONG = 1.8, 0.2
_ROUNDING = 1e-9
_NORMAL = 1e6  # degrees of freedom: no more tell a t distribution from a normal one


@dataclass(frozen=True, slots=True, eq=False)
class ModelStrata:
    """What is known of H strata of items before any label; in each, some of M models disagree.

    size: (H,) items. guessed: (H, M) probability that each model is right, mean over the items.
    covariance: (H, M, M) of who is right on an item, by the guess; mean over the items.
    agreed: items on which all models agree, which are in no stratum.
    """

    size: Ints
    guessed: Floats
    covariance: Floats
    agreed: int

    @property
    def n_items(self) -> int:
        """All items of the pool."""
        return int(self.size.sum()) + self.agreed


@dataclass(frozen=True, slots=True, eq=False)
class ModelCounts:
    """What labels tell of the strata.

    labelled: (H,) items. residual: (H, M) sums of right (0 or 1) less guessed. products: (H, M, M)
    sums of the products of these. right: (M,) right answers, in and outside the strata.
    agreed: right and wrong labels of the items on which all models agree.
    """

    labelled: Ints
    residual: Floats
    products: Floats
    right: Ints
    agreed: tuple[int, int] = (0, 0)

    @property
    def n_labels(self) -> int:
        """All labels."""
        return int(self.labelled.sum()) + sum(self.agreed)


def plus(first: ModelCounts, second: ModelCounts) -> ModelCounts:
    """What both tell together."""
    return ModelCounts(
        first.labelled + second.labelled, first.residual + second.residual,
        first.products + second.products, first.right + second.right,
        (first.agreed[0] + second.agreed[0], first.agreed[1] + second.agreed[1]),
    )  # fmt: skip


def count_labels(
    cell: Ints, right: NDArray[np.bool_], guessed: Floats, times: Ints, n_strata: int
) -> ModelCounts:
    """Count labels.

    Args:
        cell: (n,) stratum of each labelled kind of item; `n_strata` where all models agree.
        right: (n, M) which models are right. guessed: (n, M) how likely that was.
        times: (n,) items of that kind.
    """
    inside = cell < n_strata
    m = right.shape[1]
    residual, products = np.zeros((n_strata, m)), np.zeros((n_strata, m, m))
    apart = right - guessed
    for h in np.unique(cell[inside]).tolist():
        own = cell == h
        weighed = apart[own] * times[own, None]
        residual[h], products[h] = weighed.sum(axis=0), apart[own].T @ weighed
    n_agreed, n_right = int(times[~inside].sum()), int(right[~inside, 0] @ times[~inside])
    return ModelCounts(
        np.bincount(cell[inside], times[inside], n_strata).astype(np.int64), residual, products,
        times @ right, (n_right, n_agreed - n_right),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Accuracies:
    """What is believed of M models' accuracies on the whole pool, jointly.

    A mixture of t distributions with `df` degrees of freedom, each with a weight (U,), means (U, M)
    and a scale (U, M, M); without the items on which all agree, of which so many are right, wrong,
    and unlabelled (`agreed`).
    open: (H,) items of each stratum without a label. within: (H, M, M) covariance of who is right
    on the next one. known: (H,) labels and pseudo-labels of each stratum. pulled: (M, M) covariance
    of each accuracy with each tilt.
    """

    weight: Floats
    means: Floats
    scales: Floats
    df: Floats
    agreed: tuple[int, int, int]
    open: Ints
    within: Floats
    known: Floats
    pulled: Floats
    n_items: int

    @property
    def is_open(self) -> bool:
        """Whether anything is unknown of how the models differ."""
        return bool(self.open.any())

    @property
    def mean(self) -> Floats:
        """(M,) of each accuracy."""
        return self.weight @ self.means

    @property
    def covariance(self) -> Floats:
        """(M, M) of the accuracies, without what the items have in common on which all agree."""
        apart = self.means - self.mean
        spread = np.tensordot(self.weight * self.df / np.maximum(self.df - 2, 1.0), self.scales, 1)
        found: Floats = spread + (self.weight * apart.T) @ apart
        return found

    @property
    def variance(self) -> Floats:
        """(M,) of each accuracy."""
        right, wrong, left = self.agreed
        a, b = right + _AGREED_RIGHT, wrong + _AGREED_WRONG
        rate = a / (a + b)
        common = left * rate * (1 - rate) * (a + b + left) / (a + b + 1) / self.n_items**2
        spread: Floats = np.diag(self.covariance) + common
        return spread

    def drawn(self, rng: np.random.Generator, n: int) -> Floats:
        """(n, M) draws of all accuracies together."""
        m, (right, wrong, left) = self.means.shape[1], self.agreed
        of = rng.choice(self.weight.size, n, p=self.weight)
        values = (
            rng.standard_normal((n, m)) * np.sqrt(self.df[of] / rng.chisquare(self.df[of]))[:, None]
        )
        for u, scale in enumerate(self.scales):
            ridge = _ROUNDING * np.trace(scale) / m + 1e-18
            factor = np.linalg.cholesky(scale + ridge * np.eye(m)) * self.is_open
            values[of == u] = self.means[u] + values[of == u] @ factor.T
        a, b = right + _AGREED_RIGHT, wrong + _AGREED_WRONG
        common = (rng.binomial(left, rng.beta(a, b, n)) - left * a / (a + b)) / self.n_items
        drawn: Floats = values + common[:, None]
        return drawn


def accuracies(strata: ModelStrata, counts: ModelCounts) -> Accuracies:
    """What is believed after some labels.

    A stratum's mean residual is V tilt + own, V its covariance by the guess: to believe a model
    more by a logit tilts every class that it names. tilt ~ N(0, t / M), t one of `TILTS`, own ~
    N(0, S / OWN), S the covariance of its residuals; given t all is then a normal, and the unknown
    S makes it a t distribution with Welch and Satterthwaite's degrees of freedom. How likely each t
    is the residuals say, with V for S. Labelled items are known.

    Source:
        Difference estimator in strata (Cochran, Sampling Techniques, 3rd ed., 7.7), with shrinkage.
    """
    n, size, v = counts.labelled, strata.size, strata.covariance
    m, n_items = strata.guessed.shape[1], strata.n_items
    known = n.astype(np.float64) + OWN
    precision = np.tensordot(n * OWN / known, v, 1)
    toward = (OWN / known) @ counts.residual
    left = size - n
    right, wrong = counts.agreed
    agreed_left = strata.agreed - right - wrong
    rate = (right + _AGREED_RIGHT) / (right + wrong + _AGREED_RIGHT + _AGREED_WRONG)
    common = right + agreed_left * rate + size @ strata.guessed + counts.residual.sum(axis=0)
    moved = np.tensordot(left * OWN / known, v, 1) / n_items
    of_mean = left * (1 + left / known) / n_items**2
    evidence, means, scales, degrees, pulled, within = [], [], [], [], [], np.zeros_like(v)
    for variance, _ in TILTS:
        of_tilt = np.linalg.inv(precision + np.eye(m) * m / variance)
        tilt = of_tilt @ toward
        grown = np.linalg.slogdet(np.eye(m) + precision * variance / m)[1]
        evidence.append((toward @ tilt - grown) / 2)
        tilted = v @ tilt  # (H, M)
        spread = _covariances(strata, counts, tilted)
        mean = (counts.residual + OWN * tilted) / known[:, None]
        own = of_mean[:, None, None] * spread
        shared = moved @ of_tilt @ moved.T
        means.append((common + left @ mean) / n_items)
        scales.append(own.sum(axis=0) + shared)
        degrees.append(_degrees(own, shared, n))
        within = within + spread / len(TILTS)
        pulled.append(moved @ of_tilt)
    weight = np.exp(np.array(evidence) - max(evidence)) * [prior for _, prior in TILTS]
    weight /= weight.sum()
    return Accuracies(
        weight, np.array(means), np.array(scales), np.array(degrees),
        (right, wrong, agreed_left), left, within, known,
        np.tensordot(weight, np.array(pulled), 1), n_items,
    )  # fmt: skip


def _covariances(strata: ModelStrata, counts: ModelCounts, tilted: Floats) -> Floats:
    """(H, M, M) of the residuals in each stratum: what is seen, with what the guess says."""
    n = counts.labelled[:, None, None]
    crossed = counts.residual[:, :, None] * tilted[:, None, :]
    apart = counts.residual - counts.labelled[:, None] * tilted
    seen = counts.products - crossed - crossed.swapaxes(1, 2)
    seen += n * tilted[:, :, None] * tilted[:, None, :]
    seen -= apart[:, :, None] * apart[:, None, :] / (n + OWN)
    found: Floats = (SPREAD * strata.covariance + seen) / (SPREAD + n)
    return found


def _degrees(own: Floats, shared: Floats, labelled: Ints) -> float:
    """Degrees of freedom of the models' differences."""
    parts = np.array([np.trace(one - one.mean(axis=0)) for one in own])
    common = np.trace(shared - shared.mean(axis=0))
    lost = (parts**2 / (SPREAD + labelled)).sum() + common**2 / (SPREAD + labelled.sum())
    whole = float(parts.sum() + common)
    return min(whole**2 / float(lost), _NORMAL) if lost > 0 else _NORMAL
