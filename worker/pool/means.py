"""What the scores of the items of a cell are on average."""

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from worker.errors import PredictionsError
from worker.plan.pool_part import PoolPlan
from worker.pool.ordering import counted, parts, summed
from worker.pool.predictions import Predictions, probability_pieces

# A score of exactly 0 or 1 has no logit, and many classifiers give thousands of them. As near to it
# as single precision goes: where half of all items were clipped to one logit (1 - 1e-4, CIFAR-10 by
# DenseNet) the curve missed what goes on among them. Of the items of a rare positive class nearly
# all others are surer than that, and rightly so.
LEAST_SCORE = 1e-7
# Where several are weighed against each other: opinions, and what each of many models says.
LEAST_OPINION = 1e-4


def logits(score: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the logits of scores (n,), clipped to [1e-4, 1 - 1e-4]; NaN where there is none."""
    found = np.empty(score.size, dtype=np.float32)
    for part in parts(score.size):
        held = np.clip(score[part].astype(np.float64), LEAST_OPINION, 1 - LEAST_OPINION)
        found[part] = special.logit(held)
    return found


def mean_logits(
    code: NDArray[np.integer], score: NDArray[np.floating], n: int
) -> NDArray[np.float64]:
    """Return the mean logit of the scores with each code, (n,); NaN where there are none.

    Args:
        code: (items,) in 0 ... n - 1.
        score: (items,) in [0, 1], clipped to [1e-7, 1 - 1e-7]; NaN if there are no scores.
        n: how many codes there are.
    """

    def logits(part: slice) -> NDArray[np.float64]:
        clipped = np.clip(score[part].astype(np.float64), LEAST_SCORE, 1 - LEAST_SCORE)
        found: NDArray[np.float64] = np.log(clipped / (1 - clipped))
        return found

    sums, sizes = summed(code, logits, n), counted(code, n)
    means: NDArray[np.float64] = np.divide(sums, sizes, out=np.full(n, np.nan), where=sizes > 0)
    return means


def scores_of_positive(
    pool: PoolPlan, predictions: Predictions, positive: int
) -> NDArray[np.floating]:
    """Return how probable it is, (n,), that each item is rightly predicted positive, or not so.

    Without probabilities of more than two classes those of the predicted class stand for it.

    Args:
        positive: index of the class.

    Raises:
        PredictionsError: the file is another one by now.
    """
    if pool.probabilities is None or len(predictions.classes) == 2:
        return predictions.score
    found = np.concatenate([rows[:, positive] for rows in probability_pieces(pool)])
    if found.size != predictions.n_items:
        raise PredictionsError(
            f"{pool.predictions}: the file changed while it was read; try again once it is complete"
        )
    return np.where(predictions.predicted == positive, found, 1 - found)


def mean_probabilities(
    pool: PoolPlan, n_classes: int, cell: NDArray[np.int32], size: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the mean probabilities of the items of each cell, (C, K); each row sums to 1.

    The predictions are read through once more, piece by piece: a million items of a thousand
    classes do not fit into memory, their means do.

    Args:
        pool: a plan of a pool with probabilities.
        n_classes: K.
        cell: (n,) cell of each item in the file's order.
        size: (C,) items of each cell.

    Raises:
        PredictionsError: the file is another one by now.
    """
    sums = np.zeros((len(size), n_classes))
    n_before = 0
    for rows in probability_pieces(pool):
        here = cell[n_before : n_before + len(rows)]
        n_before += len(rows)
        if len(here) < len(rows):
            break
        cells, place = np.unique(here, return_inverse=True)
        members = scipy.sparse.csr_array(
            (np.ones(len(rows)), (place, np.arange(len(rows)))), shape=(len(cells), len(rows))
        )
        sums[cells] += members @ rows
    if n_before != len(cell):
        raise PredictionsError(
            f"{pool.predictions}: the file changed while it was read; try again once it is complete"
        )
    means: NDArray[np.float32] = (sums / sums.sum(axis=1, keepdims=True)).astype(np.float32)
    return means
