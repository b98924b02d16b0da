"""A run of several models: one label after the other, each taken into all of their beliefs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from worker.assessment import Assessment
from worker.assessment.outcomes import Counts
from worker.assessment.several import Several
from worker.core.posterior.belief import Belief
from worker.core.posterior.drawing import dirichlets
from worker.core.posterior.views import NONE_RIGHT, plausible_shares
from worker.core.prior.hyperparameters import WEAK, closeness
from worker.core.stopping.schedule import is_refit, stage
from worker.simulate.revealing import revealed
from worker.simulate.truths import Ints, Rng

_COMMON = 1.0  # standard deviation in logits of what is common to all cells


def jointly(
    assessment: Assessment, several: Several, outcomes: Sequence[int]
) -> Iterator[tuple[int, Belief]]:
    """Reveal one label after the other, as `replay.labels` does.

    Yields:
        Where the label's item stands among `outcomes`, and the belief after it.
    """
    layout = several.models.layout
    counts = np.zeros((layout.size.size, layout.n_outcomes), dtype=np.int64)
    early = np.zeros_like(counts)

    def learn(before: Belief, cell: int, at: int, n: int) -> Belief:
        nonlocal early
        counts[cell, outcomes[at]] += 1
        if is_refit(n):
            early = counts.copy()
        now = Counts(counts.copy(), early, stage(n))
        return several.believe_counts(now, None if is_refit(n) or n == 1 else before)

    return revealed(assessment, learn)


def plausible_outcomes(several: Several, rng: Rng) -> Ints:
    """(N,) outcomes of a pool such as all models' scores together let expect, cell after cell.

    As the prior has it, how much better a model is than its scores say, and in each of its groups,
    how often none is right, and how far cells scatter is drawn once for all cells: a belief that
    took every cell for itself would be found out.
    """
    layout, models = several.models.layout, several.models
    share = plausible_shares(layout)
    share[:, NONE_RIGHT] *= np.exp(rng.normal(0.0, _COMMON))
    (log_s, of_s), (log_tau, of_tau) = WEAK[3], WEAK[4]
    for m in range(layout.block.shape[1]):
        apart = np.exp(rng.normal(log_tau, of_tau)) * rng.normal(size=len(models.own_names[m]))
        effect = rng.normal(0.0, _COMMON) + apart[models.own[:, m]]
        alike = (layout.block == layout.block[:, [m]]).sum(axis=1)  # the mean of those who agree
        share[np.arange(len(share)), layout.right(m)] *= np.exp(effect / alike)
    share /= share.sum(axis=1, keepdims=True)
    strength = np.exp(rng.normal(log_s, of_s)) * closeness(np.clip(share.max(axis=1), 0.01, 0.99))
    share = dirichlets(strength[:, None] * share, rng, 1)[0]
    upto = np.cumsum(share, axis=1)[:, :-1]
    cell = np.repeat(np.arange(layout.size.size), layout.size)
    outcome: Ints = (rng.random((cell.size, 1)) > upto[cell]).sum(axis=1)
    return outcome


def all_counted(several: Several, outcome: Ints) -> Belief:
    """The belief when every item of the pool has its outcome."""
    layout, width = several.models.layout, several.models.layout.n_outcomes
    at = np.repeat(np.arange(layout.size.size), layout.size) * width + outcome
    counts = np.bincount(at, minlength=layout.size.size * width).reshape(-1, width)
    return several.believe_counts(Counts(counts, np.zeros_like(counts), 0))
