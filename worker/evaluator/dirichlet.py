"""The two baselines, which think that a prediction has nothing to do with the human label."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import digamma

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.inputs import Floats, labels, predictions
from worker.evaluator.options import Options

FLOOR = 1e-300  # a prediction of exactly 0 has no likelihood under any Dirichlet
_LOG_PRECISION = (-30.0, 30.0)


@dataclass(frozen=True, slots=True, eq=False)
class DirichletEvaluator:
    """Draws every prediction from one Dirichlet, whatever the human label.

    alpha: (K,), > 0.
    """

    name: str
    alpha: Floats

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.alpha.size)

    @property
    def mean(self) -> Floats:
        """(K,) the expected prediction."""
        expected: Floats = self.alpha / self.alpha.sum()
        return expected

    @property
    def precision(self) -> float:
        """How closely predictions lie around the mean, > 0: the sum of alpha."""
        return float(self.alpha.sum())

    def sample(self, human: Floats, n_draws: int, rng: Generator, *, noise: bool = True) -> Floats:
        """See `worker.evaluator.contract.Evaluator.sample`."""
        n_items = labels(human, self.n_classes).shape[0]
        return rng.dirichlet(self.alpha, (n_items, n_draws))


def fit_uniform(
    human: Floats, predicted: Floats, *, options: Options, seed: int
) -> DirichletEvaluator:
    """The uniform Dirichlet over the simplex: nothing is learnt but the number of classes."""
    human = labels(human)
    predictions(predicted, human)
    return DirichletEvaluator("uniform", np.ones(human.shape[1]))


def fit_dirichlet(
    human: Floats, predicted: Floats, *, options: Options, seed: int
) -> DirichletEvaluator:
    """The Dirichlet with the predictions' mean, and the precision of the greatest likelihood.

    Several predictions of an item count as predictions of several items.

    Raises:
        EvaluatorError: all predictions are the same, so that the likelihood has no maximum.

    Source:
        Supplement 4.4 of the framework's paper: the mean is the sample's, the precision alone is
        fitted. The likelihood is concave in the precision, so its slope's only root is found
        (there: gradient steps by Adam). Predictions of exactly 0 are taken as 1e-300.
    """
    human = labels(human)
    rows = predictions(predicted, human).reshape(-1, human.shape[1])
    if np.ptp(rows, axis=0).max() == 0.0:
        raise EvaluatorError(
            f"all {rows.shape[0]} predictions are the same, and a Dirichlet that fits them has no "
            "width; check the predictions, or choose `zero-mean-ndod` or `bnn`."
        )
    mean = np.maximum(rows, FLOOR).mean(axis=0)
    log_mean = float(mean @ np.log(np.maximum(rows, FLOOR)).mean(axis=0))

    def slope(log_precision: float) -> float:
        precision = np.exp(log_precision)
        return float(digamma(precision) - mean @ digamma(precision * mean) + log_mean)

    if slope(_LOG_PRECISION[1]) > 0:
        raise EvaluatorError(
            "the predictions differ by rounding only, and a Dirichlet that fits them has no width; "
            "check the predictions, or choose `zero-mean-ndod` or `bnn`."
        )
    precision = float(np.exp(brentq(slope, *_LOG_PRECISION, xtol=1e-12)))
    return DirichletEvaluator("dirichlet", precision * mean)
