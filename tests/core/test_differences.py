"""What is believed of the difference of two models, against integrals over all that is shared."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tests.core.enumeration import compositions, dirichlet_multinomial
from worker.core.posterior.belief import Belief
from worker.core.posterior.differences import CLOSENESS
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.pooling import pooled
from worker.core.posterior.summary import marginal, mean, variance

PRIOR = 1.0  # pseudo-counts of a group, as a comparison of models has by default


def belief(sizes, counts, group=None, agreed=0):
    """Strata of groups; a last stratum of every group holds items on which both models agree."""
    group = np.zeros(len(sizes), np.int64) if group is None else np.array(group)
    n_groups = int(group.max()) + 1
    order = np.argsort([*group, *range(n_groups)], kind="stable")
    sizes = np.array([*sizes, *[agreed] * n_groups])[order]
    counts = np.array([*counts, *[(0, 0, agreed)] * n_groups])[order]
    unit = np.array([0] * len(group) + [1] * n_groups)[order]
    group = np.array([*group, *range(n_groups)])[order]
    closeness = np.tile(CLOSENESS, (group.size, 1))
    return Belief(
        group, sizes, counts[:, 0], counts[:, 1:].sum(axis=1), closeness / 3, closeness * 2 / 3,
        n_groups, mixture=np.full(3, 1 / 3),
        metric=Metric("difference", unit=unit, common=np.full((n_groups, 3), PRIOR / 3)),
        errors=Errors(counts[:, 1:], np.full((group.size, 2), 1 / 3)),
    )  # fmt: skip


# Shares m of the three outcomes, as a stick that is broken twice, on even steps of the logits.
_LOGIT = np.linspace(-36, 36, 121)
_U, _V = np.meshgrid(special.expit(_LOGIT), special.expit(_LOGIT), indexing="ij")
_REST, _OTHER = np.meshgrid(special.expit(-_LOGIT), special.expit(-_LOGIT), indexing="ij")
SHARES = np.stack([_U * _V, _U * _OTHER, _REST]).reshape(3, -1)
VOLUME = (_U * _U * _REST * _V * _OTHER).ravel()


def _rising(x, n):
    return special.gammaln(x + n) - special.gammaln(x)


def given_shares(sizes, counts):
    """For each closeness: that of every stratum, and weights of all shares m by Bayes' rule."""
    sizes, counts = np.array(sizes), np.array(counts)
    share = sizes / sizes.sum()
    first = 1 / (PRIOR + 1)  # of the group's variance, however it is cut
    for closeness in CLOSENESS:
        s = np.minimum(closeness / np.maximum(1 - share, 1e-9), 1e6)
        of_strata = (share**2 / (s + 1)).sum()
        a = (1 - first) / (first - of_strata) / 3
        logs = special.gammaln(3 * a) - 3 * special.gammaln(a) + (a - 1) * np.log(SHARES).sum(0)
        for of, row in zip(s, counts, strict=True):
            logs += sum(_rising(of * m, n) for m, n in zip(SHARES, row, strict=True))
            logs -= _rising(of, row.sum())
        yield s, np.exp(logs) * VOLUME


def brute_force(sizes, counts):
    """Values of the group, ascending, and their probabilities."""
    counts, left = np.array(counts), np.array(sizes) - np.sum(counts, axis=1)
    n = int(left.sum())
    whole = np.zeros(2 * n + 1)
    for s, weight in given_shares(sizes, counts):
        at = np.flatnonzero(weight > weight.max() * 1e-7)
        distribution = np.ones((at.size, 1))
        for of, row, to_come in zip(s, counts, left, strict=True):
            a = of * SHARES[:, at] + row[:, None]
            own = np.zeros((at.size, 2 * to_come + 1))
            for kinds in compositions(int(to_come), 3):
                ways = special.gammaln(to_come + 1) - special.gammaln(np.array(kinds) + 1).sum()
                logs = sum(_rising(x, k) for x, k in zip(a, kinds, strict=True))
                mass = np.exp(ways + logs - _rising(a.sum(axis=0), to_come))
                own[:, kinds[0] - kinds[1] + to_come] += mass
            distribution = np.stack(
                [np.convolve(one, two) for one, two in zip(distribution, own, strict=True)]
            )
        whole += weight[at] @ distribution
    known = counts[:, 0].sum() - counts[:, 1].sum()
    return (known - n + np.arange(2 * n + 1)) / np.sum(sizes), whole / whole.sum()


POOLS = [
    ([9, 7], [(3, 0, 1), (1, 1, 0)]),
    ([9, 7, 6], [(0, 0, 0), (2, 0, 0), (1, 0, 1)]),
    ([5, 6, 7, 8], [(1, 0, 0), (0, 1, 0), (2, 0, 1), (0, 0, 0)]),
    ([8, 8, 8], [(5, 0, 1), (0, 5, 1), (1, 1, 1)]),
    ([12, 3], [(0, 0, 0), (3, 0, 0)]),
    ([8, 7], [(0, 0, 5), (0, 1, 3)]),
]


@pytest.mark.parametrize(("sizes", "counts"), POOLS)
def test_with_several_strata_the_distribution_is_near_the_integral_over_what_they_share(
    sizes, counts
):
    b, (x, exact) = belief(sizes, counts), brute_force(sizes, counts)
    y, found = marginal(b, 0).atoms()
    assert y == pytest.approx(x)
    assert np.abs(np.cumsum(found) - np.cumsum(exact)).max() < 0.03
    expected = x @ exact
    sd = np.sqrt((x - expected) ** 2 @ exact)
    assert mean(b)[0] == pytest.approx(expected, abs=0.04 * sd)
    assert np.sqrt(variance(b)[0]) == pytest.approx(sd, rel=0.05)


@given(
    st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(1, 12), st.integers(0, 9)
)
def test_with_one_stratum_the_distribution_is_a_dirichlet_multinomial(
    first, second, neither, left, agreed
):
    counts = np.array([first, second, neither])
    b = belief([counts.sum() + left], [counts], agreed=agreed)
    x, found = marginal(b, 0).atoms()
    exact = np.zeros(2 * left + 1)
    for kinds in compositions(left, 3):
        exact[kinds[0] - kinds[1] + left] += dirichlet_multinomial(kinds, counts + PRIOR / 3)
    assert found == pytest.approx(exact, abs=1e-5)
    n = counts.sum() + left + agreed
    assert x == pytest.approx((first - second - left + np.arange(2 * left + 1)) / n)


@pytest.mark.parametrize("counts", [(4, 0, 0), (2, 1, 1), (9, 1, 2), (24, 2, 4), (75, 5, 20)])
def test_of_many_items_the_distribution_is_smooth_and_its_tails_are_those_of_the_exact_one(
    counts, monkeypatch
):
    size = sum(counts) + 120
    x, found = marginal(belief([size], [counts]), 0).atoms()
    monkeypatch.setattr("worker.core.posterior.differences._LARGEST_EXACT", 1000)
    other = marginal(belief([size], [counts], agreed=1), 0).atoms()[1]  # agreed: not the one kept
    upto, exact = np.cumsum(found), np.cumsum(other)
    tails = (exact < 0.1) | (exact > 0.9)
    assert np.abs(upto - exact).max() < 0.03
    assert np.abs(upto - exact)[tails].max() < 0.02
    assert x @ found == pytest.approx(x @ other, abs=5e-3)


@pytest.mark.parametrize(("sizes", "counts"), POOLS[:4])
def test_the_drop_is_what_a_label_is_expected_to_take_from_the_variance(sizes, counts):
    b = belief(sizes, counts)
    x, exact = brute_force(sizes, counts)
    before = (x - x @ exact) ** 2 @ exact
    for cell in range(len(sizes)):
        after, chance = 0.0, []
        for outcome in range(3):
            more = np.array(counts)
            more[cell, outcome] += 1
            total = sum(weight.sum() for _, weight in given_shares(sizes, more))
            chance.append(total)
            y, distribution = brute_force(sizes, more)
            after += total * ((y - y @ distribution) ** 2 @ distribution)
        drop = before - after / sum(chance)
        assert moments(b).rate[cell] == pytest.approx(chance[0] / sum(chance), abs=0.02)
        assert moments(b).drop[cell] == pytest.approx(drop, rel=0.12)


@pytest.mark.parametrize("half", [0.25, 0.5, 0.75])
def test_before_any_label_all_differences_are_alike_however_the_pool_is_cut(half):
    """So P(equivalent) is the rope's share of what could differ, half of it for half of that."""
    found = []
    for n_strata, n_groups in itertools.product((1, 4, 20), (1, 5)):
        sizes = np.full(n_strata * n_groups, 2000 // n_strata)
        b = belief(sizes, np.zeros((sizes.size, 3), int), np.repeat(np.arange(n_groups), n_strata))
        x, p = marginal(b, n_groups - 1).atoms()
        assert p == pytest.approx(p[::-1])
        found.append(p[np.abs(x) <= half].sum())
    assert found == pytest.approx([half] * 6, abs=1e-3)


def test_a_rate_that_all_strata_share_is_learnt_from_all_of_them():
    """As two models on which these claims once were wrong: 10% of 5,000 items, a rope of .05."""
    b = belief([63] * 8, [(0, 0, 0)] * 8, agreed=4496)
    for n, outcome in enumerate([0, 0, 0, 1, 0, 2, 0, 0, 1, 0, 0, 0]):  # 9, 2 and 1
        b = labelled(b, n % 8, outcome)
    x, p = marginal(b, 0).atoms()
    assert 0.2 < p[np.abs(x) <= 0.05].sum() < 0.6


def test_when_all_is_labelled_nothing_is_left_to_believe():
    b = belief([4, 3], [(2, 1, 1), (3, 0, 0)], agreed=3)
    assert marginal(b, 0).atoms()[0].tolist() == [0.4]
    assert moments(b).drop.tolist() == [0, 0, 0]
    assert variance(b).tolist() == pytest.approx([0], abs=1e-12)


@pytest.mark.parametrize(
    "others", [[(9, 1, 2), (8, 0, 1)], [(6, 0, 0), (0, 6, 0)], [(1, 0, 0)], [(3, 1, 8)] * 3]
)
def test_what_the_other_groups_say_of_one_is_near_the_integral_over_what_they_share(others):
    group = np.arange(len(others) + 1)
    b = belief([40] * group.size, [*others, (0, 3, 1)], group)
    counts = pooled(b, np.zeros(group.size, np.int64))[-1]
    d, spread, total = 0.0, 0.0, 0.0
    at_first = 1 / (PRIOR + 1)
    for closeness in CLOSENESS:
        of_groups = 1 / (closeness + 1)
        a = (1 - at_first) / (at_first - of_groups) / 3
        logs = special.gammaln(3 * a) - 3 * special.gammaln(a) + (a - 1) * np.log(SHARES).sum(0)
        for row in others:
            logs += sum(_rising(closeness * m, n) for m, n in zip(SHARES, row, strict=True))
            logs -= _rising(closeness, sum(row))
        weight = np.exp(logs) * VOLUME
        gap = SHARES[0] - SHARES[1]
        second = gap**2 + (SHARES[0] + SHARES[1] - gap**2) / (closeness + 1)
        d, spread, total = d + weight @ gap, spread + weight @ second, total + weight.sum()
    d, spread = d / total, spread / total
    m = counts / counts.sum()
    assert m[0] - m[1] == pytest.approx(d, abs=0.03)
    one = (m[0] + m[1] - (m[0] - m[1]) ** 2) / (counts.sum() + 1)
    assert np.sqrt(one) == pytest.approx(np.sqrt(spread - d**2), rel=0.08)


def test_groups_of_other_pairs_and_those_without_labels_say_nothing():
    b = belief([40] * 4, [(9, 1, 2), (0, 0, 0), (0, 9, 0), (0, 0, 0)], np.arange(4))
    counts = pooled(b, np.array([0, 0, 1, 2]))
    assert counts[0] == pytest.approx(np.full(3, PRIOR / 3))
    assert counts[1, 0] > 2 * counts[1, 1]
    assert counts[3] == pytest.approx(np.full(3, PRIOR / 3))
