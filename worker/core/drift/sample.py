"""Whether items could be a random sample of a pool: by how many of each kind are among them."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

Ints = NDArray[np.int64]

_LEAST = 5.0  # items that are expected of a kind; rarer kinds are counted together


def drawn_alike(taken: Ints, size: Ints) -> float:
    """The p-value of as uneven a sample, drawn without replacement: Pearson's chi-squared test.

    Args:
        taken: (K,) items of each kind in the sample. size: (K,) in the pool, >= taken.

    Returns:
        In [0, 1]; 1 where nothing could be uneven.

    Source:
        Pearson's statistic with the variance of the multivariate hypergeometric distribution.
    """
    n, n_items = int(taken.sum()), int(size.sum())
    if not 0 < n < n_items:
        return 1.0
    order = np.argsort(size)
    expected = (n * size / n_items)[order]
    # the rarest together, as many as it takes until enough of them are expected
    first = int(np.searchsorted(np.cumsum(expected), _LEAST))
    starts = np.concatenate([[0], np.arange(first + 1, size.size)])
    one, all_of_it = (np.add.reduceat(of, starts) for of in (taken[order], expected))
    if one.size < 2:
        return 1.0
    left = 1 - n / n_items
    statistic = ((one - all_of_it) ** 2 / all_of_it).sum() / left * (n_items - 1) / n_items
    return float(special.chdtrc(one.size - 1, statistic))
