"""Recall, precision and F1 of all classes: their draws, and the line by which items are chosen."""

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.class_ratios import of_classes
from worker.core.posterior.drawing import draw
from worker.core.posterior.metrics import RATIOS, Errors, Metric
from worker.core.posterior.moments import moments

N_CLASSES = 4
every_ratio = pytest.mark.parametrize("kind", RATIOS)
of_all_or_each = pytest.mark.parametrize("classes", ["all", "each"])


def made(kind, classes, population="finite"):
    """Some labels in every cell: one of each predicted class in each group, or group by group."""
    rng = np.random.default_rng(5)
    n_groups = 2 if classes == "all" else N_CLASSES
    group, unit = np.divmod(np.arange(2 * N_CLASSES), N_CLASSES if classes == "all" else 2)
    unit = unit if classes == "all" else group
    size, done = rng.integers(15, 40, group.size), rng.integers(3, 12, group.size)
    right = rng.binomial(done, 0.7)
    prior = rng.gamma(2.0, 1.0, (group.size, N_CLASSES)) + 0.1
    prior[np.arange(group.size), unit] = 0.0
    shares = prior / prior.sum(axis=1, keepdims=True)
    counts = rng.multinomial(done - right, shares)
    alpha = np.tile([4.0, 7.0, 9.0], (group.size, 1))
    return Belief(
        group, size, right, done - right, alpha, 10 - alpha, n_groups, population,
        np.array([0.3, 0.4, 0.3]), Metric(kind, unit=unit, classes=classes),
        Errors(counts, prior, 2.0 + counts.sum(axis=0)),
    )  # fmt: skip


def completed_one_by_one(b, rng):
    """(G,) values of one completion whose every item is drawn by itself, by scikit-learn."""
    tilt = rng.gamma(b.errors.common) / b.errors.common
    weight = np.array(b.mixture)[None] * np.ones((b.n_groups, 1))
    for c in range(b.group.size):
        a, d = b.alpha[c], b.beta[c]
        for n in range(int(b.right[c])):
            weight[b.group[c]] *= (a + n) / (a + d + n)
        for n in range(int(b.wrong[c])):
            weight[b.group[c]] *= (d + n) / (a + d + b.right[c] + n)
    weight /= weight.sum(axis=1, keepdims=True)
    component = [rng.choice(b.mixture.size, p=w) for w in weight]
    truth, said = [[[] for _ in range(b.n_groups)] for _ in range(2)]
    for c in range(b.group.size):
        g, k = int(b.group[c]), int(b.metric.unit[c])
        u = component[g]
        rate = rng.beta(b.alpha[c, u] + b.right[c], b.beta[c, u] + b.wrong[c])
        prior = b.errors.prior[c] * tilt
        prior *= b.errors.prior[c].sum() / prior.sum()
        kinds = rng.dirichlet(b.errors.counts[c] + prior + 1e-12)
        right = int(b.right[c]) + rng.binomial(unlabelled(b)[c], rate)
        left = int(b.size[c]) - right - int(b.wrong[c])
        errors = b.errors.counts[c] + rng.multinomial(left, kinds)
        truth[g] += [k] * right + np.repeat(np.arange(N_CLASSES), errors).tolist()
        said[g] += [k] * int(b.size[c])
    place = {"precision": 0, "recall": 1, "f1": 2}[b.metric.kind]
    if b.metric.classes == "each":
        truly, predicted = (np.concatenate(of) for of in (truth, said))
        return precision_recall_fscore_support(truly, predicted, zero_division=0)[place]
    return [
        precision_recall_fscore_support(t, s, average="macro", zero_division=0)[place]
        for t, s in zip(truth, said, strict=True)
    ]


@every_ratio
@of_all_or_each
def test_draws_have_mean_and_spread_of_items_completed_one_by_one_and_scored_by_scikit_learn(
    kind, classes
):
    b, rng = made(kind, classes), np.random.default_rng(1)
    expected = np.array([completed_one_by_one(b, rng) for _ in range(250)])
    drawn = draw(b, np.random.default_rng(2), 8000)
    far = 4 * expected.std(axis=0) / np.sqrt(len(expected))
    assert (np.abs(drawn.mean(axis=0) - expected.mean(axis=0)) < far).all()
    assert drawn.std(axis=0) == pytest.approx(expected.std(axis=0), rel=0.15)


@every_ratio
@of_all_or_each
@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_the_line_to_choose_by_is_near_the_draws(kind, classes, population):
    b = made(kind, classes, population)
    drawn, known = draw(b, np.random.default_rng(2), 8000), moments(b)
    assert known.mean == pytest.approx(drawn.mean(axis=0), abs=0.03)
    assert np.sqrt(known.variance) == pytest.approx(drawn.std(axis=0), rel=0.3)
    assert (known.drop[unlabelled(b) > 0] > 0).all()


def test_a_label_where_a_class_is_missed_tells_of_that_class():
    b = made("recall", "each")
    of_other = moments(b).of_classes[b.metric.unit != 0, 0]
    shares = (b.errors.counts + b.errors.prior)[b.metric.unit != 0, 0]
    assert (of_other > 0).all()
    assert np.corrcoef(of_other, shares)[0, 1] > 0.5


def test_a_class_that_is_in_no_item_has_no_value_and_one_without_a_hit_has_0():
    hits, predicted = np.array([2.0, 0.0, 0.0, 0.0]), np.array([4.0, 3.0, 0.0, 0.0])
    missed = np.array([2.0, 0.0, 1.0, 0.0])
    assert of_classes(0.5, hits, predicted, missed)[:3].tolist() == [0.5, 0.0, 0.0]
    assert np.isnan(of_classes(0.5, hits, predicted, missed)[3])
