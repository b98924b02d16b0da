"""Where the posterior begins: the plan's prior over the pool's cells, fitted to labels or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment.covariates import effect_groups, effect_levels, scores
from worker.assessment.outcomes import Outcomes
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.calibration_prior import shared_prior, with_calibrated
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.metrics import Errors
from worker.core.prior import class_effects, empirical, factors, fitting, priors
from worker.core.prior.hyperparameters import (
    Fit,
    Hyperparameters,
    Level,
    Scores,
    curve_places,
    unfitted,
)
from worker.core.prior.kinds import expected_kinds, fit_kinds
from worker.core.prior.shared import Shared, with_component_apart, with_fixed
from worker.metrics import METRICS
from worker.plan import Plan
from worker.pool import Pool

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Where there is one group, a curve that does not fit is not seen in how groups differ. With four
# times the covariance of its curve 95% intervals of the whole pool hold in .944 of 400 runs and not
# in .90 (`make calibration ARGS="--ways 'of the pool'"`; of the covariance of closeness and lapse,
# which are no part of it, nothing).
_OF_ONE_GROUP = 4.0
# A judge's two words have curves and effects of their own, which fit better. After 20 to 200 labels
# of outputs (ten kinds, 16 runs each) intervals of all held in .98 with four times, .97 with two,
# and .94 with one, whose variance is that of the same model's exact posterior; after 20 labels in
# .97, .95 and .92. So of few groups: of four, those of groups held in .89 after 80 labels, and hold
# in .91 (four kinds, estimated and compared, 16 runs each).
_OF_OUTPUTS, _FEW_GROUPS = 1.5, 5
_NO_EFFECT = -12.0, 1e-3  # mean and standard deviation of log tau
# A fit takes some 10 to 100 ms, and a stage of the schedule sees many turns.
_fits = BoundedCache(1 << 22)


def first_belief(plan: Plan, pool: Pool, meaning: Outcomes) -> Belief:
    """The belief before the first label."""
    none = np.zeros(pool.n_cells, dtype=np.int64)
    alpha, beta, mixture = _rates(plan, pool, meaning)
    begun = Belief(
        group=pool.cell_group,
        size=pool.cell_size,
        right=none,
        wrong=none,
        alpha=alpha,
        beta=beta,
        n_groups=len(pool.group_names),
        population=plan.population,
        mixture=mixture,
        metric=meaning.metric,
        errors=_errors(plan, pool, meaning, beta),
    )
    if (
        plan.prior.kind == "empirical"
        and not meaning.metric.pooled
        and not _is_alone(pool, meaning)
    ):
        shared = shared_of(meaning, pool, unfitted(scores(pool).weak))
        begun = replaced(begun, shared=shared, _memo={})
    return _apart(begun, pool)


def fitted(belief: Belief, early: Ints, plan: Plan, pool: Pool, meaning: Outcomes) -> Belief:
    """The belief with the plan's prior fitted to some of its labels, if it is to be fitted at all.

    Args:
        early: (C, 1 + L) outcomes that the fit may see.
    """
    if plan.prior.kind != "empirical":
        return belief
    if meaning.metric.pooled:
        return _apart(with_prior(belief, *shared_rates(pool, early)), pool)
    key = pool.hash, _is_alone(pool, meaning), early.tobytes()
    found: tuple[Fit, Any, Level | None] | None = _fits.get(key)
    if found is None:
        right, wrong = early[:, 0], early[:, 1:].sum(axis=1)
        told = _scores_alone(pool) if _is_alone(pool, meaning) else scores(pool)
        rates, level = _rates_and_level(right, wrong, pool, told)
        kinds = None
        if meaning.n_kinds and early[:, 1:].any():
            kinds = learnt_errors(early, meaning)
        found = rates, kinds, level
        _fits.put(key, found, early.size + (0 if kinds is None else kinds.prior.size))
    rates, kinds, level = found
    if _is_alone(pool, meaning):
        return _apart(with_prior(belief, *_prior_alone(rates, early, pool)), pool)
    if len(pool.group_names) <= (_FEW_GROUPS if pool.is_judged else 1):
        rates = _doubted(rates, _OF_OUTPUTS if pool.is_judged else _OF_ONE_GROUP)
    errors = belief.errors
    if errors is not None and kinds is not None:
        errors = replace(kinds, counts=errors.counts)
    prior = prior_for(meaning, pool, rates.mode, rates.covariance, level)
    return _apart(with_prior(belief, *prior, errors, shared_of(meaning, pool, rates, level)), pool)


def shared_of(meaning: Outcomes, pool: Pool, rates: Fit, level: Level | None = None) -> Shared:
    """What of `prior_for` is common to all groups of the pool."""
    n_groups = len(pool.group_names)
    shared = empirical.shared_of(
        rates, scores(pool), pool.cell_size, pool.cell_group, n_groups, level
    )
    if meaning.metric.kind != "ece":
        return shared
    alpha, beta, _ = prior_for(meaning, pool, rates.at_mean_tau, level=level)
    return with_fixed(with_component_apart(shared), alpha, beta)


def _is_alone(pool: Pool, meaning: Outcomes) -> bool:
    """Whether the F1 of one class is asked of a single group."""
    asked = meaning.metric
    return asked.kind == "f1" and asked.classes == "one" and len(pool.group_names) == 1


def _scores_alone(pool: Pool) -> Scores:
    """What the scores say of a single group, which differs from no other."""
    return replace(scores(pool), log_tau=_NO_EFFECT)


def _prior_alone(rates: Fit, early: Ints, pool: Pool) -> tuple[Any, Any, Any]:
    right, wrong = early[:, 0], early[:, 1:].sum(axis=1)
    return empirical.prior_of_one_group(rates, _scores_alone(pool), pool.cell_size, right, wrong)


def _doubted(rates: Fit, times: float) -> Fit:
    """The fit as the prior of a single group, whose curve is less sure than it says."""
    n = len(rates.covariance)
    wider = np.ones(n)
    wider[curve_places(n - 3)] = np.sqrt(times)
    return replace(rates, covariance=wider[:, None] * rates.covariance * wider)


def _rates_and_level(
    right: Ints, wrong: Ints, pool: Pool, told: Scores
) -> tuple[Fit, Level | None]:
    """The fit to labels, and what is told of the cells' levels beside it."""
    group = effect_groups(pool)
    if pool.has_classes_apart and len(pool.group_names) > 1:
        cells = class_effects.Cells(right, wrong, group, pool.cell_unit, pool.cell_size)
        return class_effects.fit(cells, told)
    # outputs of one prompt may all be wrong together: of what groups share they tell as one label
    times = pool.n_prompts / pool.n_items if pool.n_prompts else 1.0
    rates = fitting.fit(right, wrong, group, told, times)
    if pool.group_levels is None:
        return rates, None
    return rates, factors.levels(rates.mode, told, right, wrong, group, effect_levels(pool))


def _apart(belief: Belief, pool: Pool) -> Belief:
    """The belief in which known items tell nothing of the others.

    They lie in cells of their own. The same prior at every component makes their outcomes equally
    likely at all of them, so that they do not move the components' weights.
    """
    if pool.known is None or pool.known.use != "known":
        return belief
    is_known = (pool.known.n_items > 0)[:, None]

    def untold(numbers: Any, instead: float = 1.0) -> Any:
        return np.where(is_known, instead, numbers)

    shared = belief.shared
    if shared is not None:
        at = shared.slopes
        alpha, beta = at.betas(slice(None), at.rates(slice(None))[1])
        fixed = untold(alpha), untold(beta)
        shared = replace(shared, slopes=replace(at, s=untold(at.s, 0.0), fixed=fixed))
    alpha, beta = untold(belief.alpha), untold(belief.beta)
    return with_prior(belief, alpha, beta, belief.mixture, shared=shared)


def _rates(plan: Plan, pool: Pool, meaning: Outcomes) -> tuple[Any, Any, Any]:
    """alpha, beta and mixture of the cells' rates of right answers, before any label."""
    one = np.ones(1)
    if plan.prior.kind == "empirical" and meaning.metric.pooled:
        return shared_rates(pool)
    if plan.prior.kind == "empirical":
        if _is_alone(pool, meaning):
            none = np.zeros((pool.n_cells, 2), dtype=np.int64)
            return _prior_alone(unfitted(_scores_alone(pool).weak), none, pool)
        first = unfitted(scores(pool).weak)
        return prior_for(meaning, pool, first.mode, first.covariance)
    if plan.prior.kind == "informative":
        return *priors.informative(pool.cell_mean_score, plan.prior.strength), one
    if METRICS[plan.question.metric].has_entries:
        # uniform over the classes, of which one is right
        right = np.full(pool.n_cells, plan.prior.strength / len(pool.classes))
        return right, plan.prior.strength - right, one
    return *priors.uniform(pool.n_cells, plan.prior.strength), one


def prior_for(
    meaning: Outcomes,
    pool: Pool,
    h: Hyperparameters,
    covariance: Any = None,
    level: Level | None = None,
) -> tuple[Any, Any, Any]:
    """`empirical.prior_of` the pool; for an ECE in groups each of them may be calibrated."""
    prior = empirical.prior_of(h, scores(pool), covariance, level)
    if meaning.metric.kind == "ece":
        return with_calibrated(*prior, pool.cell_mean_score)
    return prior


def shared_rates(pool: Pool, *labels: Ints) -> tuple[Any, Any, Any]:
    """alpha, beta and mixture of the rates behind the pool's ECE, laid out by labels (C, 1 + L)."""
    told = [np.stack([of[:, 0], of[:, 1:].sum(axis=1)], axis=1) for of in labels]
    return shared_prior(pool.cell_mean_score, pool.cell_size, pool.cell_group, *told)


def _errors(plan: Plan, pool: Pool, meaning: Outcomes, beta: Any) -> Errors | None:
    """The prior of the kinds of errors, before any label.

    Uniform and informative are the paper's Dirichlet: as many pseudo-counts as the Beta has for
    wrong answers, spread by the number of classes of each kind or by the classifier's shares.
    """
    if not meaning.n_kinds:
        return None
    none = np.zeros((pool.n_cells, 1 + meaning.n_kinds), dtype=np.int64)
    if plan.prior.kind == "empirical":
        return learnt_errors(none, meaning)
    if plan.prior.kind == "informative":
        assert meaning.share is not None, "an informative prior of errors has probabilities"
        kinds = expected_kinds(meaning.share, meaning.possible, 1.0, 0.0)
    else:
        kinds = meaning.n_classes / meaning.n_classes.sum(axis=1, keepdims=True)
    return Errors(none[:, 1:], beta[:, None] * kinds)


def learnt_errors(counts: Ints, meaning: Outcomes) -> Errors:
    """The errors among outcomes (C, 1 + L), and a prior of their kinds that is learnt from them."""
    seen = counts[:, 1:]
    return Errors(seen, *fit_kinds(seen, share_of(meaning), meaning.possible))


def share_of(meaning: Outcomes) -> Any:
    """The classifier's shares for the kinds, or the numbers of their classes if it gives none."""
    return meaning.n_classes.astype(np.float64) if meaning.share is None else meaning.share
