"""Where the posterior begins if an assessment continues another: earlier labels in the prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import believing
from worker.assessment.covariates import effect_groups, scores
from worker.assessment.outcomes import Outcomes, count
from worker.core.drift.history import (
    DISCOUNTS,
    Prior,
    believed_share,
    drift,
    full_worth,
    no_rate,
    with_history,
)
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_prior, with_tally
from worker.core.prior import fitting
from worker.core.prior.continuing import fit_continued, log_evidence
from worker.core.prior.hyperparameters import Fit
from worker.core.prior.shared import with_fixed
from worker.plan import Plan
from worker.pool import Pool

Ints = NDArray[np.int64]

# A fit takes some tenths of a second, and a stage of the schedule sees many turns.
_fits = BoundedCache(1 << 23)
_N_PLAUSIBLE = 40  # hyperparameters that what a pool's new labels are held against is averaged over


def history(pool: Pool, meaning: Outcomes) -> Ints:
    """(C, 1 + max(L, 1)) outcomes of the labels that an earlier assessment left in each cell."""
    assert pool.since is not None, "asked of pools that continue another"
    return count(pool.since.tally, meaning, pool.n_cells).all


def first_belief(plan: Plan, pool: Pool, meaning: Outcomes) -> Belief:
    """The belief before the first label of this pool."""
    plain = believing.first_belief(plan, pool, meaning)
    return fitted(plain, np.zeros_like(history(pool, meaning)), plan, pool, meaning)


def fitted(belief: Belief, early: Ints, plan: Plan, pool: Pool, meaning: Outcomes) -> Belief:
    """The belief with the plan's prior and the rate of drift fitted to some of its labels.

    Args:
        early: (C, 1 + L) outcomes that the fit may see, beside all earlier ones.
    """
    asked = plan.question.metric, meaning.n_kinds
    key = pool.hash, plan.prior.kind, plan.prior.strength, asked, early.tobytes()
    found: Belief | None = _fits.get(key)
    if found is None:
        before = history(pool, meaning)
        plain, rates = _fitted_to_both(early, before, plan, pool, meaning)
        even = with_tally(_continued(plain, before, no_rate()), early)
        rate, share = drift(even, no_rate()), believed_share(even)
        found = _continued(plain, before, rate, share)
        if rates is not None:
            sure = with_prior(plain, *believing.prior_for(meaning, pool, rates.at_mean_tau))
            fixed = _continued(sure, before, rate, share)
            shared = believing.shared_of(meaning, pool, rates)
            shared = with_fixed(shared, fixed.alpha, fixed.beta)
            found = replaced(found, shared=shared, _memo={})
        _fits.put(key, found, 7 * found.alpha.size)
    errors = found.errors
    if errors is not None and belief.errors is not None:
        errors = replace(errors, counts=belief.errors.counts)
    return with_prior(belief, found.alpha, found.beta, found.mixture, errors, found.shared)


def plausible_then(plan: Plan, pool: Pool, meaning: Outcomes) -> tuple[Belief, ...]:
    """What was known of this pool's cells before its first label, every earlier one counted whole.

    The first belief is the best one; the others are of hyperparameters drawn from their posterior:
    what is uncertain of them is common to all groups.
    """
    before, plain = history(pool, meaning), believing.first_belief(plan, pool, meaning)
    return tuple(
        _continued(b, before, full_worth(), np.ones(b.n_groups))
        for b in _plausible(plain, before, pool, meaning)
    )


def plausible_now(labels: Ints, plan: Plan, pool: Pool, meaning: Outcomes) -> tuple[Belief, ...]:
    """What the new labels say by themselves, as `plausible_then`.

    Args:
        labels: (C, 1 + L) of the new ones.
    """
    plain = believing.first_belief(plan, pool, meaning)
    return tuple(with_tally(b, labels) for b in _plausible(plain, labels, pool, meaning))


def drawn_prior(plan: Plan, pool: Pool, meaning: Outcomes, rng: np.random.Generator) -> Belief:
    """The belief before the first label, under hyperparameters drawn as the earlier labels say."""
    before, plain = history(pool, meaning), believing.first_belief(plan, pool, meaning)
    is_fitted = plan.prior.kind == "empirical"
    drawn = _plausible(plain, before, pool, meaning) if is_fitted else [plain]
    return _continued(drawn[int(rng.integers(len(drawn)))], before, no_rate())


def _continued(b: Belief, before: Ints, rate: Any, share: Any = None) -> Belief:
    """The belief with the labels of an earlier assessment in its prior.

    Args:
        before: (C, 1 + L). rate: (D,) of the discounts.
        share: (G,) of the earlier kinds of errors that are believed; None for the rate's mean.
    """
    plain, counts = Prior(b.alpha, b.beta, b.mixture), _right_or_wrong(before)
    prior = with_history(plain, b.group, b.n_groups, counts, rate, b.metric.pooled)
    errors = b.errors
    if errors is not None:
        if share is None:
            share = np.full(b.n_groups, float(rate @ DISCOUNTS))
        errors = replace(errors, prior=errors.prior + share[b.group][:, None] * before[:, 1:])
    return with_prior(b, prior.alpha, prior.beta, prior.mixture, errors)


def _fitted_to_both(
    early: Ints, before: Ints, plan: Plan, pool: Pool, meaning: Outcomes
) -> tuple[Belief, Fit | None]:
    """The belief without labels whose prior new and earlier labels are fitted to, and the fit.

    The kinds are fitted as if the earlier labels were of this pool.
    """
    plain = believing.first_belief(plan, pool, meaning)
    if plan.prior.kind != "empirical":
        return plain, None
    if meaning.metric.pooled:  # for discounts near 0, and near 1
        return with_prior(plain, *believing.shared_rates(pool, early, early + before)), None
    earlier, told, group = _right_or_wrong(before), scores(pool), effect_groups(pool)
    key = "alone", pool.hash, plan.question.metric
    alone: Any = _fits.get(key)
    if alone is None:
        alone = log_evidence(earlier, group, told)
        _fits.put(key, alone, alone.size)
    rates = fit_continued(_right_or_wrong(early), earlier, group, told, alone)
    both, errors = early + before, plain.errors
    if errors is not None and both[:, 1:].any():
        errors = replace(believing.learnt_errors(both, meaning), counts=errors.counts)
    prior = believing.prior_for(meaning, pool, rates.mode, rates.covariance)
    return with_prior(plain, *prior, errors), rates


def _plausible(plain: Belief, labels: Ints, pool: Pool, meaning: Outcomes) -> list[Belief]:
    """`plain` with priors fitted to some labels: the best one, then `_N_PLAUSIBLE` others.

    Fitted whatever the plan's prior is: one that draws all cells the same way off the truth would
    foretell a pool that never was, and a change of it.
    """
    if meaning.metric.pooled:
        return [with_prior(plain, *believing.shared_rates(pool, labels))]
    told, counts = scores(pool), _right_or_wrong(labels)
    found = fitting.fit(counts[:, 0], counts[:, 1], effect_groups(pool), told)
    best = with_prior(plain, *believing.prior_for(meaning, pool, found.mode, found.covariance))
    drawn = fitting.plausible(found, _N_PLAUSIBLE)
    priors = [believing.prior_for(meaning, pool, h) for h in drawn]
    return [best, *(with_prior(plain, *prior) for prior in priors)]


def _right_or_wrong(counts: Ints) -> Ints:
    """(C, 2) of (C, 1 + L)."""
    return np.stack([counts[:, 0], counts[:, 1:].sum(axis=1)], axis=1)
