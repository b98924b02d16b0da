"""The normal distribution of the differences between predictions and human labels (NDoD)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.inputs import Floats, labels, predictions
from worker.evaluator.options import Options
from worker.evaluator.simplex import Simplex
from worker.evaluator.truncated import truncated_normal

_RANK = 1e-10  # of the greatest variance; less is rounding


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceEvaluator:
    """Draws a prediction as human label + N(mean, covariance), given that it lies in the simplex.

    mean: (K - 1,), covariance: (K - 1, K - 1), in the coordinates of `Simplex`; may be singular.
    """

    name: str
    mean: Floats
    covariance: Floats

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.mean.size) + 1

    def sample(self, human: Floats, n_draws: int, rng: Generator, *, noise: bool = True) -> Floats:
        """See `worker.evaluator.contract.Evaluator.sample`.

        The paper resamples until a draw lies in the simplex; this is the same distribution, drawn
        so that it ends for any K (`truncated_normal`).

        Raises:
            EvaluatorError: the covariance is singular, and the distribution misses the simplex.
        """
        human = labels(human, self.n_classes)
        rotation = Simplex(self.n_classes).rotation
        variances, axes = np.linalg.eigh(self.covariance)
        is_wide = variances > _RANK * max(variances.max(), _RANK)
        factor = rotation @ (axes[:, is_wide] * np.sqrt(variances[is_wide]))
        return truncated_normal(human + rotation @ self.mean, factor, n_draws, rng)


def fit_ndod(
    human: Floats, predicted: Floats, *, options: Options, seed: int
) -> DifferenceEvaluator:
    """Mean and covariance of the differences, both unbiased (UMVU).

    Several predictions of an item count as predictions of several items.

    Raises:
        EvaluatorError: only one prediction, which has no covariance.

    Source:
        Equation 7 of the framework's paper (arXiv 2007.06711).
    """
    differences = _differences(human, predicted)
    n = differences.shape[0]
    if n < 2:
        raise EvaluatorError(
            "one prediction of one item has no covariance; pass two or more, or choose "
            "`zero-mean-ndod`."
        )
    mean = differences.mean(axis=0)
    centred = differences - mean
    return DifferenceEvaluator("ndod", mean, centred.T @ centred / (n - 1))


def fit_zero_mean_ndod(
    human: Floats, predicted: Floats, *, options: Options, seed: int
) -> DifferenceEvaluator:
    """The covariance about 0: predictions are right on average, if not one by one.

    Source:
        The zero-mean NDoD of the framework's paper. With a known mean the unbiased covariance is
        divided by n, not by n - 1.
    """
    differences = _differences(human, predicted)
    n, k_less_1 = differences.shape
    return DifferenceEvaluator(
        "zero-mean-ndod", np.zeros(k_less_1), differences.T @ differences / n
    )


def _differences(human: Floats, predicted: Floats) -> Floats:
    """(N R, K - 1), predictions minus human labels in the simplex's coordinates."""
    human = labels(human)
    apart = predictions(predicted, human) - human[:, None]
    differences: Floats = apart.reshape(-1, human.shape[1]) @ Simplex(human.shape[1]).rotation
    return differences
