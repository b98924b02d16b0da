"""Draws that replace others of the same numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from worker.core.posterior.drawing import draw_betas

above_one = st.floats(1.0001, 1e4)
any_shape = st.floats(1e-3, 1e4)
pairs = st.lists(
    st.tuples(above_one, any_shape) | st.tuples(any_shape, above_one), min_size=1, max_size=30
)


@given(pairs=pairs, seed=st.integers(0))
def test_betas_are_the_very_numbers_of_numpy_and_leave_the_same_stream(pairs, seed):
    shapes = np.array(pairs)
    mine, numpys = np.random.default_rng(seed), np.random.default_rng(seed)

    drawn = draw_betas(shapes.ravel(), mine)

    assert drawn.tolist() == numpys.beta(shapes[:, 0], shapes[:, 1]).tolist()
    assert mine.random() == numpys.random()


def test_betas_follow_their_law():
    drawn = draw_betas(np.tile([2.5, 0.7], 5000), np.random.default_rng(1))
    assert stats.kstest(drawn, stats.beta(2.5, 0.7).cdf).pvalue > 1e-4
