"""From a few votes on an item to what people say of it."""

import numpy as np
import pytest

from tests.core.soft_labels.people import crisp, l2, subjective
from worker.core.soft_labels.mixtures import Entries, average
from worker.core.soft_labels.opinions import measured

PEOPLE = {"subjective": subjective, "crisp": crisp}


@pytest.mark.parametrize("kind", PEOPLE)
def test_few_votes_do_not_make_predictions_look_worse_than_they_are(kind):
    human, predicted = PEOPLE[kind](600, seed=3)
    rng = np.random.default_rng(4)
    counts = rng.multinomial(5, human)
    truth = l2(human, predicted[:, None, :]).mean()
    by_shares = l2(counts / 5, predicted[:, None, :]).mean()

    found = measured(counts, predicted, l2, rng).mean.mean()

    assert abs(found - truth) < 0.4 * (by_shares - truth)
    assert abs(found - truth) < 0.15 * truth


def test_many_votes_overrule_whatever_was_believed_before():
    human, predicted = subjective(50, seed=1)
    counts = np.rint(human * 100_000).astype(np.int64)

    found = measured(counts, predicted, l2, np.random.default_rng(0))

    assert found.mean == pytest.approx(l2(human, predicted[:, None, :])[:, 0], abs=0.004)
    assert np.sqrt(found.variance).max() < 0.01


def test_more_votes_an_item_leave_less_doubt():
    human, predicted = subjective(300, seed=2)
    rng = np.random.default_rng(0)
    doubt = [
        measured(rng.multinomial(n, human), predicted, l2, np.random.default_rng(0)).variance.mean()
        for n in (3, 10, 40)
    ]
    assert doubt[0] > doubt[1] > doubt[2]


def test_the_same_votes_give_the_same_numbers():
    human, predicted = crisp(80)
    counts = np.random.default_rng(0).multinomial(4, human)
    first, again = (measured(counts, predicted, l2, np.random.default_rng(9)) for _ in range(2))
    for name in ("mean", "variance", "shifted", "drawn"):
        assert (getattr(first, name) == getattr(again, name)).all()


def test_equally_likely_measures_of_items_have_the_mean_that_is_told():
    human, predicted = subjective(800, seed=5)
    counts = np.random.default_rng(0).multinomial(5, human)
    found = measured(counts, predicted, l2, np.random.default_rng(1))
    assert found.drawn.mean() == pytest.approx(found.mean.mean(), abs=0.005)


def test_what_is_expected_of_an_item_follows_its_prediction_only_as_far_as_people_do():
    _, predicted = subjective(500, seed=6)
    even = np.full(predicted.shape[1], 1 / predicted.shape[1])
    rng, ones, parts = np.random.default_rng(0), np.ones((1, 500)), np.full((1, 5), 0.2)
    nobody_follows = rng.multinomial(10, np.tile(even, (500, 1)))
    all_follow = rng.multinomial(10, predicted)

    ignored, _ = average(Entries.of(nobody_follows, predicted), ones, parts, 200, 0.02)
    followed, _ = average(Entries.of(all_follow, predicted), ones, parts, 200, 0.02)

    assert np.abs(ignored[0] - even).mean() < 0.05
    assert np.abs(followed[0] - predicted).mean() < 0.05


def test_without_any_votes_there_is_nothing_to_say():
    found = measured(np.zeros((0, 3), np.int64), np.zeros((0, 3)), l2, np.random.default_rng(0))
    assert (found.mean.shape, found.shifted.shape[1]) == ((0,), 0)
