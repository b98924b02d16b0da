"""Whether labels that are called a random sample could be one."""

import numpy as np
import pytest

from worker.core.drift.sample import drawn_alike


@pytest.mark.parametrize("sizes", [[500, 300, 200], [40] * 50, [900, 3, 2, 1, 1]])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_a_random_sample_is_hardly_ever_called_none(sizes, share):
    rng, size = np.random.default_rng(4), np.array(sizes)
    n = max(1, int(share * size.sum()))
    taken = rng.multivariate_hypergeometric(size, n, 4000)
    p = np.array([drawn_alike(one, size) for one in taken])
    for level in (0.05, 0.001):
        assert (p < level).mean() <= level + 4 * np.sqrt(level / p.size)


def test_an_uneven_choice_is_seen():
    size = np.array([500, 300, 200])
    assert drawn_alike(np.array([50, 30, 20]), size) > 0.9
    assert drawn_alike(np.array([30, 30, 40]), size) < 1e-4


@pytest.mark.parametrize("taken", [[0, 0], [5, 5], [1, 0]])
def test_where_nothing_can_be_uneven_nothing_is(taken):
    assert 0.1 < drawn_alike(np.array(taken), np.array([5, 5])) <= 1
