"""Views of several models' labels."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.views import Layout, apart_from, of_difference, of_model

SIZE = np.array([4, 3, 5, 2])
GROUP = np.array([0, 1, 0, 1])
BLOCK = np.array([[0, 0], [0, 1], [0, 1], [0, 1]])
LAYOUT = Layout(SIZE, BLOCK, np.array([[2.0, 2], [1, 0], [-1, 0], [6, 0]]))
TALLY = np.array([[2, 1, 0], [1, 0, 1], [0, 2, 1], [1, 0, 0]])  # right, none, the other is right


def test_a_view_has_the_cells_by_the_model_s_groups_with_what_their_labels_say_of_it():
    view = of_model(LAYOUT, 0, GROUP, 2)
    assert (view.cell.tolist(), view.group.tolist()) == ([0, 2, 1, 3], [0, 0, 1, 1])
    assert view.size.tolist() == [4, 5, 3, 2]
    assert view.counts(TALLY).tolist() == [[2, 1], [0, 3], [1, 1], [1, 0]]
    other = of_model(LAYOUT, 1, GROUP, 2)
    assert other.counts(TALLY).tolist() == [[2, 1], [1, 2], [1, 1], [0, 1]]
    assert view.of_cells(LAYOUT.logit[:, 0]).tolist() == [2, -1, 1, 6]


def test_how_many_of_the_other_models_disagree_is_known_of_every_cell():
    block = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 2]])
    layout = Layout(SIZE, block, np.zeros((4, 3)))
    found = [apart_from(layout, model).tolist() for model in range(3)]
    assert found == [[0, 0.5, 1, 1], [0, 1, 0.5, 1], [0, 0.5, 0.5, 1]]


def test_a_difference_knows_where_models_agree():
    view = of_difference(LAYOUT, 0, 1, GROUP, 2)
    assert view.cell.tolist() == [2, -1, 1, 3]
    assert view.group.tolist() == [0, 0, 1, 1]
    assert view.size.tolist() == [5, 4, 3, 2]
    assert view.counts(TALLY).tolist() == [[0, 1, 2], [0, 0, 4], [1, 1, 0], [1, 0, 0]]
    assert view.of_cells(np.array([7, 8, 9, 6])).tolist() == [9, 0, 8, 6]
