"""What `assay` labels, and that decisions are never without chance, estimates even in part."""

from itertools import islice

import numpy as np
import pytest
from scipy import special

from tests.core.scored import beliefs, made
from worker.core.posterior.belief import Belief, group_share, unlabelled
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Scores, unfitted
from worker.core.prior.likelihood import MIXTURE
from worker.core.questions.question import Question
from worker.core.questions.rewards import question_drop
from worker.core.strategies.ours import EVEN, EXPLORE, FEW, assay

QUESTIONS = {
    "lowest": Question("identify"),
    "highest two": Question("identify", which="highest", top=2),
    "all groups": Question("identify", top=4),
    "pair": Question("compare", pairs=((0, 2),)),
    "all pairs": Question("compare"),
}
ESTIMATE = Question("estimate")


def belief(size, right, wrong, group=None, alpha=None, **more):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [group, *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    alpha = ones if alpha is None else np.array(alpha)
    return Belief(*columns, alpha, ones, int(group.max()) + 1, **more)


def choices(b, question, pending=None, n=1000, seed=0):
    rng = np.random.default_rng(seed)
    pending = np.zeros(b.group.size, int) if pending is None else np.array(pending)
    return [assay(b, question, unlabelled(b) - pending, pending, rng) for _ in range(n)]


def shares(b, question, **more):
    """(C,) how often each cell is chosen."""
    chosen = [choice.cell for choice in choices(b, question, **more)]
    return np.bincount(chosen, minlength=b.group.size) / len(chosen)


decided = belief(
    [4000] * 8,
    [900, 20, 1500, 400, 30, 1990, 1000, 3000],
    [1000, 900, 500, 10, 25, 9, 1000, 990],
    group=[0, 0, 1, 1, 2, 2, 3, 3],
)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_it_is_never_without_chance_however_decided_the_answer_is(question):
    share = shares(decided, question, n=600)
    assert np.count_nonzero(share) > 1
    assert share.max() < 0.99


@pytest.mark.parametrize("n_groups", [2, 3, 40])
def test_it_is_never_without_chance_when_all_groups_are_known_exactly_but_for_a_few_items(n_groups):
    right = np.linspace(0, 990, n_groups).astype(int)
    b = belief([1000] * n_groups, right, 990 - right)
    assert np.count_nonzero(shares(b, QUESTIONS["lowest"], n=300)) > 1


def test_identifying_it_labels_the_groups_at_the_boundary_of_the_set():
    b = belief([900] * 6, [5, 48, 52, 53, 110, 115], [115, 60, 58, 55, 10, 5])
    share = shares(b, Question("identify", top=2))
    assert share[[1, 2, 3]].sum() > 0.95
    assert share[0] < 0.03


def test_of_two_disputed_groups_it_labels_the_more_uncertain_one():
    b = belief([900] * 3, [300, 6, 400], [280, 6, 20])
    assert shares(b, QUESTIONS["lowest"])[1] > 0.9


def test_it_compares_the_pairs_by_how_open_they_are():
    b = belief([900] * 4, [30, 32, 200, 390], [300, 290, 120, 3])
    share = shares(b, Question("compare", pairs=((0, 1), (2, 3))))
    assert share[:2].sum() > 0.98
    assert shares(b, Question("compare"))[2:].sum() < 0.05


@pytest.mark.parametrize(("right", "even"), [([5, 12, 5], 0), ([27, 8, 12], EVEN)])
def test_estimating_it_labels_what_lowers_the_squared_error_most_or_has_too_few(right, even):
    b = belief([300, 400, 40], right, [right[0], 0, right[2]], alpha=[1.0, 50.0, 1.0])
    assert question_drop(b).argmax() == 0
    assert (b.size / (b.right + b.wrong)).argmax() == 1
    assert shares(b, ESTIMATE, n=4000) == pytest.approx([1 - even, even, 0], abs=0.03)


@pytest.mark.parametrize(("n_predicted", "even"), [(20_000, EVEN), (60, EXPLORE)])
def test_where_hardly_any_item_is_predicted_positive_few_labels_lie_as_items_do(n_predicted, even):
    metric = Metric("f1", unit=np.array([0, 0, 1]))
    size, right = [90_000, 400, n_predicted], [400, 30, n_predicted // 4]
    b = belief(size, right, [0, 10, 0], [0, 0, 0], metric=metric)
    assert question_drop(b).argmax() == 0
    assert shares(b, ESTIMATE, n=2000) == pytest.approx([1 - even, even, 0], abs=0.04)


def test_of_the_recall_of_groups_some_labels_lie_as_items_do_though_none_are_too_few():
    counts = [300, 400, 40], [5, 12, 5], [5, 0, 5]
    metric = Metric("recall", unit=np.array([0, 1, 0]))
    assert shares(belief(*counts, metric=metric), ESTIMATE).max() < 0.8
    assert shares(belief(*counts, alpha=[1.0, 50.0, 1.0]), ESTIMATE).max() == 1


def test_the_first_label_of_an_estimate_is_any_items_however_many_strata_there_are():
    size = np.tile([10, 30], 400)
    none, each, fit = np.zeros(800, int), np.arange(800), unfitted()
    scores = Scores(np.full(800, 2.0), np.zeros(800))
    b = Belief(
        each, size, none, none, *prior_of(fit.mode, scores, fit.covariance)[:2], 800,
        mixture=MIXTURE, shared=shared_of(fit, scores, size, each, 800),
    )  # fmt: skip
    assert shares(b, ESTIMATE, n=1000)[1::2].sum() == pytest.approx(0.75, abs=0.05)


def test_no_stratum_of_an_estimate_is_left_to_the_curve():
    size, share = np.full(32, 500), np.zeros(32)
    x = np.linspace(-1.0, 8.0, 32)
    rate = special.expit(x) - 0.1 * (x > 6)
    scores, rng = Scores(x, np.zeros(32)), np.random.default_rng(5)
    right, wrong = np.zeros((2, 32), dtype=int)
    for n in range(960):
        if n % 120 == 0:
            found = fit(right, wrong, np.zeros(32, int), scores)
            prior = prior_of(found.mode, scores, found.covariance)[:2]
            common = shared_of(found, scores, size, np.zeros(32, int), 1)
        b = Belief(np.zeros(32, int), size, right, wrong, *prior, 1, mixture=MIXTURE, shared=common)
        cell = assay(b, ESTIMATE, unlabelled(b), np.zeros(32, int), rng).cell
        share[cell] += 32 / 960
        came = rng.random() < rate[cell]
        right[cell] += came
        wrong[cell] += not came
    assert share.max() > 1.3  # and yet most go where they tell most; of twelve seeds 1.37 or more
    assert share.min() > 0.8 * EVEN


@pytest.mark.parametrize("n_labels", [0, 8 * FEW])
def test_until_groups_have_some_labels_those_of_an_estimate_lie_as_items_do(n_labels):
    group, size = np.repeat(np.arange(4), 8), np.full(32, 500)
    scores = Scores(np.tile(np.linspace(-1.0, 5.0, 8), 4), np.zeros(32))
    right, wrong = np.zeros((2, 32), dtype=int)
    right[::8], wrong[::8] = n_labels // 8, n_labels // 8
    found = fit(right, wrong, group, scores)
    b = Belief(
        group, size, right, wrong, *prior_of(found.mode, scores, found.covariance)[:2], 4,
        mixture=MIXTURE, shared=shared_of(found, scores, size, group, 4),
    )  # fmt: skip
    pending, rng = np.zeros(32, int), np.random.default_rng(5)
    for _ in range(4 * FEW + 2 * n_labels):
        pending[assay(b, ESTIMATE, unlabelled(b) - pending, pending, rng).cell] += 1
    if n_labels == 0:
        assert pending.max() == 1  # of strata of one size none a second time before the others
    else:
        assert pending.reshape(4, 8).sum(axis=0).max() >= pending.sum() / 3


def test_labels_for_the_ece_of_a_pool_lie_as_its_items_do_and_not_at_the_ends_of_its_curve():
    pool = made("uniform", "temperature .8", 3_000, np.random.default_rng(1))
    b = next(islice(beliefs(pool, "assay", np.random.default_rng(2)), 199, None))
    due = 200 * group_share(b)
    assert np.bincount(b.group, b.right + b.wrong) == pytest.approx(due, abs=0.4 * due.min())


def test_within_the_group_it_labels_the_cell_that_sharpens_most_and_now_and_then_any_item():
    b = belief([500, 500, 500], [200, 2, 230], [200, 2, 200], group=[0, 0, 1])
    assert moments(b).drop[1] > moments(b).drop[0]
    share = shares(b, QUESTIONS["lowest"], n=3000)
    own = share[:2].sum()
    assert share[0] / own == pytest.approx(EXPLORE * 100 / (100 + 496), abs=0.02)
    explored = np.mean(["explored" in c.numbers for c in choices(b, QUESTIONS["lowest"], n=3000)])
    assert explored == pytest.approx(EXPLORE, abs=0.03)


@pytest.mark.parametrize(("right", "even"), [(4, EVEN), (40, 0.0)])
def test_within_a_compared_group_every_other_label_lies_where_there_are_too_few(right, even):
    cells = [500, 500, 500], [40, right, 200], [40, 0, 200]
    b = belief(*cells, group=[0, 0, 1], alpha=[1.0, 99.0, 1.0])
    assert moments(b).drop[0] > moments(b).drop[1]
    left = unlabelled(b)
    by_chance = EXPLORE * left[1] / (left[0] + left[1])
    share = shares(b, Question("compare"), n=3000)
    expected = even + (1 - even) * by_chance
    assert share[1] / share[:2].sum() == pytest.approx(expected, abs=0.04)
    # where the worst group is looked for they lie as ever
    share = shares(b, QUESTIONS["lowest"], n=3000)
    assert share[1] / share[:2].sum() == pytest.approx(by_chance, abs=0.04)


@pytest.mark.parametrize("question", [QUESTIONS["lowest"], ESTIMATE])
def test_items_already_queued_send_the_next_one_elsewhere(question):
    b = belief([90, 90, 90], [9, 9, 40], [9, 9, 2])
    none, queued = shares(b, question), shares(b, question, pending=[60, 0, 0])
    assert none[0] > 0.25
    assert queued[0] < none[0] / 2
    assert queued[1] > none[1]


def test_a_batch_of_claims_spreads_over_the_disputed_groups():
    b = belief([90] * 5, [9, 9, 9, 9, 60], [9, 9, 9, 9, 2])
    pending, rng = np.zeros(5, int), np.random.default_rng(3)
    for _ in range(24):
        pending[assay(b, QUESTIONS["lowest"], unlabelled(b) - pending, pending, rng).cell] += 1
    assert pending[:4].min() >= 3
    assert pending[4] <= 2


def test_it_never_looks_for_a_dispute_among_exhausted_groups_only():
    b = belief([20, 20, 300], [9, 9, 200], [11, 11, 10])
    assert {choice.group for choice in choices(b, QUESTIONS["lowest"], n=50)} == {2}


def test_the_most_costly_and_the_least_calibrated_group_are_looked_for_as_well():
    none = np.zeros(3, np.int64)
    b = belief(
        [300] * 3, [60, 30, 30], [20, 25, 60],
        metric=Metric("ece", score=np.array([0.75, 0.9, 0.95]), unit=none),
    )  # fmt: skip
    assert moments(b).mean.argmax() == 2
    share = shares(b, Question("identify", which="highest"))
    assert share[[1, 2]].sum() > 0.95
