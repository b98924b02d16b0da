"""Where the posterior begins: the plan's prior over the pool's cells, fitted to labels or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Outcomes
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.calibration_prior import shared_prior, with_calibrated
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.metrics import Errors
from worker.core.prior import empirical, fitting, priors, siblings
from worker.core.prior.hyperparameters import (
    Covariate,
    Fit,
    Hyperparameters,
    Scores,
    curve_places,
    unfitted,
)
from worker.core.prior.kinds import common_errors, expected_kinds, fit_kinds
from worker.core.prior.shared import Shared, with_component_apart, with_fixed
from worker.metrics import METRICS
from worker.plan import Plan
from worker.pool import Pool

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A classifier without scores is taken for one that is .88 sure of every item, as published ones are
# on average: so its accuracy is expected between .3 and .99, and most of it is learnt.
_WITHOUT_SCORES = 2.0
# What an opinion says of a cell's accuracy, by its own standard deviation: nothing is believed of
# it before there are labels. In fits to all labels of twelve pairs of published models the weights
# were .7 to 1.7; most things that are known of items tell less, and some nearly all. The scale is
# this over the number of terms: so seven that tell nothing together have as little to say as one.
# Source: Gelman, Jakulin, Pittau & Su, "A weakly informative default prior distribution for
# logistic and other regression models" (2008): Cauchy, of scale 1.25 on this axis.
_OPINIONS = 1.0
# Items that are predicted positive may be right more or less often than the others of their score.
_POSITIVE, _POSITIVE_SLOPE = 3.0, 1.0
# What fools a judge goes with the topic: groups of outputs differ by more than a classifier's do
# beyond its scores. With the usual (-1.5, .8) intervals of samples/answers held in .86 at 100 to
# 300 labels, so in .93.
_OF_TOPICS = -0.7, 0.5
# Where positive items are rare, so are those that are missed however sure the classifier is: the
# lapse is what it is elsewhere where a tenth of the items is positive, and in proportion below.
_MISSED = 10.0
# Labels of a group weigh its components, and were part of the fit before: a small part where there
# are many groups, all of it where there is one, so that they would count twice. With four times the
# covariance of its curve they count 1.25 times, and 95% intervals of the whole pool hold in .944 of
# 400 runs instead of .90, those of its F1 in .961 instead of .90 (`make calibration ARGS="--ways
# 'of the pool'"`; of the covariance of closeness and lapse, which are no part of it, nothing).
_OF_ONE_GROUP = 4.0
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
    if plan.prior.kind == "empirical" and not meaning.metric.pooled:
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
    key = pool.hash, early.tobytes()
    found: tuple[Fit, Any, Any] | None = _fits.get(key)
    if found is None:
        right, wrong = early[:, 0], early[:, 1:].sum(axis=1)
        said = scores(pool)
        group = pool.cell_group if said.second is None else _with_two_effects(pool)
        rates = fitting.fit(right, wrong, group, said)
        kinds = None
        if meaning.n_kinds and early[:, 1:].any():
            kinds = learnt_errors(early, meaning)
        level = _level(rates.mode, right, wrong, pool)
        found = rates, kinds, level
        _fits.put(key, found, early.size + (0 if kinds is None else kinds.prior.size))
    rates, kinds, level = found
    if len(pool.group_names) == 1:
        rates = _counted_once(rates)
    errors = belief.errors
    if errors is not None and kinds is not None:
        errors = replace(kinds, counts=errors.counts)
    prior = prior_for(meaning, pool, rates.mode, rates.covariance, level)
    return _apart(with_prior(belief, *prior, errors, shared_of(meaning, pool, rates, level)), pool)


def shared_of(meaning: Outcomes, pool: Pool, rates: Fit, level: Any = None) -> Shared:
    """What of `prior_for` is common to all groups of the pool."""
    n_groups = len(pool.group_names)
    shared = empirical.shared_of(
        rates, scores(pool), pool.cell_size, pool.cell_group, n_groups, level
    )
    if meaning.metric.kind != "ece":
        return shared
    alpha, beta, _ = prior_for(meaning, pool, rates.mode, level=level)
    return with_fixed(with_component_apart(shared), alpha, beta)


def _counted_once(rates: Fit) -> Fit:
    """The fit as the prior of a single group, whose labels it has seen all."""
    n = len(rates.covariance)
    times = np.ones(n)
    times[curve_places(n - 3)] = np.sqrt(_OF_ONE_GROUP)
    return replace(rates, covariance=times[:, None] * rates.covariance * times)


def _with_two_effects(pool: Pool) -> Ints:
    """(C,) ascending: what is wrong of a group's items that are predicted positive, and of others.

    The two are off each by itself: under one effect for both the pool's F1 held in .77 of 34 rows.
    So are outputs that a judge calls right, and others.
    """
    return 2 * pool.cell_group + pool.cell_unit


def _level(h: Hyperparameters, right: Ints, wrong: Ints, pool: Pool) -> Any:
    """What siblings say of the cells' groups; None where no groups have parents."""
    if pool.parents is None:
        return None
    found = siblings.levels(h, scores(pool), right, wrong, pool.cell_group, pool.parents.of_group)
    return tuple(of_group[pool.cell_group] for of_group in found)


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


def scores(pool: Pool) -> Scores:
    """What the classifier's scores and the opinions say of the cells.

    The scores of all are the same if the classifier gives none.
    """
    told = [x for one in pool.opinions for x in one.x]
    scale = _OPINIONS / max(1, len(told))
    told += [] if pool.all_sure is None else [pool.all_sure]
    more = tuple(Covariate(x, 0.0, scale, is_heavy=True) for x in told)
    size, place = (pool.cell_size, pool.cell_group) if more else (None, None)
    lapse: Floats = np.ones(1)
    second, log_tau = None, None
    if pool.positive_share is not None or pool.is_judged:
        second = is_positive = pool.cell_unit == 1
        more += (Covariate(is_positive.astype(np.float64), 0.0, _POSITIVE),)
        if pool.has_scores:
            along = np.where(is_positive, pool.cell_mean_logit, 0.0)
            more += (Covariate(along, 0.0, _POSITIVE_SLOPE),)
    if pool.is_judged:
        size, place, log_tau = pool.cell_size, _with_two_effects(pool), _OF_TOPICS
    if pool.positive_share is not None:
        lapse = np.where(is_positive, 1.0, np.fmin(_MISSED * pool.positive_share, 1.0))
    if not pool.has_scores:
        flat = np.full(pool.n_cells, _WITHOUT_SCORES)
        return Scores(flat, np.zeros(pool.n_cells), more, size, place, lapse, second, log_tau)
    filled = pool.group_size > 0
    centre = np.average(pool.group_mean_logit[filled], weights=pool.group_size[filled])
    above = (pool.group_mean_logit - centre)[pool.cell_group]
    return Scores(pool.cell_mean_logit, above, more, size, place, lapse, second, log_tau)


def _rates(plan: Plan, pool: Pool, meaning: Outcomes) -> tuple[Any, Any, Any]:
    """alpha, beta and mixture of the cells' rates of right answers, before any label."""
    one = np.ones(1)
    if plan.prior.kind == "empirical" and meaning.metric.pooled:
        return shared_rates(pool)
    if plan.prior.kind == "empirical":
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
    meaning: Outcomes, pool: Pool, h: Hyperparameters, covariance: Any = None, level: Any = None
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
    prior = fit_kinds(seen, share_of(meaning), meaning.possible)
    return Errors(seen, prior, common_errors(seen))


def share_of(meaning: Outcomes) -> Any:
    """The classifier's shares for the kinds, or the numbers of their classes if it gives none."""
    return meaning.n_classes.astype(np.float64) if meaning.share is None else meaning.share
