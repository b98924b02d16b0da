"""What every evaluator of P(prediction | human label) can do, and the table of them."""

from collections.abc import Mapping
from typing import Protocol

from numpy.random import Generator

from worker.evaluator import bnn, dirichlet, ndod
from worker.evaluator.inputs import Floats
from worker.evaluator.options import Options

__all__ = ["EVALUATORS", "Evaluator", "Fit", "Options"]


class Evaluator(Protocol):
    """The distribution of a prediction given the human label, fitted to pairs of them."""

    @property
    def name(self) -> str:
        """Its name in the plan and in `EVALUATORS`."""

    @property
    def n_classes(self) -> int:
        """K, the classes of labels and predictions."""

    def sample(self, human: Floats, n_draws: int, rng: Generator, *, noise: bool = True) -> Floats:
        """Draw predictions for human labels.

        All is held at once: N x n_draws x K numbers of 8 bytes. For more, pass blocks of items and
        one generator; items are independent of each other given the fit.

        Args:
            human: (N, K), rows of probabilities; they may be others than those of the fit.
            n_draws: D >= 1.
            noise: of `bnn` only: add the likelihood's noise. Without it draws are conditional
                means, the paper's. The others have one distribution, and draw from it either way.

        Returns:
            (N, D, K), probabilities. Draw d of `bnn` comes from the same weights in every item.

        Raises:
            EvaluatorError: `human` is no (N, K) table of probabilities, or no draw is possible.
        """


class Fit(Protocol):
    """Makes an evaluator of N items' human labels and predictions."""

    def __call__(
        self, human: Floats, predicted: Floats, *, options: Options, seed: int
    ) -> Evaluator:
        """Fit to `human` (N, K) and `predicted` (N, K) or (N, R, K), R predictions an item.

        Raises:
            EvaluatorError: the tables are unusable; `NotConverged`, `ExtraMissing`: `bnn` only.
        """


EVALUATORS: Mapping[str, Fit] = {
    "uniform": dirichlet.fit_uniform,
    "dirichlet": dirichlet.fit_dirichlet,
    "ndod": ndod.fit_ndod,
    "zero-mean-ndod": ndod.fit_zero_mean_ndod,
    "bnn": bnn.fit_bnn,
}
