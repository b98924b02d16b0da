"""Classifier and annotators inferred together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tests.amount import IS_SHORT
from tests.core.crowd.drawn import MIXTURE, NO_POOL, drawn_from_the_model
from tests.core.crowd.majority import shares
from tests.core.crowd.simulated import (
    DATA,
    SETS,
    covered,
    first_votes,
    rates,
    recorded,
    rights,
    simulated,
    without_classifier,
)
from worker.core.crowd.inference import Rates, infer, split_r_hat
from worker.core.crowd.votes import Votes, counts

needs_crowds = pytest.mark.skipif(
    not (DATA / "crowd-labelme").is_dir(), reason=f"no recorded crowds in {DATA}"
)


def long(*values):
    """A case that takes most of a minute, or is between two others."""
    return pytest.param(*values, marks=pytest.mark.long)


def small(seed=0, k=3):
    return drawn_from_the_model(np.random.default_rng(seed), k, 5, 12, 3, MIXTURE)[0]


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), order=st.randoms(use_true_random=False))
def test_the_order_in_which_votes_arrive_leaves_no_trace(seed, order):
    votes = small(seed)
    at = list(range(votes.item.size))
    order.shuffle(at)
    shuffled = replace(
        votes, item=votes.item[at], annotator=votes.annotator[at], label=votes.label[at]
    )
    first, second = (infer(v, MIXTURE, n_draws=20, seed=3) for v in (votes, shuffled))
    names = ("truth", "probability", "confusion", "confusion_sd", "quality", "strength", "spread")
    for name in names:
        assert (getattr(first, name) == getattr(second, name)).all()


def test_another_seed_gives_other_draws():
    votes = small()
    assert (infer(votes, MIXTURE, seed=1).truth != infer(votes, MIXTURE, seed=2).truth).any()


@pytest.mark.parametrize("n_draws", [1, 15, 16, 40])
def test_as_many_draws_come_as_were_asked_for_and_they_are_probabilities(n_draws):
    votes = small()
    found = infer(votes, MIXTURE, n_draws=n_draws, seed=1)
    assert found.truth.shape == (n_draws, votes.n_items)
    assert found.quality.shape == (n_draws, votes.n_annotators)
    assert found.probability.sum(axis=1) == pytest.approx(np.ones(votes.n_items), abs=1e-5)
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((5, 3)), abs=1e-5)
    assert ((found.quality >= 0) & (found.quality <= 1 + 1e-6)).all()


def test_chains_that_do_not_fit_into_memory_together_tell_the_same(monkeypatch):
    votes = small(k=2)
    together = infer(votes, MIXTURE, n_draws=512, seed=1)
    monkeypatch.setattr("worker.core.crowd.inference._MEMORY", 200)
    apart = infer(votes, MIXTURE, n_draws=512, seed=1)
    assert apart.truth.shape == together.truth.shape
    assert apart.probability == pytest.approx(together.probability, abs=0.08)


def test_gold_items_keep_their_class_inside_the_pool_and_outside():
    votes = small()
    truth, cell, predicted = votes.truth.copy(), votes.cell.copy(), votes.predicted.copy()
    truth[:4] = [0, 1, 2, 0]
    cell[:2] = predicted[:2] = -1
    votes = replace(votes, truth=truth, cell=cell, predicted=predicted)
    found = infer(votes, MIXTURE, seed=1)
    assert (found.truth[:, :4] == truth[:4]).all()
    assert found.probability[np.arange(4), truth[:4]].tolist() == [1.0] * 4


@pytest.mark.slow
@needs_crowds
@pytest.mark.parametrize("name", [long("labelme"), "bluebirds"])
def test_longer_runs_tell_the_same_of_the_classifier(name):
    case = simulated(np.random.default_rng(5), recorded(name), 300, 150, 5)
    prior = rates(case.size.size)
    short, long = (infer(case.votes, prior, n_draws=n, seed=n) for n in (128, 1024))
    first, second = (rights(case, found).sum(axis=1) for found in (short, long))
    # 128 draws of 16 chains are worth some 40 independent ones
    assert abs(first.mean() - second.mean()) < 4 * second.std() / np.sqrt(40)
    assert 0.6 < first.std() / second.std() < 1.6


@pytest.mark.slow
@needs_crowds
@pytest.mark.parametrize(("name", "per_item"), [long("labelme", 3), ("bluebirds", 5)])
def test_intervals_hold_a_classifiers_accuracy_as_often_as_they_say_but_majoritys_do_not(
    name, per_item
):
    n_runs = 16 if IS_SHORT else 100
    crowd, levels = recorded(name), (0.9, 0.95)
    cases = [
        simulated(np.random.default_rng([22, run]), crowd, 400, 200, per_item)
        for run in range(n_runs)
    ]
    found = covered(cases, ("dawid-skene", "majority", "fractions"), levels, seed=1)
    for at, level in enumerate(levels):
        assert found["dawid-skene"][0][at] * n_runs >= stats.binom.ppf(1e-3, n_runs, level)
        for method in ("majority", "fractions"):
            assert found[method][0][at] * n_runs < stats.binom.ppf(1e-4, n_runs, level)


@pytest.mark.slow
@needs_crowds
def test_settled_items_are_right_as_often_as_they_must_be():
    n_runs, right = 8 if IS_SHORT else 40, []
    for run in range(n_runs):
        case = simulated(np.random.default_rng([23, run]), recorded("labelme"), 300, 200, 3)
        found = infer(case.votes, rates(case.size.size), seed=run)
        settled = found.probability.max(axis=1) >= 0.95
        right += (found.likeliest == case.truth)[settled].tolist()
    assert len(right) > 125 * n_runs
    assert np.mean(right) > 0.95


@needs_crowds
@pytest.mark.parametrize("name", SETS)
def test_real_items_are_found_at_least_as_well_as_by_majority_and_by_batch_dawid_skene(name):
    crowd = recorded(name)
    votes = without_classifier(crowd)
    found = infer(votes, NO_POOL, seed=1)
    accuracy = (found.likeliest == crowd.truth).mean()
    each = np.arange(crowd.truth.size)
    assert accuracy >= shares(counts(votes))[each, crowd.truth].mean()
    batch = batch_dawid_skene(votes).argmax(axis=1)
    assert accuracy >= (batch == crowd.truth).mean() - 0.01


@pytest.mark.slow
@needs_crowds
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("part", [long(0.2), 0.4, long(0.6)])
def test_while_votes_are_few_real_items_are_found_at_least_as_well_as_by_majority(name, part):
    """On average over orders of arrival; the items with votes count."""
    crowd, ahead = recorded(name), []
    for order in range(3 if IS_SHORT else 8):
        votes = first_votes(crowd, part, order)
        voted = counts(votes)
        seen = voted.sum(axis=1) > 0
        found = infer(votes, NO_POOL, seed=order)
        by_majority = shares(voted)[np.arange(seen.size), crowd.truth]
        ahead.append(((found.likeliest == crowd.truth) - by_majority)[seen].mean())
    assert np.mean(ahead) >= 0


def batch_dawid_skene(votes, n_iter=100):
    """(I, K) expectation maximisation as Dawid & Skene (1979), started at the shares of votes."""
    n = counts(votes)
    p = n / n.sum(axis=1, keepdims=True)
    for _ in range(n_iter):
        confusion = np.full((votes.n_annotators, votes.n_classes, votes.n_classes), 1e-10)
        np.add.at(confusion.transpose(0, 2, 1), (votes.annotator, votes.label), p[votes.item])
        confusion /= confusion.sum(axis=2, keepdims=True)
        logs = np.tile(np.log(p.mean(axis=0)), (votes.n_items, 1))
        np.add.at(logs, votes.item, np.log(confusion[votes.annotator, :, votes.label]))
        p = special.softmax(logs, axis=1)
    return p


def test_chains_that_agree_have_an_r_hat_near_one_and_others_do_not():
    trace = np.random.default_rng(1).normal(size=(200, 8))
    assert split_r_hat(trace) == pytest.approx(1.0, abs=0.03)
    assert split_r_hat(trace + 3 * np.arange(8)) > 2
    assert split_r_hat(np.ones((10, 4))) == 1.0


def test_a_cell_without_a_prior_is_told():
    with pytest.raises(ValueError, match="rates cover 0 cells"):
        infer(small(), NO_POOL, seed=1)


def test_rates_of_the_wrong_shape_are_told():
    with pytest.raises(ValueError, match="one row a cell"):
        infer(small(), replace(MIXTURE, mixture=np.ones(1)), seed=1)


def test_no_votes_to_draw_from_are_told():
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="none"):
        infer(Votes(none, none, none, none, none, none, 1, 2), NO_POOL, seed=1)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"label": np.array([2])}, "label\\[0\\] is 2"),
        ({"item": np.array([-1])}, "item\\[0\\] is -1"),
        ({"annotator": np.array([0, 1])}, "annotator has shape"),
        ({"label": np.array([0.5])}, "integer array"),
        ({"cell": np.array([0])}, "both"),
        ({"n_classes": 1}, "2 classes"),
    ],
)
def test_votes_that_make_no_sense_are_told(changed, told):
    one, none = np.array([0]), np.array([-1])
    votes = Votes(one, one, one, none, none, none, 1, 2)
    with pytest.raises(ValueError, match=told):
        replace(votes, **changed)


def test_errors_that_are_spread_over_ten_classes_leave_no_bias():
    # A prior by which every class is mistaken for one or two others finds the predictor too bad.
    rng, apart = np.random.default_rng(1), []
    for seed in range(12):
        truth = rng.integers(0, 10, 200)
        predicted = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 10, 200))
        item = np.repeat(np.arange(200), 3)
        author = np.concatenate([rng.permutation(8)[:3] for _ in range(200)])
        label = np.where(rng.random(600) < 0.75, truth[item], rng.integers(0, 10, 600))
        none = np.zeros(200, np.int64)
        votes = Votes(item, author, label, none, predicted, none - 1, 8, 10)
        one = Rates(np.zeros(1, np.int64), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
        right = (infer(votes, one, seed=seed).truth == predicted).mean(axis=1)
        apart.append((right.mean() - (truth == predicted).mean()) / right.std())
    assert abs(np.mean(apart)) < 0.6  # four standard errors; the narrow prior has -1.1
