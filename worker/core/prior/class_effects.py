"""What labels of a predicted class in other cells say of a cell: effects of classes.

A class that the classifier gives wrongly in one group it gives wrongly in the others, too. Beside
the effect of its group the curve of a cell is shifted by that of its class. These are Cauchy: most
classes are alike, and a few may be far from all others.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.fitting import fit_to
from worker.core.prior.hyperparameters import WEAK, Covariate, Fit, Hyperparameters, Level, Scores
from worker.core.prior.likelihood import evidence, moves_of_cells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Of the effects, in logits, each as likely at first: labels hardly tell it where classes are few,
# so that it is averaged over.
_SCALES = (0.2, 0.6, 1.8)
_MOST = 60  # classes, those with most labels; the effect of any other one stays as uncertain


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """C cells with labels or without. right, wrong: labelled items of each; group: ascending;
    unit: the predicted class, 0..K-1; size: items.
    """

    right: Ints
    wrong: Ints
    group: Ints
    unit: Ints
    size: Ints


def fit(cells: Cells, scores: Scores) -> tuple[Fit, Level]:
    """The likeliest hyperparameters, and what the other cells of its class say of each cell.

    Source:
        A crossed random effect by Laplace's approximation, averaged over its scale. A cell's own
        labels are taken away again by a step of Newton's: they are counted when its posterior is
        worked out.
    """
    fits, rates, shifts, variances = zip(
        *(_of_scale(scale, cells, scores) for scale in _SCALES), strict=True
    )
    weight = special.softmax(fits)
    shift = weight @ np.array(shifts)
    apart = weight @ (np.array(variances) + (np.array(shifts) - shift) ** 2)
    best = rates[int(weight.argmax())]
    return best, Level(shift, np.ones(shift.size), apart)


def _of_scale(scale: float, cells: Cells, scores: Scores) -> tuple[float, Fit, Floats, Floats]:
    """The log marginal likelihood, the fit, and (C,) shifts with their variances."""
    n_labels = np.bincount(cells.unit, cells.right + cells.wrong)
    most = np.argsort(-n_labels, kind="stable")[:_MOST]
    told = most[n_labels[most] > 0]
    share = np.bincount(cells.unit, cells.size)[told] / cells.size.sum()
    x = (cells.unit == told[:, None]) - share[:, None]  # so that the level stays the curve's
    more = tuple(Covariate(row, 0.0, scale, is_heavy=True) for row in x)
    of = replace(scores, more=scores.more + more)
    seen = evidence(cells.right, cells.wrong, cells.group, of)
    found, fits = fit_to(seen)

    n = len(scores.weak)
    effect, precision = np.zeros(n_labels.size), np.full(n_labels.size, 2 / scale**2)
    effect[told] = found.mode.weights[n - len(WEAK) :]
    precision[told] = 1 / np.diag(found.covariance)[n:]
    own = np.zeros((2, cells.unit.size))
    own[:, np.flatnonzero(cells.right + cells.wrong)] = moves_of_cells(found.mode.numbers, seen)
    from_prior = 2 / (scale**2 + effect**2)  # the least that is left
    left = np.maximum(precision - from_prior, 0.0)[cells.unit] + own[1]
    left = np.maximum(left, 0.0) + from_prior[cells.unit]
    shift = effect[cells.unit] - own[0] / left - share @ effect[told]
    rates = Fit(Hyperparameters.of(found.mode.numbers[:n]), found.covariance[:n, :n])
    return fits, rates, shift, 1 / left
