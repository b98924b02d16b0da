"""What changed between two pools: the inputs, the mix of classes, or what predictions mean.

Without labels the predictions say whether the inputs changed. With labels three stories can be
held against each other, each by how probable it makes the new labels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 500
_STILL = 1e-9
# The new shares of classes are held near the old ones by so many items: shares that no prediction
# speaks of would run away else.
_PSEUDO_ITEMS = 10.0
_FLAT = 0.5  # pseudo-counts of errors spread over all classes, before the earlier ones


@dataclass(frozen=True, slots=True)
class Contrast:
    """A test that two samples are of one distribution: p, in [0, 1], and how far they are apart.

    distance: in [0, 1]; the total variation of two sets of shares, or the greatest distance of two
    distribution functions. Of a million items the p-value is small for any distance.
    """

    p: float
    distance: float


def shares_differ(then: Ints, now: Ints) -> Contrast:
    """Whether two pools are spread otherwise over K classes: Pearson's chi-squared test.

    Args:
        then, now: (K,) items, >= 0; classes without any are left out.

    Source:
        `scipy.stats.chi2_contingency`, without a correction.
    """
    # Every report imports this module, and scipy.stats takes a quarter of a second.
    from scipy import stats

    table = np.stack([then, now])[:, (then + now) > 0]
    if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
        return Contrast(1.0, 0.0)
    shares = table / table.sum(axis=1, keepdims=True)
    p = float(stats.chi2_contingency(table, correction=False).pvalue)
    return Contrast(p, float(np.abs(shares[0] - shares[1]).sum() / 2))


def scores_differ(then: Floats, now: Floats) -> Contrast:
    """Whether the scores of two pools follow one distribution: Kolmogorov and Smirnov's test.

    With ties, as of rounded scores, its p-value is too large rather than too small.

    Args:
        then, now: (n,), (m,) scores without nan.

    Source:
        `scipy.stats.ks_2samp`, asymptotic.
    """
    from scipy import stats

    if not (then.size and now.size):
        return Contrast(1.0, 0.0)
    found = stats.ks_2samp(then, now, method="asymp")
    return Contrast(float(found.pvalue), float(found.statistic))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What was known of C cells, each of one predicted class of K, and what the new labels are.

    predicted: (C,) class. alpha, beta: (C,) the Beta of the rate of right answers that the earlier
    labels and their prior make. plain_alpha, plain_beta: (C,) the prior's alone. then: (C, K)
    earlier labels by true class; now: (C, K) new ones. size_then, size_now: (K,) items of each
    predicted class in the earlier pool and in this one.
    """

    predicted: Ints
    alpha: Floats
    beta: Floats
    plain_alpha: Floats
    plain_beta: Floats
    then: Ints
    now: Ints
    size_then: Ints
    size_now: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Stories:
    """How well three stories tell the new labels: natural logarithms of their probabilities.

    covariate: what is true of a prediction is as it was; only the mix of predictions changed.
    label: the mix of true classes changed, what the classifier makes of each class is as it was.
    concept: nothing that was known holds any more.
    weight: (K,) how many times as frequent each true class is by the label story.
    """

    covariate: float
    label: float
    concept: float
    weight: Floats


def stories(c: Cells) -> Stories:
    """Hold the new labels against covariate shift, label shift, and a fresh start.

    Covariate shift leaves P(y | cell) as it was: right answers are beta-binomial, and errors of a
    predicted class Dirichlet-multinomial, with the earlier labels as pseudo-counts. Label shift
    multiplies P(y | cell) by the ratio w_y of the classes' shares, and normalises; the strength is
    that of the first. A fresh start has the prior alone. The ratios are found from the predictions
    of the whole pool, without the new labels.

    Source:
        Saerens, Latinne & Decaestecker, "Adjusting the outputs of a classifier to new a priori
        probabilities" (2002), for the ratios by expectation maximisation, and Lipton, Wang & Smola,
        "Detecting and correcting for label shift with black box predictors" (2018), for doing so
        with predicted classes alone; here with the posterior of the confusion matrix, and held
        against the alternatives by their marginal likelihoods.
    """
    k = c.size_now.size
    errors_then, errors_now = _errors(c.predicted, c.then, k), _errors(c.predicted, c.now, k)
    flat = np.where(np.eye(k, dtype=bool), 0.0, _FLAT / max(k - 1, 1))
    behind = errors_then + flat
    rate = c.alpha / (c.alpha + c.beta)
    weight = _ratios(c, rate, behind)
    right = c.now[np.arange(c.predicted.size), c.predicted]
    wrong = c.now.sum(axis=1) - right
    as_it_was = _of_rates(right, wrong, c.alpha, c.beta) + _of_kinds(errors_now, behind)
    # the odds of right answers move with the class's own ratio over that of its errors
    of_errors = (behind * weight).sum(axis=1) / behind.sum(axis=1)
    moved = rate * weight[c.predicted]
    moved = moved / (moved + (1 - rate) * of_errors[c.predicted])
    strength = c.alpha + c.beta
    tilted = behind * weight
    tilted *= behind.sum(axis=1, keepdims=True) / tilted.sum(axis=1, keepdims=True)
    label = _of_rates(right, wrong, strength * moved, strength * (1 - moved))
    label += _of_kinds(errors_now, tilted)
    concept = _of_rates(right, wrong, c.plain_alpha, c.plain_beta) + _of_kinds(errors_now, flat)
    return Stories(as_it_was, label, concept, weight)


def _errors(predicted: Ints, labels: Ints, k: int) -> Floats:
    """(K, K) labels of the errors of each predicted class."""
    table = np.zeros((k, k))
    np.add.at(table, predicted, labels)
    np.fill_diagonal(table, 0.0)
    return table


def _ratios(c: Cells, rate: Floats, behind: Floats) -> Floats:
    """(K,) the new shares of the true classes over the old ones, by the predictions alone."""
    k = c.size_now.size
    cells = np.bincount(c.predicted, minlength=k)
    right = np.bincount(c.predicted, rate, k) / np.maximum(cells, 1)
    confusion = behind / behind.sum(axis=1, keepdims=True) * (1 - right)[:, None]
    confusion[np.arange(k), np.arange(k)] += right
    confusion[cells == 0] = 0.0
    joint = confusion * (c.size_then / max(1, int(c.size_then.sum())))[:, None]
    old = np.maximum(joint.sum(axis=0), 1e-12)
    of_class = joint / old  # P(predicted | true)
    n = c.size_now.astype(np.float64)
    new = old / old.sum()
    for _ in range(_STEPS):
        chance = of_class * new
        total = chance.sum(axis=1, keepdims=True)
        shared = np.divide(chance, total, out=np.zeros_like(chance), where=total > 0)
        after = n @ shared + _PSEUDO_ITEMS * old / old.sum()
        after /= after.sum()
        if np.abs(after - new).max() < _STILL:
            break
        new = after
    weight: Floats = new / (old / old.sum())
    return weight


def _of_rates(right: Ints, wrong: Ints, alpha: Floats, beta: Floats) -> float:
    """Log probability of which labels were right, in the order in which they came."""
    fits = special.betaln(alpha + right, beta + wrong) - special.betaln(alpha, beta)
    return float(fits.sum())


def _of_kinds(errors: Floats, behind: Floats) -> float:
    """Log probability of the classes of the errors; (K, K) [predicted, true]."""
    at = errors > 0
    fits = (special.gammaln(behind[at] + errors[at]) - special.gammaln(behind[at])).sum()
    total, of_all = errors.sum(axis=1), behind.sum(axis=1)
    fits -= (special.gammaln(of_all + total) - special.gammaln(of_all)).sum()
    return float(fits)
