"""The energy score: as by brute force, unbiased, and proper."""

import numpy as np
import pytest

from worker.evaluator import energy
from worker.evaluator.energy import energy_score
from worker.evaluator.errors import EvaluatorError


def by_hand(truth, drawn):
    d = drawn.shape[1]
    scores = []
    for x, draws in zip(truth, drawn, strict=True):
        reach = np.mean([np.linalg.norm(a - x) for a in draws])
        apart = sum(np.linalg.norm(a - b) for a in draws for b in draws) / (d * (d - 1))
        scores.append(reach - apart / 2)
    return np.array(scores)


def test_it_is_that_of_two_loops_over_the_draws(monkeypatch):
    rng = np.random.default_rng(1)
    truth, drawn = rng.dirichlet(np.ones(5), 7), rng.dirichlet(np.ones(5), (7, 9))
    assert energy_score(truth, drawn) == pytest.approx(by_hand(truth, drawn))
    monkeypatch.setattr(energy, "_FLOATS_PER_BLOCK", 200)  # blocks of an item or two
    assert energy_score(truth, drawn) == pytest.approx(by_hand(truth, drawn))


def test_several_things_that_came_are_averaged():
    rng = np.random.default_rng(2)
    truth, drawn = rng.dirichlet(np.ones(3), (4, 6)), rng.dirichlet(np.ones(3), (4, 8))
    each = np.mean([by_hand(truth[:, r], drawn) for r in range(6)], axis=0)
    assert energy_score(truth, drawn) == pytest.approx(each)


def test_close_draws_keep_their_digits():
    rng = np.random.default_rng(3)
    drawn = 0.3 + 1e-7 * rng.normal(size=(3, 6, 4))
    truth = np.full((3, 4), 0.3)
    assert energy_score(truth, drawn) == pytest.approx(by_hand(truth, drawn), rel=1e-6)


def test_its_expectation_does_not_depend_on_the_number_of_draws():
    """x and the draws standard normal in one dimension: E|X - x| - E|X - X'| / 2 = 1 / √π."""
    rng = np.random.default_rng(4)
    for n_draws in (2, 3, 10):
        scores = energy_score(rng.normal(size=(60_000, 1)), rng.normal(size=(60_000, n_draws, 1)))
        error = scores.std() / np.sqrt(scores.size)
        assert abs(scores.mean() - 1 / np.sqrt(np.pi)) < 4 * error


def test_the_true_distribution_scores_better_than_narrower_wider_and_shifted_ones():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(4_000, 2))
    score = {
        (width, shift): energy_score(truth, shift + width * rng.normal(size=(4_000, 60, 2))).mean()
        for width, shift in ((1, 0), (0.4, 0), (1e-6, 0), (2.5, 0), (1, 1))
    }
    assert min(score, key=score.get) == (1, 0)


def test_one_draw_is_refused():
    with pytest.raises(EvaluatorError, match="1 draw an item, expected at least 2"):
        energy_score(np.ones((2, 2)) / 2, np.ones((2, 1, 2)) / 2)
