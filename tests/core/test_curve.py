"""The smooth calibration curve: what it is on a labelled pool, and what labels tell of it."""

import numpy as np
import pytest
from scipy import optimize, special

from tests.amount import IS_SHORT
from worker.core.reliability.curve import curve_of, right_answers, score_grid, true_curve
from worker.core.reliability.logistic import Labels, _peak, design


def pool(seed: int, n: int = 2000, n_groups: int = 12):
    """Scores, groups that differ, and outcomes of an overconfident classifier."""
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1.2, n)
    group = rng.integers(0, n_groups, n)
    level = rng.normal(0, 0.5, n_groups)
    chance = special.expit(0.7 * special.logit(np.clip(score, 1e-4, 1 - 1e-4)) + level[group] - 0.2)
    return score, group, rng.random(n) < chance, rng


def test_a_classifier_that_is_right_as_often_as_it_says_has_the_diagonal():
    score = np.repeat(np.linspace(0.05, 0.95, 19), 1000)
    right = np.concatenate([np.arange(1000) < round(1000 * s) for s in np.linspace(0.05, 0.95, 19)])
    curve, ece = true_curve(score_grid(score), right)
    assert curve == pytest.approx(score_grid(score).score, abs=1e-9)
    assert ece == pytest.approx(0, abs=1e-9)


def test_a_constant_overconfidence_is_found_as_it_is_also_at_the_ends():
    score = np.repeat(np.linspace(0.3, 0.95, 14), 1000)
    right = np.concatenate(
        [np.arange(1000) < round(1000 * (s - 0.2)) for s in np.linspace(0.3, 0.95, 14)]
    )
    curve, ece = true_curve(score_grid(score), right)
    assert curve == pytest.approx(score_grid(score).score - 0.2, abs=1e-9)
    assert ece == pytest.approx(0.2, abs=1e-9)


def test_places_end_at_the_bounds_and_hold_every_item_once():
    score, *_ = pool(1)
    bounds = np.arange(1, 10) / 10
    at = score_grid(score, bounds)
    assert at.items.sum() == score.size
    assert (np.diff(at.score) > 0).all()
    low = np.full(at.items.size, 2.0)
    high = np.full(at.items.size, -1.0)
    np.minimum.at(low, at.of_item, score)
    np.maximum.at(high, at.of_item, score)
    inside = np.searchsorted(bounds, low, side="right") == np.searchsorted(
        bounds, high, side="right"
    )
    assert inside.all()


def test_once_all_is_labelled_nothing_is_left_to_believe():
    score, group, right, rng = pool(2, 500)
    at = score_grid(score)
    drawn = right_answers(at, group, np.arange(500), right[None], rng, 40)
    found, (curve, ece) = curve_of(at, drawn), true_curve(at, right)
    assert found.low == pytest.approx(curve)
    assert found.high == pytest.approx(curve)
    assert found.ece == pytest.approx((ece, ece, ece))


@pytest.mark.parametrize("n_labels", [0, 1, 5])
def test_few_labels_give_a_wide_band_inside_0_and_1(n_labels):
    score, group, right, rng = pool(3)
    rows = rng.choice(score.size, n_labels, replace=False)
    found = curve_of(
        at := score_grid(score), right_answers(at, group, rows, right[rows][None], rng, 200)
    )
    assert ((found.low >= 0) & (found.high <= 1) & (found.low <= found.high)).all()
    assert np.average(found.high - found.low, weights=found.items) > 0.2


def test_few_items_at_each_score_are_completed_without_bias():
    """300 items lie at 128 places: what is drawn of one or two of them keeps its mean."""
    off = []
    for seed in range(40):
        score, group, right, rng = pool(300 + seed, 300, 3)
        rows = rng.choice(300, 210, replace=False)
        drawn = right_answers(score_grid(score), group, rows, right[rows][None], rng, 100)
        off.append(drawn.sum(axis=1).mean() / 300 - right.mean())
    assert abs(np.mean(off)) <= 3 * np.std(off) / np.sqrt(len(off))


def test_labels_that_tell_nothing_of_others_count_for_themselves_alone():
    score, group, right, rng = pool(8, 600)
    rows = rng.choice(600, 300, replace=False)
    tells = np.arange(300) < 150
    one, other = right[rows].copy(), right[rows].copy()
    other[~tells] = ~other[~tells]
    sums = np.zeros(600, dtype=np.int64)
    drawn = [
        right_answers(
            score_grid(score),
            group,
            rows,
            told[None],
            np.random.default_rng(1),
            by=sums,
            tells=tells,
        )
        for told in (one, other)
    ]
    assert drawn[0] - one.sum() == pytest.approx(drawn[1] - other.sum())


def test_equal_scores_are_one_place():
    score, right = np.full(50, 0.8), np.arange(50) < 30
    at = score_grid(score)
    found = curve_of(
        at,
        right_answers(
            at, np.zeros(50, int), np.arange(20), right[None, :20], np.random.default_rng(1)
        ),
    )
    assert found.score.size == 1
    assert found.low[0] <= 0.6 <= found.high[0] or found.mean[0] > 0.6


def test_doubt_about_labels_widens_the_band():
    score, group, right, _ = pool(4)
    rows = np.random.default_rng(0).choice(score.size, 300, replace=False)
    at = score_grid(score)
    other = right[rows].copy()
    other[:150] = ~other[:150]
    sure = curve_of(at, right_answers(at, group, rows, right[rows][None], np.random.default_rng(1)))
    torn = curve_of(
        at,
        right_answers(at, group, rows, np.stack([right[rows], other]), np.random.default_rng(1)),
    )
    assert (torn.high - torn.low).mean() > (sure.high - sure.low).mean()


def test_groups_count_by_their_items_and_not_by_their_labels():
    # one group of two is always wrong and has nearly all labels
    rng = np.random.default_rng(5)
    score, group = rng.uniform(0.6, 0.9, 2000), np.repeat([0, 1], 1000)
    right = group == 1
    rows = np.concatenate([np.arange(300), np.arange(1000, 1040)])
    at = score_grid(score)
    found = curve_of(at, right_answers(at, group, rows, right[rows][None], rng))
    assert np.average(found.mean, weights=found.items) == pytest.approx(0.5, abs=0.06)


def test_the_peak_is_where_the_density_is_largest():
    score, group, right, rng = pool(6, 300, 4)
    at = score_grid(score)
    about = design(at.at, at.logit, at.items, np.zeros(4))
    rows = rng.choice(300, 80, replace=False)
    labels = Labels(at.of_item[rows], group[rows], right[rows].astype(float), np.ones(80))
    sd = about.sd.copy()
    sd[2:-1] *= 0.7
    seen = np.column_stack([about.basis[labels.place], np.zeros(80)])
    peak = _peak(seen, labels.group, 4, labels, (about.mean, sd), 0.5, None)

    def minus_log_density(x):
        logit = seen @ x[:-4] + x[-4:][labels.group]
        prior = (((x[:-4] - about.mean) / sd) ** 2).sum() / 2 + (x[-4:] ** 2).sum() / (2 * 0.25)
        return np.logaddexp(0, logit).sum() - labels.right @ logit + prior

    found = optimize.minimize(
        minus_log_density, np.zeros(peak.centre.size + 4), options={"gtol": 1e-7}
    )
    assert peak.centre == pytest.approx(found.x[:-4], abs=1e-3)
    assert peak.level == pytest.approx(found.x[-4:], abs=1e-3)


def test_many_groups_without_labels_share_levels_and_say_the_same():
    rng = np.random.default_rng(7)
    n = 6000
    score, group = rng.beta(4, 1.2, n), rng.integers(0, 1500, n)
    right = rng.random(n) < score
    rows = rng.choice(n, 200, replace=False)
    at = score_grid(score)
    many = curve_of(at, right_answers(at, group, rows, right[rows][None], rng))
    few = curve_of(at, right_answers(at, group % 150, rows, right[rows][None], rng))
    assert np.abs(many.mean - few.mean).mean() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("is_even", [True, False], ids=["at random", "worst groups first"])
def test_the_band_holds_the_pools_curve(is_even):
    """95% bands over simulated pools; labels at random, or nearly all in the worst groups."""
    n_runs = 15 if IS_SHORT else 60
    held, eces = [], []
    for seed in range(n_runs):
        score, group, right, rng = pool(100 + seed)
        order = rng.permutation(score.size)
        rows = order[:100]
        if not is_even:  # as a bandit: by what the labels before say, not by the truth
            n = np.bincount(group[rows], minlength=12)
            share = (np.bincount(group[rows], right[rows], 12) + 1) / (n + 1.25)
            is_worst = share[group[order[100:]]] <= np.sort(share)[2]
            rows = np.concatenate([rows, order[100:][is_worst][:200]])
        else:
            rows = order[:300]
        at = score_grid(score)
        found = curve_of(at, right_answers(at, group, rows, right[rows][None], rng))
        curve, ece = true_curve(at, right)
        inside = (found.low <= curve) & (curve <= found.high)
        held.append(np.average(inside, weights=found.items))
        eces.append(found.ece[1] <= ece <= found.ece[2])
    # runs are independent, scores within a run are not
    slack = 2.6 * np.std(held) / np.sqrt(n_runs)
    assert np.mean(held) >= 0.95 - max(slack, 0.03)
    assert np.mean(eces) >= 0.8
