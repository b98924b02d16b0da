"""Whether a simulation's finding is right, and truths that are drawn where none is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from tests.worker.assessment.models_pool import TWO, plan_of, values_of, write_models
from tests.worker.simulate.simulated_pool import N_ITEMS, at_work, write_plan
from worker.assessment import Assessment, assess
from worker.assessment.covariates import scores
from worker.core.posterior.belief import group_share
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters
from worker.core.questions.question import Question
from worker.pool import compile_pool
from worker.simulate.findings import is_among, is_right, true_region
from worker.simulate.jointly import plausible_outcomes
from worker.simulate.measuring import Measures
from worker.simulate.replay import labels, replay
from worker.simulate.truths import cell_of_rows, drawn_from, plausible, true_values

N_RUNS = 60 if IS_SHORT else 300


# --- whether a finding is right ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "region"),
    [(-0.06, "below"), (-0.05, "within"), (0.3 - 0.25, "within"), (0.051, "above")],
)
def test_a_difference_of_just_epsilon_is_within(difference, region):
    assert true_region(difference, 0.05) == region


def verdict_after(assessment: Assessment, outcome: np.ndarray, n: int):
    """The belief after n labels and what would be said then."""
    belief = next(r.belief for i, r in enumerate(labels(assessment, outcome), 1) if i == n)
    return belief, assessment.decide(belief, N_ITEMS - n)


def test_a_named_group_is_right_if_it_is_the_lowest_or_tied_with_it(small):
    assessment, outcome = small
    belief, verdict = verdict_after(assessment, outcome, 30)
    (chosen,) = verdict.chosen
    truth = np.full(3, 0.8)

    assert is_right(assessment, verdict, belief, truth)  # all are tied
    truth[chosen] = 0.7
    assert is_right(assessment, verdict, belief, truth)
    truth[chosen] = 0.9
    assert not is_right(assessment, verdict, belief, truth)
    tolerant = replace(assessment, question=Question("identify", tolerance=0.15))
    assert is_right(tolerant, verdict, belief, truth)


def test_a_shortlist_is_right_if_the_groups_asked_for_are_in_it():
    question = Question("identify", shortlist=2)
    assert is_among((2, 0), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), question)
    assert not is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), question)
    assert is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.1, 0.4]), question)  # tied
    two = replace(question, top=2, shortlist=3)
    assert not is_among((0, 2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), two)
    highest = replace(question, which="highest")
    assert is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), highest)


def test_a_comparison_is_right_if_every_pair_lies_where_it_was_said_to(tmp_path):
    plan = write_plan(tmp_path, question="{task: compare, compare: all}", stop="{rope: {}}")
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, N_ITEMS)
    truth = true_values(assessment, outcome)

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, truth[::-1])


@pytest.mark.parametrize("rule", ["rmse", "width"])
def test_an_estimate_is_right_if_the_truth_is_as_near_as_was_said(tmp_path, rule):
    plan = write_plan(tmp_path, question="{task: estimate}", stop=f"{{{rule}: 0.1}}")
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, N_ITEMS - 1)
    truth = true_values(assessment, outcome)

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, np.clip(truth + 0.3, 0, 1) - 0.1)


@pytest.mark.parametrize("guarantee", ["posterior", "anytime"])
def test_the_width_of_a_pools_calibration_error_is_a_claim_about_the_pool_not_its_bins(
    tmp_path, guarantee
):
    plan = write_plan(
        tmp_path,
        question="{task: estimate, metric: ece}",
        groups="score_bin(5)",
        stop=f"{{width: 0.1, guarantee: {guarantee}}}",
    )
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, 100)
    share, truth = group_share(belief), mean(belief)
    first, second = np.flatnonzero(share)[[0, -1]]
    truth[first] += 0.5  # far from what is believed of two bins, but not of their sum
    truth[second] -= 0.5 * share[first] / share[second]

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, truth + 1)


# --- drawn truths --------------------------------------------------------------------------------


def test_drawn_truths_are_as_accurate_as_the_prior_expects(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, prior="{kind: informative, strength: 2}"))
    rng = np.random.default_rng(1)
    size = assessment.pool.cell_size
    drawn = [1 - plausible(assessment, rng) for _ in range(2000)]
    shares = np.array([np.add.reduceat(d, assessment.pool.cell_start) / size for d in drawn])
    expected = assessment.pool.cell_mean_score
    # a Beta of strength 2 has a variance of s (1 - s) / 3
    error = np.sqrt(expected * (1 - expected) * (1 / 3 + 1 / size) / 2000)

    assert (np.abs(shares.mean(axis=0) - expected) < 4 * error).all()


def test_cells_of_a_group_are_drawn_with_the_same_group_effect(tmp_path):
    """Else groups of many cells would all be alike, and too certain."""
    plan = write_plan(tmp_path, prior="{kind: empirical}", strata=4)
    assessment, _ = at_work(plan)
    differing = prior_of(Hyperparameters(log_tau=0.7), scores(assessment.pool))
    prior = with_prior(assessment.first, *differing)
    rng = np.random.default_rng(1)
    cell = cell_of_rows(assessment)
    group = assessment.pool.cell_group
    shares = []
    for _ in range(4000):
        wrong = drawn_from(prior, rng) > 0
        shares.append(np.bincount(cell, wrong) / assessment.pool.cell_size)
    together = np.corrcoef(np.array(shares).T)
    own = (group[:, None] == group) & ~np.eye(group.size, dtype=bool)

    assert together[own].mean() > 0.2
    assert abs(together[group[:, None] != group].mean()) < 0.02


def test_before_labels_a_pool_is_as_uncertain_as_the_numbers_that_all_groups_share(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, prior="{kind: empirical}"))
    rng = np.random.default_rng(1)
    fixed = [drawn_from(assessment.first, rng).mean() for _ in range(200)]
    varied = [plausible(assessment, rng).mean() for _ in range(200)]

    assert np.std(fixed) == pytest.approx(np.std(varied), rel=0.25)


@pytest.mark.parametrize("prior", ["uniform", "informative", "empirical"])
def test_drawn_errors_are_of_the_kinds_that_can_be(tmp_path, prior):
    plan = write_plan(
        tmp_path,
        prior=f"{{kind: {prior}}}",
        question="{task: estimate, metric: confusion}",
        stop="{rmse: 0.05}",
        by_probabilities=True,
    )
    assessment, _ = at_work(plan)
    rng = np.random.default_rng(1)
    drawn = np.array([plausible(assessment, rng) for _ in range(50)])
    told_apart = {tuple(row) for row in assessment.meaning.kind.tolist()}

    assert len(told_apart) == 3
    assert set(np.unique(drawn)) == {0, 1, 2, 3}
    own_class = assessment.pool.predicted + 1  # an error is never the class that was predicted
    assert (drawn != own_class).all()


@pytest.mark.slow
def test_on_drawn_truths_claims_are_right_as_often_as_they_say(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, stop="{mrr: {confidence: 0.8}}"))
    measures = Measures(N_ITEMS, only_stop=True)
    stops = [replay(assessment, None, measures, seed=6, number=n).stop for n in range(N_RUNS)]
    right = sum(stop is not None and stop.is_right for stop in stops)

    # 80% is claimed at least; it is looked at after every label, where a posterior stays true
    assert right >= stats.binom.ppf(1e-4, N_RUNS, 0.8)


def test_models_are_made_up_better_in_some_of_their_groups(tmp_path):
    """Once for all strata of a group: two halves of them say the same of it."""
    write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}))
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    layout, own = work.several.models.layout, work.several.models.own[:, 0]
    cell = np.repeat(np.arange(layout.size.size), layout.size)
    apart, rng = [], np.random.default_rng(2)
    for _ in range(400):
        is_right = plausible_outcomes(work.several, rng) == layout.right(0)[cell]
        for half in (0, 1):
            some = cell % 2 == half
            right, all_ = (np.bincount(own[cell[some]], of) for of in (is_right[some], None))
            apart.append(right[0] / all_[0] - right[1] / all_[1])  # two groups of like scores
    assert np.corrcoef(np.reshape(apart, (400, 2)).T)[0, 1] > 0.15
