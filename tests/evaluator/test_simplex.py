"""The simplex in its own dimensions: the same lengths, and nothing lost on the way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.simplex import Simplex

sizes = st.integers(2, 60)
seeds = st.integers(0, 2**32)


def points(k: int, seed: int, n: int = 20) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.dirichlet(np.full(k, 0.1), n), np.eye(k), np.full((1, k), 1 / k)])


@given(sizes, seeds)
def test_up_undoes_down(k, seed):
    p = points(k, seed)
    assert np.abs(Simplex(k).up(Simplex(k).down(p)) - p).max() < 1e-12


@given(sizes, seeds)
def test_down_undoes_up_also_outside_the_simplex(k, seed):
    x = np.random.default_rng(seed).normal(0, 3, (4, 5, k - 1))
    assert np.abs(Simplex(k).down(Simplex(k).up(x)) - x).max() < 1e-12
    assert Simplex(k).up(x).sum(axis=-1) == pytest.approx(1.0, abs=1e-12)


@given(sizes, seeds)
def test_distances_are_kept(k, seed):
    p = points(k, seed)
    x = Simplex(k).down(p)
    before = np.linalg.norm(p[:, None] - p, axis=2)
    assert np.linalg.norm(x[:, None] - x, axis=2) == pytest.approx(before, abs=1e-12)


@given(sizes)
def test_the_first_vertex_is_the_origin_and_columns_lean_towards_their_edges(k):
    vertices = np.eye(k)
    assert np.abs(Simplex(k).down(vertices[0])).max() == 0.0
    rotation = Simplex(k).rotation
    assert rotation.T @ rotation == pytest.approx(np.eye(k - 1), abs=1e-12)
    assert (np.einsum("kj,jk->j", rotation, vertices[1:] - vertices[0]) > 0).all()


def test_labels_are_not_changed():
    p = np.array([[0.25, 0.75]])
    Simplex(2).down(p)
    assert p.tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize("k", [0, 1])
def test_one_class_is_refused(k):
    with pytest.raises(EvaluatorError, match="two or more"):
        Simplex(k)
