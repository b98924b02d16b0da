"""Bands that hold at all times: exact on tiny pools, never wrong more often than they say."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from tests.amount import IS_SHORT
from worker.core.confidence_sequences.bands import Seen, bands, joint_differences
from worker.core.confidence_sequences.forecast import Forecast, forecast

N_RUNS = 150 if IS_SHORT else 600


@st.composite
def tiny_pools(draw_one, most_unknown=2):
    """Two groups of one or two cells with up to six items, and a forecast of two guesses."""
    group = np.array(draw_one(st.sampled_from([[0, 1], [0, 0, 1], [0, 1, 1]])))
    columns = []
    for c in range(group.size):
        size = draw_one(st.integers(1 if c in (0, group.size - 1) else 0, 6))
        right = draw_one(st.integers(0, size))
        wrong = draw_one(st.integers(0, size - right))
        unknown = draw_one(st.integers(0, min(most_unknown, size - right - wrong)))
        columns.append((size, right, wrong, unknown))
    size, right, wrong, unknown = (np.array(column) for column in zip(*columns, strict=True))
    shape = st.floats(0.05, 20)
    alpha, beta = (
        np.array([[draw_one(shape) for _ in range(2)] for _ in group]) for _ in ("alpha", "beta")
    )
    weight = draw_one(st.floats(0.01, 0.99))
    expected = Forecast(alpha, beta, np.log([weight, 1 - weight]), special.betaln(alpha, beta))
    return Seen(group, size, right, wrong, unknown, 2), expected


def least_evidence(seen, expected, g):
    """By trying all truths and completions: the least log Q/P of every total of group `g`."""
    cells = np.flatnonzero(seen.group == g)
    found = {}
    for flips in product(*[range(n + 1) for n in seen.unknown[cells]]):
        right = seen.right[cells] + flips
        wrong = seen.wrong[cells] + seen.unknown[cells] - flips
        alpha, beta = expected.alpha[cells], expected.beta[cells]
        each = special.betaln(alpha + right[:, None], beta + wrong[:, None])
        each = (each - special.betaln(alpha, beta)).sum(axis=0)
        log_q = special.logsumexp(expected.log_weight + each)
        size, taken = seen.size[cells], right + wrong
        for truth in product(*[range(a, b + 1) for a, b in zip(right, size - wrong, strict=True)]):
            log_p = 0.0
            for total, n, answers, r, w in zip(size, taken, truth, right, wrong, strict=True):
                log_p += _log_falling(answers, r) + _log_falling(total - answers, w)
                log_p -= _log_falling(total, n)
            total = int(sum(truth))
            found[total] = min(found.get(total, np.inf), log_q - log_p)
    return found


def _log_falling(n, k):
    return float(np.log(np.arange(n - k + 1, n + 1)).sum())


def totals_within(evidence, miss):
    """The totals that are not ruled out; a hair's breadth of evidence counts as none."""
    return [total for total, log_m in evidence.items() if log_m < -np.log(miss) - 1e-9]


@given(tiny_pools(most_unknown=0), st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_the_ends_are_those_of_all_truths_that_are_not_ruled_out(pool, miss_low, miss_high):
    seen, expected = pool
    found = bands(seen, expected, miss_low, miss_high)
    size = np.bincount(seen.group, seen.size)
    for g in range(2):
        evidence = least_evidence(seen, expected, g)
        assert found.low[g] * size[g] == pytest.approx(min(totals_within(evidence, miss_low)))
        assert found.high[g] * size[g] == pytest.approx(max(totals_within(evidence, miss_high)))


@given(tiny_pools(), st.floats(0.01, 0.9))
def test_unknown_outcomes_are_taken_at_their_worst(pool, miss):
    seen, expected = pool
    found = bands(seen, expected, miss, miss)
    size = np.bincount(seen.group, seen.size)
    for g in range(2):
        possible = totals_within(least_evidence(seen, expected, g), miss)
        assert found.low[g] * size[g] <= min(possible) + 1e-9
        assert found.high[g] * size[g] >= max(possible) - 1e-9


@given(tiny_pools(), st.floats(0.02, 0.9))
def test_a_pair_is_bounded_by_what_both_groups_rule_out_together(pool, miss):
    seen, expected = pool
    size = np.bincount(seen.group, seen.size)
    first, second = (least_evidence(seen, expected, g) for g in range(2))
    possible = [
        r / size[0] - s / size[1]
        for r, one in first.items()
        for s, other in second.items()
        if one + other < -np.log(miss) - 1e-9
    ]
    low, high = joint_differences(seen, expected, np.array([[0, 1]]), miss)[0]
    assert low <= min(possible) + 1e-9
    assert high >= max(possible) - 1e-9
    if not seen.unknown.any():
        assert low > min(possible) - 1 / size.min()
        assert high < max(possible) + 1 / size.min()


def seen_of(size, right, wrong, unknown=None, group=None):
    columns = [np.array(column) for column in (size, right, wrong)]
    group = np.arange(len(size)) if group is None else np.array(group)
    unknown = np.zeros_like(columns[0]) if unknown is None else np.array(unknown)
    return Seen(group, *columns, unknown, int(group.max()) + 1)


def test_without_labels_nothing_is_ruled_out_and_with_all_of_them_everything_else_is():
    seen = seen_of([9, 9, 0], [0, 7, 0], [0, 2, 0])
    found = bands(seen, forecast(np.array([2.0, 2.0, np.nan])), 0.05, 0.05)
    assert (found.low[0], found.high[0]) == (0.0, 1.0)
    assert found.low[1] == found.high[1] == pytest.approx(7 / 9)
    assert np.isnan([found.low[2], found.high[2]]).all()


def test_items_that_never_come_back_leave_the_band_open():
    expected = forecast(np.array([2.0]))
    found = bands(seen_of([9], [5], [2], [2]), expected, 0.05, 0.05)
    assert found.low[0] == pytest.approx(5 / 9)
    assert found.high[0] == pytest.approx(7 / 9)


def test_a_band_narrows_faster_where_the_forecast_was_good_and_holds_where_it_was_not():
    logit = special.logit(np.array([0.95, 0.05]))
    found = bands(seen_of([400, 400], [57, 57], [3, 3]), forecast(logit), 0.05, 0.05)
    width = found.high - found.low
    assert width[0] < width[1]
    assert (found.low < 0.95).all()
    assert (found.high > 0.95).all()


def test_only_changed_groups_are_worked_out_again_with_the_same_result():
    rng = np.random.default_rng(0)
    size = rng.integers(1, 20, 40)
    right = rng.integers(0, size + 1)
    wrong = rng.integers(0, size - right + 1)
    expected = forecast(rng.normal(2, 1, 40))
    group = np.repeat(np.arange(10), 4)
    before = seen_of(size, right, wrong, group=group)
    at = int(np.flatnonzero(right + wrong < size)[3])
    more = right + (np.arange(40) == at)
    after = seen_of(size, more, wrong, group=group)
    known = bands(before, expected, 0.01, 0.02)
    fresh, again = (bands(after, expected, 0.01, 0.02, k) for k in (None, known))
    other = bands(after, expected, 0.03, 0.02, known)
    for name in ("low", "high", "rate_low", "rate_high"):
        np.testing.assert_array_equal(getattr(fresh, name), getattr(again, name))
    assert (other.low >= fresh.low).all()
    assert (other.low > fresh.low).any()


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cell 0 has 5 right, 4 wrong and 1 unknown items of 9"):
        seen_of([9], [5], [4], [1])
    with pytest.raises(ValueError, match="pass one count a cell"):
        seen_of([9, 9], [1], [1], [0, 0], [0, 1])


# Runs are groups of one big pool: three cells each, of which the scores mislead about the last.
_SIZES, _RIGHT = (20, 15, 25), (19, 9, 6)
_MISS = 0.2


def _ever_wrong(rng, returns, tell, opinion=None, miss=_MISS):
    """In how many runs a band is ever wrong, under labels chosen to make that happen.

    returns: the chance that a wrong and that a right item ever comes back. tell: -1 to chase the
    low end, 1 the high one. opinion: what one says of the three cells.
    """
    size = np.tile(_SIZES, N_RUNS)
    group = np.repeat(np.arange(N_RUNS), 3)
    cells = zip(_SIZES * N_RUNS, _RIGHT * N_RUNS, strict=True)
    order = [rng.permutation(np.arange(n) < r) for n, r in cells]
    said = None if opinion is None else np.tile(opinion, N_RUNS)[None]
    expected = forecast(np.tile([3.0, 1.0, 2.0], N_RUNS), said)
    right, wrong, unknown = np.zeros((3, size.size), int)
    truth = sum(_RIGHT) / sum(_SIZES)
    was_wrong = np.zeros(N_RUNS, bool)
    known = None
    for _ in range(sum(_SIZES)):
        known = bands(
            Seen(group, size, right.copy(), wrong.copy(), unknown.copy(), N_RUNS),
            expected, miss, miss, known,
        )  # fmt: skip
        was_wrong |= (known.low > truth + 1e-9) | (known.high < truth - 1e-9)
        taken = right + wrong + unknown
        # most often where labels went the wished way so far
        lean = tell * (wrong - right) / (taken + 1) + rng.gumbel(0, 0.3, size.size)
        lean[taken == size] = -np.inf
        for run in range(N_RUNS):
            cell = 3 * run + int(lean[3 * run : 3 * run + 3].argmax())
            is_right = order[cell][taken[cell]]
            if rng.random() >= returns[int(is_right)]:
                unknown[cell] += 1
            elif is_right:
                right[cell] += 1
            else:
                wrong[cell] += 1
    return int(was_wrong.sum())


@pytest.mark.slow
@pytest.mark.parametrize("tell", [-1, 1])
@pytest.mark.parametrize(
    "returns",
    [(1, 1), (0.6, 1), (1, 0.6), (0, 1)],
    ids=["all", "few wrong", "few right", "no wrong"],
)
def test_however_labels_are_chosen_and_go_missing_a_band_is_hardly_ever_wrong(returns, tell):
    n_wrong = _ever_wrong(np.random.default_rng(5), returns, tell)
    assert n_wrong <= stats.binom.ppf(0.999, N_RUNS, _MISS)


@pytest.mark.slow
@pytest.mark.parametrize("tell", [-1, 1])
@pytest.mark.parametrize("miss", [0.05, _MISS])
def test_where_an_opinion_is_inverted_a_band_is_hardly_ever_wrong(tell, miss):
    n_wrong = _ever_wrong(np.random.default_rng(6), (1, 1), tell, [-1.5, 0.0, 1.5], miss)
    assert n_wrong <= stats.binom.ppf(0.999, N_RUNS, miss)


def test_without_opinions_every_guess_of_the_score_counts_alike():
    logit = np.array([2.0, -1.0, np.nan])
    found = forecast(logit)
    guesses = list(product((-1, 0, 1, 2, 3), (0.5, 1), (4, 20)))
    for c, x in enumerate([2.0, -1.0, 0.0]):
        rate = np.array([special.expit(a + b * x) for a, b, _ in guesses])
        strength = np.array([s for *_, s in guesses])
        assert found.alpha[c].tolist() == pytest.approx(strength * rate)
        assert found.beta[c].tolist() == pytest.approx(strength * (1 - rate))
    assert np.exp(found.log_weight) == pytest.approx(np.full(20, 1 / 20))
    for none in (None, np.empty((0, 3))):
        for name in ("alpha", "beta", "log_weight", "log_norm"):
            assert (getattr(forecast(logit, none), name) == getattr(found, name)).all()


@given(st.lists(st.lists(st.floats(-9, 9), min_size=3, max_size=3), min_size=1, max_size=8))
def test_half_of_the_forecast_knows_no_opinion_and_the_other_shares_it_among_them(opinions):
    logit = np.array([2.0, -1.0, np.nan])
    found, alone = forecast(logit, np.array(opinions)), forecast(logit)
    assert special.logsumexp(found.log_weight) == pytest.approx(0, abs=1e-12)
    assert np.exp(found.log_weight[:20]) == pytest.approx(np.exp(alone.log_weight) / 2)
    assert np.ptp(found.log_weight[20:]) == 0
    for name in ("alpha", "beta", "log_norm"):
        assert (getattr(found, name)[:, :20] == getattr(alone, name)).all()


def test_an_opinion_that_is_right_narrows_a_band_and_an_inverted_one_costs_half_of_the_miss():
    seen, logit = seen_of([400, 400], [59, 2], [1, 58]), np.zeros(2)
    right, inverted = np.array([[2.0, -2.0]]), np.array([[-2.0, 2.0]])
    alone, told, misled = (
        bands(seen, forecast(logit, said), 0.05, 0.05) for said in (None, right, inverted)
    )
    assert (told.high - told.low).sum() < 0.9 * (alone.high - alone.low).sum()
    least = bands(seen, forecast(logit), 0.025, 0.025)
    assert (misled.low >= least.low).all()
    assert (misled.high <= least.high).all()
