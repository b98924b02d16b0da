"""Draws of all cells together, with what is unknown of the fitted prior drawn too.

A belief keeps what is uncertain of the fit as a wider group effect, and as what moves all groups
together; that is right for a group's value. A sum over cells of all groups that differ by one
covariate, such as those in which an opinion agrees, hangs on that covariate's weight: here it is
drawn with the rest.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.empirical import prior_of
from worker.core.prior.fitting import plausible
from worker.core.prior.hyperparameters import Fit, Scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_DRAWS = 1024
_MOST_NUMBERS = 1 << 20  # drawn in all, as long as 128 draws are left
_LEAST_DRAWS = 128
_POINTS = 64


def completions(
    fit: Fit,
    scores: Scores,
    group: Ints,
    size: Ints,
    tallies: Sequence[tuple[Ints, Ints]],
    tells: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Iterator[Ints]:
    """Yield (n, C) right answers once all items are labelled, some draws at a time.

    Each block is of one plausible set of hyperparameters (`fitting.plausible`): given it every
    group draws its component by its own labels, a cell its rate, and the items without a label
    their outcomes.

    Args:
        fit, scores: of the prior of C cells. group, size: (C,) index of its group, and items.
        tallies: right and wrong labels (C,) each, of equally likely worlds; one if none is in
            doubt.
        tells: (C,) whether a cell's labels tell of its group.
    """
    n = max(_POINTS, 2 * fit.mode.numbers.size)
    wanted = max(_LEAST_DRAWS, min(N_DRAWS, _MOST_NUMBERS // size.size))
    each = -(-wanted // n)
    _, of = np.unique(group, return_inverse=True)
    for at, h in enumerate(plausible(fit, n)):
        right, wrong = tallies[at % len(tallies)]
        alpha, beta, mixture = prior_of(h, scores)
        told = np.zeros((int(of.max()) + 1, mixture.size))
        seen = np.flatnonzero((right + wrong > 0) & tells)
        a, b = alpha[seen], beta[seen]
        likelihood = special.betaln(a + right[seen, None], b + wrong[seen, None])
        np.add.at(told, of[seen], likelihood - special.betaln(a, b))
        weight = mixture * np.exp(told - told.max(axis=1, keepdims=True))
        upto = np.cumsum(weight, axis=1)
        upto /= upto[:, -1:]
        component = (rng.random((each, len(upto), 1)) > upto[:, :-1]).sum(axis=2)
        cell, drawn = np.arange(size.size), component[:, of]
        rate = rng.beta(alpha[cell, drawn] + right, beta[cell, drawn] + wrong)
        yield right + rng.binomial(size - right - wrong, rate)
