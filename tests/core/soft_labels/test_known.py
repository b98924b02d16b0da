"""From votes on some items to the mean measure over all of them, and where to ask next."""

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from tests.core.soft_labels.people import Pool, crisp, l2, narrowest, replay, subjective
from worker.core.posterior import summary
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import whole
from worker.core.posterior.metrics import ACCURACY, Metric
from worker.core.questions.rewards import squared_error
from worker.core.soft_labels.known import DistanceMeasure, VoteCounts

N_REPLAYS = 12 if IS_SHORT else 40
PEOPLE = {"subjective": subjective, "crisp": crisp}


@pytest.fixture(scope="module")
def pool():
    return Pool(*crisp(1200, seed=7))


def some(pool, n, votes=5, seed=0):
    rng = np.random.default_rng(seed)
    return pool.vote_counts(rng.choice(pool.size.sum(), n, replace=False), votes, rng)


def test_before_the_first_vote_anything_is_possible_and_nothing_fails(pool):
    nothing = VoteCounts(np.zeros((0, 4), np.int64), np.zeros((0, 4)), np.zeros(0, np.int64))
    draws = pool.overall(pool.known(nothing))
    assert np.isfinite(draws).all()
    assert ((draws >= 0) & (draws <= 1)).all()
    low, high = narrowest(draws, 0.95)
    assert high - low > 0.2


def test_more_items_make_it_more_certain(pool):
    widths = [np.ptp(narrowest(pool.overall(pool.known(some(pool, n))), 0.95)) for n in (30, 600)]
    assert widths[1] < widths[0] / 2


def test_with_many_votes_on_every_item_the_mean_is_all_but_known(pool):
    counts = np.rint(pool.human * 10_000).astype(np.int64)
    draws = pool.overall(pool.known(VoteCounts(counts, pool.predicted, pool.cell)))
    assert draws.mean() == pytest.approx(pool.truth().mean(), abs=0.003)
    assert np.ptp(narrowest(draws, 0.95)) < 0.005


def test_the_same_ballots_give_the_same_draws(pool):
    first, again = (pool.known(some(pool, 60)).values for _ in range(2))
    assert (first == again).all()


def test_a_measure_of_another_unit_is_the_same_belief_in_that_unit(pool):
    bits = DistanceMeasure(lambda human, predicted: 8 * l2(human, predicted), 8.0)
    vote_counts = some(pool, 80)
    assert pool.known(vote_counts, bits).values == pytest.approx(8 * pool.known(vote_counts).values)


def test_a_group_without_items_has_no_value(pool):
    told = pool.known(some(pool, 40))
    wider = Pool(pool.human, pool.predicted)
    wider.n_groups += 1
    assert np.isnan(wider.known(some(wider, 40)).values[:, -1]).all()
    assert not np.isnan(told.values).any()


def test_an_item_that_waits_for_votes_makes_the_next_one_in_its_cell_worth_less(pool):
    told = pool.known(some(pool, 100))
    before = told.drops()
    cell = int(before.argmax())
    pending = np.zeros_like(pool.size)
    pending[cell] = 4
    assert told.drops(pending)[cell] < before[cell]


def test_a_cell_without_items_left_is_worth_nothing(pool):
    told = pool.known(some(pool, 100))
    drops = told.drops(pool.size - told.found.n)
    assert (drops == 0).all()
    assert (told.drops() >= 0).all()


def test_votes_go_where_items_differ(pool):
    """Where the predictor is unsure distances differ, so votes there narrow the interval most."""
    drops = pool.known(some(pool, 150)).drops() / pool.size**2
    truth = pool.truth()
    spread = np.array([truth[pool.cell == c].std() for c in range(pool.size.size)])
    assert stats.spearmanr(drops, spread).statistic > 0.4


@pytest.mark.slow
def test_choosing_by_the_drops_ends_with_a_narrower_interval_than_chance():
    pool = Pool(*crisp(1500, seed=11))
    design, widths = pool.design(), []
    for by_drops in (True, False):
        of = [replay(pool, design, 150, 20, seed, by_drops=by_drops) for seed in range(4)]
        widths.append(np.mean([np.ptp(narrowest(draws, 0.95)) for draws in of]))
    assert widths[0] < widths[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEOPLE)
@pytest.mark.parametrize("votes", [5, 20])
def test_the_narrowest_interval_holds_the_truth_as_often_as_it_says(kind, votes):
    """Truth: the mean over all items, with the frequencies that the votes are drawn from."""
    pool = Pool(*PEOPLE[kind](1500, seed=11))
    design, truth = pool.design(), pool.truth().mean()
    hits = {0.8: 0, 0.95: 0}
    for seed in range(N_REPLAYS):
        draws = replay(pool, design, 120, votes, seed, batch=60)
        for level in hits:
            low, high = narrowest(draws, level)
            hits[level] += low <= truth <= high
    for level, n in hits.items():
        # one in a thousand such tests would fail by chance if the coverage were the level's
        assert n >= stats.binom.ppf(0.001, N_REPLAYS, level), (level, n)


def test_a_belief_about_a_measure_needs_votes_and_no_other_belief_takes_them(pool):
    told = pool.known(some(pool, 40))
    none, one = np.zeros(pool.size.size, np.int64), np.ones(pool.size.size)
    cells = pool.group, pool.size, none, none, one, one, pool.n_groups
    for metric, judged in ((Metric("measure", pooled=True), None), (ACCURACY, told)):
        with pytest.raises(ValueError, match="measure"):
            Belief(*cells, metric=metric, soft_labels=judged)


def test_everything_that_is_asked_of_a_belief_comes_from_the_same_draws(pool):
    told = pool.known(some(pool, 60))
    none, one = np.zeros(pool.size.size, np.int64), np.ones(pool.size.size)
    metric = Metric("measure", pooled=True, level=0.8)
    b = Belief(
        pool.group, pool.size, none, none, one, one, pool.n_groups, metric=metric, soft_labels=told
    )
    draws = pool.overall(told)
    mean, low, high = whole(b)
    assert mean == pytest.approx(draws.mean())
    assert (low, high) == pytest.approx(narrowest(draws, 0.8))
    assert summary.mean(b) == pytest.approx(told.values.mean(axis=0))
    assert summary.variance(b) == pytest.approx(told.values.var(axis=0))
    assert squared_error(b) == pytest.approx(draws.var())
    assert (summary.draws(b) == told.values).all()
