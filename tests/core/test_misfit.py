"""What a curve that does not fit does to the whole pool: held against randomly bent ones."""

import dataclasses

import numpy as np
import pytest
from scipy import special

from worker.core.posterior.belief import Belief, group_share, replaced
from worker.core.posterior.intervals import draws_of_whole, whole
from worker.core.posterior.metrics import Metric
from worker.core.posterior.misfit import misfit_variance
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import draws
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Scores

N_GROUPS, N_CELLS, SIZE, SD = 4, 12, 60, 0.5


def believed(n_of_cell, size=SIZE) -> Belief:
    """Groups of the same strata; so many labels of each stratum, most of them right."""
    group = np.repeat(np.arange(N_GROUPS), N_CELLS)
    logit = np.tile(np.linspace(0.5, 5, N_CELLS), N_GROUPS)
    scores, sizes = Scores(logit, np.zeros(group.size)), np.full(group.size, size)
    labels = np.tile(n_of_cell, N_GROUPS)
    right = np.rint(labels * special.expit(0.8 * logit)).astype(np.int64)
    found = fit(right, labels - right, group, scores)
    alpha, beta, mixture = prior_of(found.mode, scores, found.covariance)
    shared = shared_of(found, scores, sizes, group, N_GROUPS)
    return Belief(
        group, sizes, right, labels - right, alpha, beta, N_GROUPS, mixture=mixture, shared=shared
    )


MOST_WHERE_UNSURE = believed(np.linspace(12, 2, N_CELLS).astype(np.int64))
AS_ITEMS_LIE = believed(np.full(N_CELLS, 6))


def by_bent_curves(b: Belief) -> float:
    """The variance of what a fitted line says of the pool, less what is so, over bent curves.

    Labels are as many as are expected at the bent curve; small bends, so that all is linear.
    """
    assert b.shared is not None
    rng, curve, small = np.random.default_rng(5), b.shared.slopes.centre, 1e-3
    rate, labels = moments(b).rate, (b.right + b.wrong) * b.shared.slopes.s.any(axis=1)
    to_come = (b.size - b.right - b.wrong) / b.size.sum()
    x, told = np.stack([np.ones(curve.size), curve]), rate * (1 - rate)
    off = []
    for _ in range(4000):
        bent = small * np.tile(rng.normal(0, SD, N_CELLS), N_GROUPS)
        moved = special.expit(special.logit(rate) + bent) - rate
        ridge = np.diag([1 / 2**2, 1.0])
        line = np.linalg.solve((x * (labels * told)) @ x.T + ridge, x @ (labels * moved))
        off.append(to_come @ (told * (line @ x) - moved))
    return float(np.var(off)) / small**2


def with_known(b: Belief) -> Belief:
    """The labels of the least sure stratum were known before: nothing is fitted to them."""
    assert b.shared is not None
    at = b.shared.slopes
    s = np.where((np.arange(b.size.size) % N_CELLS == 0)[:, None], 0.0, at.s)
    fixed = at.betas(slice(None), at.rates(slice(None))[1])
    shared = dataclasses.replace(b.shared, slopes=dataclasses.replace(at, s=s, fixed=fixed))
    return replaced(b, shared=shared, _memo={})


@pytest.mark.parametrize("b", [MOST_WHERE_UNSURE, with_known(MOST_WHERE_UNSURE)])
def test_it_is_what_bent_curves_leave_in_the_pool(b):
    assert misfit_variance(b) == pytest.approx(by_bent_curves(b), rel=0.1)


def test_labels_that_lie_as_items_do_leave_next_to_nothing():
    # what is left is of the weak prior of level and slope
    assert misfit_variance(AS_ITEMS_LIE) < 0.02 * misfit_variance(MOST_WHERE_UNSURE)


def test_the_draws_are_spread_by_it_and_no_further_than_all_right():
    b = MOST_WHERE_UNSURE
    plain = np.sort(draws(b) @ group_share(b))
    wider = draws_of_whole(b)
    assert wider.mean() == pytest.approx(plain.mean(), abs=1e-4)
    assert wider.var() == pytest.approx(plain.var() + misfit_variance(b), rel=0.02)
    assert (np.diff(wider) >= 0).all()
    assert wider.max() <= 1
    mean, low, high = whole(b)
    assert low < np.quantile(plain, 0.025) < mean < np.quantile(plain, 0.975) < high


def test_nothing_is_added_of_what_is_known_or_not_told_by_the_curve():
    b = MOST_WHERE_UNSURE
    labelled = replaced(b, right=b.size, wrong=np.zeros_like(b.size), _memo={})
    assert misfit_variance(labelled) == 0
    assert misfit_variance(replaced(b, shared=None, _memo={})) == 0
    ratio = Metric("recall", unit=np.ones(b.size.size, np.int64), classes="one")
    assert misfit_variance(replaced(b, metric=ratio, _memo={})) == 0
