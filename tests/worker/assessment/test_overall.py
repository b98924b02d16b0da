"""The whole pool's value: as uncertain as thousands of hyperparameters, and a misfit, say."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from scipy import special

from tests.calibration.running import Opened, opened, truth_of
from tests.calibration.ways import WAYS
from worker.assessment import Assessment
from worker.assessment.believing import prior_for
from worker.assessment.covariates import scores
from worker.core.posterior.belief import Belief, group_share
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.misfit import misfit_variance
from worker.core.posterior.moments import moments
from worker.core.prior.fitting import fit, loss
from worker.core.prior.hyperparameters import WEAK, Hyperparameters
from worker.core.prior.likelihood import evidence
from worker.findings.evidence import overall
from worker.simulate.replay import labels, shuffled

N_LABELS, N_DRAWN, TAIL = 320, 1500, 4.0


@pytest.fixture(scope="module")
def case() -> Iterator[Opened]:
    way = next(way for way in WAYS if way.name == "estimate")
    with opened(way, "a model") as found:
        assert found is not None
        yield found


def believed(case: Opened, seed: int) -> Belief:
    """After labels of a truth from the model, most of them where they tell most."""
    outcome, _, _ = truth_of(case, case.work, np.random.default_rng(seed))
    order = shuffled(case.work, np.random.default_rng(seed))
    *_, last = islice(labels(case.work, outcome, order), N_LABELS)
    return last.belief


def by_hyperparameters(work: Assessment, b: Belief) -> tuple[float, float]:
    """Mean and standard deviation of the pool's accuracy over hyperparameters by the thousand.

    Weighed by their exact posterior density (importance sampling), the pool exact under each.
    """
    told, group, rng = scores(work.pool), work.pool.cell_group, np.random.default_rng(1)
    found = fit(b.right, b.wrong, group, told)
    covariance = found.covariance / np.outer(WEAK[:, 1], WEAK[:, 1])
    far = rng.standard_normal((N_DRAWN, 6)) / np.sqrt(rng.chisquare(TAIL, (N_DRAWN, 1)) / TAIL)
    z = (found.mode.numbers - WEAK[:, 0]) / WEAK[:, 1]
    z = z + 1.3 * far @ np.linalg.cholesky(covariance).T
    seen = evidence(b.right, b.wrong, group, told)
    proposed = -(TAIL + 6) / 2 * np.log1p((far**2).sum(axis=1) / TAIL)
    chance = special.softmax([-loss(row, seen)[0] for row in z] - proposed)
    assert 1 / (chance**2).sum() > 200  # else the yardstick itself is too rough
    share, at = group_share(b), np.flatnonzero(chance > 1e-4)
    told_by = [
        moments(with_prior(b, *prior_for(work.meaning, work.pool, Hyperparameters.of(h))))
        for h in WEAK[:, 0] + WEAK[:, 1] * z[at]
    ]
    weight = chance[at] / chance[at].sum()
    means = np.array([share @ one.mean for one in told_by])
    within = np.array([share**2 @ one.variance for one in told_by])
    mean = float(weight @ means)
    return mean, float(np.sqrt(weight @ (within + (means - mean) ** 2)))


def test_its_interval_is_as_wide_as_thousands_of_hyperparameters_say(case: Opened):
    # of all of 24 truths: single ones are off by up to .8 standard deviations
    off, width, rate = [], [], []
    for seed in range(24):
        b = believed(case, seed)
        mean, sd = by_hyperparameters(case.work, b)
        told = overall(case.work, b)
        assert told is not None
        off.append((told[0] - mean) / sd)
        width.append((told[2] - told[1]) / (2 * 1.96 * np.hypot(sd, misfit_variance(b) ** 0.5)))
        rate.append(mean)
    assert np.sqrt(np.mean(np.square(off))) < 0.4
    assert abs(np.mean(off)) < 0.2
    assert np.abs(off).max() < 1
    # of 320 labels of a pool of which a hundredth is right five are: so few say less than is told
    is_rare = np.minimum(rate, np.subtract(1, rate)) < 0.02
    assert is_rare.sum() == 1
    assert np.array(width)[is_rare] > 0.7
    assert 0.9 < np.array(width)[~is_rare].min() < np.median(width) < 1.15
    assert np.sum((np.abs(off) <= 0.75) & (np.abs(np.array(width) - 1) <= 0.2)) >= 22


def test_the_same_labels_say_the_same(case: Opened):
    assert overall(case.work, believed(case, 3)) == overall(case.work, believed(case, 3))
