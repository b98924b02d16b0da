"""Views of several models' labels, where portions of the pool are drawn together."""

from __future__ import annotations

import numpy as np
import pytest

from worker.core.posterior.views import Layout, Queue, apart_from, of_difference, of_model

# Cell 0 is one portion; cell 1 is shared by three, of two groups of the first model.
CELL = np.array([0, 1, 1, 1])
SIZE = np.array([4, 3, 5, 2])
GROUP = np.array([0, 0, 1, 1])
BLOCK = np.array([[0, 0], [0, 1], [0, 1], [0, 1]])
SHARED = Layout(SIZE, BLOCK, np.array([[2.0, 2], [1, 0], [-1, 0], [6, 0]]), CELL)
TALLY = np.array([[2, 1, 0], [1, 0, 1], [0, 2, 1], [1, 0, 0]])  # right, none, the other is right


def test_a_row_is_a_cell_s_part_in_one_group_with_the_labels_of_its_portions():
    view = of_model(SHARED, 0, GROUP, 2)
    assert list(zip(view.cell.tolist(), view.group.tolist(), strict=True)) == [
        (0, 0), (1, 0), (1, 1),
    ]  # fmt: skip
    assert view.size.tolist() == [4, 3, 7]
    assert view.counts(TALLY).tolist() == [[2, 1], [1, 1], [1, 3]]
    assert of_model(SHARED, 1, GROUP, 2).counts(TALLY).tolist() == [[2, 1], [1, 1], [1, 3]]
    assert view.means(SHARED.logit[:, 0], SHARED) == pytest.approx([2, 1, (-5 + 12) / 7])


def test_how_many_of_the_other_models_disagree_is_known_of_every_portion():
    block = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 2]])
    layout = Layout(SIZE, block, np.zeros((4, 3)))
    found = [apart_from(layout, model).tolist() for model in range(3)]
    assert found == [[0, 0.5, 1, 1], [0, 1, 0.5, 1], [0, 0.5, 0.5, 1]]


def test_a_difference_counts_shared_cells_by_group_and_knows_where_models_agree():
    view = of_difference(SHARED, 0, 1, GROUP, 2)
    assert view.cell.tolist() == [1, -1, 1]
    assert view.size.tolist() == [3, 4, 7]
    assert view.counts(TALLY).tolist() == [[1, 1, 0], [0, 0, 4], [1, 1, 2]]


def test_an_item_of_a_shared_cell_is_in_a_group_by_its_share_of_what_is_left():
    view = of_model(SHARED, 0, GROUP, 2)
    left = np.array([4, 1, 3, 0])
    queue = Queue(view.of_portions(left), view.of_portions(0 * left))
    assert view.chance(queue, np.array([4, 4])).tolist() == [1, 0.25, 0.75]
    nothing = Queue(0 * queue.left, queue.pending)
    assert view.chance(nothing, np.array([0, 0])).tolist() == [0, 0, 0]
