"""The hyperparameters of the empirical prior, where an earlier pool's labels may tell of them too.

Another month may have another curve of accuracy over score. So the earlier labels count as a share
of labels here as well, and the share is weighed by how well it foretells the new labels.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.core.prior.fitting import fit_to
from worker.core.prior.hyperparameters import Fit, Hyperparameters, Scores
from worker.core.prior.likelihood import Evidence, evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Shares of an earlier label that the curve may take: three, because each takes a fit.
SHARES = (0.0, 0.1, 1.0)


def log_evidence(before: Ints, group: Ints, scores: Scores) -> Floats:
    """(S,) log marginal likelihoods of so many shares of the earlier labels alone.

    Args:
        before: (C, 2) right and wrong earlier labels. group: (C,) ascending.
    """
    none = np.zeros_like(before)
    stacked = [_stacked(none, before, share, group, scores) for share in SHARES]
    return np.array([fit_to(one)[1] for one in stacked])


def fit_continued(new: Ints, before: Ints, group: Ints, scores: Scores, alone: Floats) -> Fit:
    """The hyperparameters of the new labels, with what the earlier ones are worth to them.

    With a share k of the earlier labels E, the new labels N have the marginal likelihood
    m(N + k E) / m(k E), m by Laplace; the fits at all `SHARES` are joined to one of the same mean
    and covariance, weighed by it. Earlier and new cells of a group are taken as if they were of two
    groups: that they are alike is the business of the group's own discount.

    Args:
        new, before: (C, 2) right and wrong labels. group: (C,) ascending.
        alone: (S,) `log_evidence` of the earlier ones.

    Source:
        The power prior of Ibrahim & Chen (2000) for the hyperparameters, its power by empirical
        Bayes as in Gravestock & Held, "Adaptive power priors with empirical Bayes" (2017), here
        averaged instead of maximised.
    """
    fits, fitting = [], np.zeros(len(SHARES))
    for i, share in enumerate(SHARES):
        both, told = fit_to(_stacked(new, before, share, group, scores))
        fits.append(both)
        fitting[i] = told - alone[i]
    weight = np.exp(fitting - fitting.max())
    weight /= weight.sum()
    modes = np.array([found.mode.numbers for found in fits])
    mean = weight @ modes
    covariance = sum(
        w * (found.covariance + np.outer(mode - mean, mode - mean))
        for w, found, mode in zip(weight, fits, modes, strict=True)
    )
    return Fit(Hyperparameters.of(mean), np.asarray(covariance))


def _stacked(new: Ints, before: Ints, share: float, group: Ints, scores: Scores) -> Evidence:
    """The new labels, and so much of the earlier ones as if they were of other groups."""
    before = before if share else np.zeros_like(before)
    both = np.concatenate([new, before])
    n_groups = int(group[-1]) + 1 if group.size else 0
    more = tuple(replace(one, x=np.tile(one.x, 2)) for one in scores.more)
    lapse = np.tile(scores.lapse, 2 if scores.lapse.size > 1 else 1)
    twice = replace(
        scores, cell=np.tile(scores.cell, 2), group=np.tile(scores.group, 2), more=more, lapse=lapse
    )
    of = np.concatenate([group, group + n_groups])
    seen = evidence(both[:, 0], both[:, 1], of, twice)
    n_new = np.unique(group[new.any(axis=1)]).size
    return replace(seen, times=np.where(np.arange(seen.begin.size) < n_new, 1.0, share))
