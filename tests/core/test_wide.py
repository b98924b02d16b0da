"""Pools of thousands of groups: what is left out or done together changes no number."""

import numpy as np
import pytest

from worker.core.posterior import distributions
from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.distributions import distribution_of_group, distributions_of_groups
from worker.core.posterior.hypothetical import labelled, with_counts
from worker.core.posterior.metrics import Metric
from worker.core.posterior.summary import marginal, marginals
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters, Scores, unfitted
from worker.core.questions.question import Question, StopRule
from worker.core.questions.ranking import ranking, set_confidence
from worker.core.stopping.refuting import is_far_from_holding
from worker.core.stopping.rule import decide

N_GROUPS, N_CELLS = 1_300, 3


def wide(seed: int, n_groups: int = N_GROUPS, metric: str = "accuracy", labels: float = 0.1):
    """Groups of up to a dozen items in three cells that share components; some have none."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), N_CELLS)
    size = rng.integers(0, 5, group.size)
    right = rng.binomial(size, 0.8 * labels)
    wrong = rng.binomial(size - right, 0.2 * labels)
    scores = Scores(
        rng.normal(1.5, 1, group.size), np.repeat(rng.normal(0, 0.5, n_groups), N_CELLS)
    )
    alpha, beta, mixture = prior_of(Hyperparameters(), scores, unfitted().covariance)
    kind = Metric(metric, score=rng.uniform(0.5, 1, group.size)) if metric == "bias" else Metric()
    return Belief(group, size, right, wrong, alpha, beta, n_groups, mixture=mixture, metric=kind)


def emptied(b: Belief, g: int) -> Belief:
    """The belief once all items of a group were found wrong."""
    own = b.group == g
    counts = np.stack([np.where(own, 0, b.right), np.where(own, b.size, b.wrong)], axis=1)
    return with_counts(b, counts)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(distributions, "_distributions", distributions.BoundedCache(1 << 23))


@pytest.mark.parametrize("metric", ["accuracy", "bias"])
def test_distributions_worked_out_together_are_those_worked_out_alone(metric, monkeypatch):
    b = wide(1, metric=metric)
    filled = np.flatnonzero(group_size(b)).tolist()
    assert len(filled) > distributions._MANY
    together = distributions_of_groups(b, filled)
    monkeypatch.setattr(distributions, "_distributions", distributions.BoundedCache(1 << 23))

    for g, distribution in zip(filled, together, strict=True):
        alone = distribution_of_group(b, g)
        assert distribution.count.pmf == pytest.approx(alone.count.pmf, abs=1e-15)
        assert distribution.count.at_least == pytest.approx(alone.count.at_least, abs=1e-15)
        assert distribution.count.low == alone.count.low
        assert distribution.count.high == alone.count.high
        assert (distribution.right, distribution.size) == (alone.right, alone.size)
        assert distribution.offset == pytest.approx(alone.offset, abs=1e-15)


def test_distributions_are_carried_over_to_a_belief_that_differs_in_one_group():
    b = wide(2, n_groups=40)
    before = marginals(b)
    cell = int(np.flatnonzero(b.size - b.right - b.wrong)[0])
    after = labelled(b, cell, 1)
    found = marginals(after)
    for g in range(b.n_groups):
        if g != b.group[cell]:
            assert found[g] is before[g]
    new = marginal(after, int(b.group[cell]))
    assert found[int(b.group[cell])].count.pmf == pytest.approx(new.count.pmf)


def test_an_unchanged_tally_is_the_same_belief():
    b = wide(3, n_groups=10)
    assert with_counts(b, np.stack([b.right, b.wrong], axis=1)) is b


@pytest.mark.parametrize("which", ["lowest", "highest"])
@pytest.mark.parametrize("top", [1, 3])
def test_rivals_that_cannot_come_near_change_nothing(which, top):
    """Against the product over all rivals, with no one left out."""
    b = wide(4, n_groups=60, labels=0.7)
    chosen = ranking(b, which)[:top].tolist()
    sign = 1 if which == "lowest" else -1
    values = {g: marginal(b, g) for g in np.flatnonzero(group_size(b)).tolist()}
    grid = np.unique(np.concatenate([sign * values[g].atoms()[0] for g in chosen]).round(12))
    at_most, reach = np.ones(grid.size), np.ones(grid.size)
    for g, distribution in values.items():
        x, p = distribution.atoms()
        if g in chosen:
            at_most *= [p[sign * x <= value + 1e-9].sum() for value in grid]
        else:
            reach *= [p[sign * x >= value - 1e-9].sum() for value in grid]

    expected = float(np.diff(at_most, prepend=0.0) @ reach)
    assert set_confidence(b, chosen, which) == pytest.approx(expected, abs=1e-12)


def test_some_rivals_alone_bound_the_confidence_from_above():
    b = wide(5, n_groups=30, labels=0.5)
    order = ranking(b)
    chosen, others = order[:1].tolist(), order[1:].tolist()
    bounds = [set_confidence(b, chosen, rivals=others[:n]) for n in range(len(others) + 1)]
    assert bounds[0] == 1.0
    assert (np.diff(bounds) <= 1e-12).all()
    assert bounds[-1] == pytest.approx(set_confidence(b, chosen), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_rule_that_surely_does_not_hold_among_many_groups_does_not_hold(seed):
    """With a group that is known to be the worst it holds; without, it is refuted cheaply."""
    question, rule = Question("identify"), StopRule("mrr", 0.99, 0.95)
    b = wide(10 + seed, labels=0.05 * seed)
    spent, left = int((b.right + b.wrong).sum()), int((b.size - b.right - b.wrong).sum())
    exact = decide(b, question, rule, spent, left)
    bound = decide(b, question, rule, spent, left, bound_suffices=True)
    if is_far_from_holding(b, question, rule):
        assert exact.confidence < rule.confidence
    assert (bound.reason, bound.chosen) == (exact.reason, exact.chosen)

    known = emptied(b, int(np.flatnonzero(group_size(b) == 2)[0]))
    assert not is_far_from_holding(known, question, rule)
    assert decide(known, question, rule, spent, left, bound_suffices=True).reason == "answered"


def test_refuting_takes_the_distributions_of_few_groups():
    b = wide(20, labels=0.3)
    question, rule = Question("identify"), StopRule("mrr", 0.99, 0.95)
    assert is_far_from_holding(b, question, rule)
    assert len(distributions._distributions._kept) < N_GROUPS / 4
