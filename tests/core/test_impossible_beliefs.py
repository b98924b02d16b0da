"""A belief that cannot be is refused with the cell at fault."""

import numpy as np
import pytest

from worker.core.posterior.belief import Belief
from worker.core.posterior.drawing import draw
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import marginal, mean


def uniform(size, right, wrong):
    ones = np.ones(len(size))
    return Belief(np.arange(len(size)), size, right, wrong, ones, ones, len(size))


def test_a_belief_cannot_be_changed_behind_its_back():
    right = np.array([1, 1])
    b = uniform([4, 4], right, [0, 0])
    right[0] = 3
    assert b.right.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        b.right[0] = 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": [3, 3]}, "one entry a cell"),
        ({"right": [0, 4, 0]}, r"cell 1 .* right \+ wrong .* <= size"),
        ({"right": [-1, 0, 0]}, "cell 0 .* right >= 0"),
        ({"right": [0.5, 0, 0]}, "whole number"),
        ({"size": [-1, 3, 3]}, "cell 0 .* size >= 0"),
        ({"size": [2.5, 3, 3]}, "expected integers"),
        ({"alpha": [1.0, 0.0, 1.0]}, "cell 1 .* alpha > 0"),
        ({"alpha": [1.0, 1.0]}, "one row a cell and one column a component"),
        ({"mixture": [0.5, 0.5]}, "one row a cell and one column a component"),
        ({"mixture": [0.9]}, "probabilities that sum to 1"),
        ({"beta": [1.0, 1.0, np.nan]}, "cell 2 .* beta > 0"),
        ({"beta": [1.0, 1.0, np.inf]}, "cell 2 .* finite"),
        ({"group": [0, 1, 0]}, "cell 2 .* ascending"),
        ({"group": [0, 1, 2]}, r"cell 2 .* group in 0\.\.1"),
        ({"population": "endless"}, "expected one of finite, infinite"),
    ],
)
def test_an_impossible_belief_is_refused_with_the_cell_at_fault(change, message):
    sound = {
        "group": [0, 1, 1],
        "size": [3, 3, 3],
        "right": [0, 0, 0],
        "wrong": [0, 0, 0],
        "alpha": [1.0, 1.0, 1.0],
        "beta": [1.0, 1.0, 1.0],
        "mixture": [1.0],
    }
    fields = {key: np.array(value) for key, value in (sound | change).items() if key in sound}
    population = change.get("population", "finite")
    with pytest.raises(ValueError, match=message):
        Belief(**fields, n_groups=2, population=population)


@pytest.mark.parametrize(("g", "message"), [(5, "unknown"), (-1, "unknown"), (1, "no items")])
def test_there_is_no_distribution_of_a_group_without_items(g, message):
    with pytest.raises(ValueError, match=message):
        marginal(uniform([3, 0], [0, 0], [0, 0]), g).atoms()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match="inside"):
        interval(uniform([3], [0], [0]), level)


def test_a_pool_without_cells_is_empty_but_sound():
    b = Belief(*(np.zeros(0, np.int64) for _ in range(4)), np.zeros(0), np.zeros(0), 2)
    assert np.isnan(mean(b)).all()
    assert np.isnan(draw(b, np.random.default_rng(0), 3)).all()
