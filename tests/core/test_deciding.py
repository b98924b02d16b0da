"""What a label tells of the answer: the closed form against the exact mutual information."""

import numpy as np
import pytest

from worker.core.posterior.belief import Belief, by_group, unlabelled
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.moments import moments
from worker.core.questions.comparison import region
from worker.core.questions.question import Question
from worker.core.strategies.deciding import telling


def belief(size, right, wrong):
    columns = [np.arange(len(size)), *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    return Belief(*columns, ones, ones, len(size))


def entropy(shares):
    kept = np.array(shares)[np.array(shares) > 0]
    return float(-(kept * np.log(kept)).sum())


def information(b, cell, shares_of):
    """Exact mutual information of the next label in a cell and an event, in nats."""
    rate = moments(b).rate[cell]
    after = [entropy(shares_of(labelled(b, cell, outcome))) for outcome in (0, 1)]
    return entropy(shares_of(b)) - rate * after[0] - (1 - rate) * after[1]


def worth(b, question, seed=0):
    told = telling(b, moments(b), question, np.random.default_rng(seed))
    return moments(b).drop * told[b.group] / 2


# some hundred items and labels: where normals are near enough to the exact distributions
OPEN = belief([900, 400, 700, 500, 900], [60, 48, 130, 66, 300], [90, 60, 140, 64, 20])


@pytest.mark.parametrize("rival", [1, 2, 3])
def test_identifying_a_label_is_worth_its_information_about_its_groups_side(rival):
    exact = information(OPEN, rival, lambda b: region(b, rival, 0, 0.0)[::2])
    drawn = [worth(OPEN, Question("identify"), seed)[rival] for seed in range(40)]
    assert np.mean(drawn) == pytest.approx(exact, rel=0.25)


@pytest.mark.parametrize("chance", [0.003, 0.02, 0.2])
def test_a_group_that_may_lie_far_out_is_worth_what_its_labels_tell_of_that(chance):
    """All but `chance` of what is believed of it lies where nothing is open any more."""
    low, usual = np.array([[20.0, 80.0]]), np.array([[35.0, 15.0]])
    by_component = [
        np.concatenate([np.tile(usual[:, k], (3, 1)), np.tile(low[:, k], (3, 1))], axis=1)
        for k in (0, 1)
    ]
    b = Belief(
        np.arange(3), np.array([900, 300, 300]), np.array([160, 0, 0]), np.array([240, 0, 0]),
        *by_component, 3, mixture=np.array([1 - chance, chance]),
    )  # fmt: skip
    exact = information(b, 1, lambda b: region(b, 1, 0, 0.0)[::2])
    told = np.mean([worth(b, Question("identify"), seed)[1] for seed in range(40)])
    assert told == pytest.approx(exact, rel=0.25)


@pytest.mark.parametrize("epsilon", [0.02, 0.05, 0.2])
def test_comparing_a_label_is_worth_its_information_about_the_region(epsilon):
    pair = ((0, 1),)
    question = Question("compare", pairs=pair, epsilon=epsilon)
    for cell in pair[0]:
        exact = information(OPEN, cell, lambda b: region(b, 0, 1, epsilon))
        assert worth(OPEN, question)[cell] == pytest.approx(exact, rel=0.25)


def test_pairs_that_share_a_group_add_up_and_others_tell_nothing():
    single = [worth(OPEN, Question("compare", pairs=(pair,))) for pair in ((0, 1), (0, 2))]
    both = worth(OPEN, Question("compare", pairs=((0, 1), (0, 2))))
    assert both == pytest.approx(single[0] + single[1])
    assert (both[3:] == 0).all()


def test_the_highest_are_looked_for_as_the_lowest_of_the_mirror_image():
    mirror = belief(OPEN.size, OPEN.wrong, OPEN.right)
    lowest = np.mean([worth(OPEN, Question("identify", top=2), s) for s in range(60)], axis=0)
    asked = Question("identify", which="highest", top=2)
    highest = np.mean([worth(mirror, asked, s) for s in range(60)], axis=0)
    assert highest == pytest.approx(lowest, rel=0.1, abs=1e-6)


def test_within_the_tolerance_there_is_less_to_tell():
    for tolerance in (0.1, 0.3):
        some = worth(OPEN, Question("identify", tolerance=tolerance))
        assert some[0] < worth(OPEN, Question("identify"))[0]


@pytest.mark.parametrize("top", [1, 30])
def test_of_thousands_of_groups_those_at_the_boundary_are_looked_at(top):
    rng = np.random.default_rng(1)
    right = rng.integers(0, 40, size=3000)
    b = belief(np.full(3000, 60), right, 40 - right)
    told = telling(b, moments(b), Question("identify", top=top), rng)
    order = np.argsort(moments(b).mean, kind="stable")
    assert np.isfinite(told).all()
    assert (told > 0).sum() <= 1000
    assert np.isin(told.argmax(), order[: top + 200])


def test_no_worth_is_ever_negative_or_not_a_number_however_decided_the_answer_is():
    rng = np.random.default_rng(2)
    for _ in range(50):
        size = rng.integers(1, 5000, size=6)
        done = (size * rng.choice([0, 0.01, 0.5, 1.0], size=6)).astype(int)
        right = rng.binomial(done, rng.choice([0.0, 0.02, 0.5, 1.0], size=6))
        b = belief(size, right, done - right)
        for question in (Question("identify", top=2), Question("compare", epsilon=0.0)):
            found = worth(b, question)
            assert np.isfinite(found).all()
            assert (found >= 0).all()
            assert (found[by_group(b, unlabelled(b)) == 0] == 0).all()
