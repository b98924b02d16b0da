"""What of an evaluator can be set in the plan."""

from dataclasses import dataclass
from typing import Literal

from worker.evaluator.errors import EvaluatorError

Prior = Literal["normal", "uniform"]


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the Bayesian neural network; the other evaluators have none.

    sigma2: variance of the likelihood in each of the K dimensions, > 0; the paper's is 0.1.
    prior: of every weight and bias: `normal`, wide and proper, or `uniform` in a wide box.
    chains: >= 2, since convergence is judged by how chains agree.
    warmup, draws: steps of every chain before and after its step size and metric are fixed.
    hidden: units of the hidden layer; None for K - 1, the paper's.
    """

    sigma2: float = 0.1
    prior: Prior = "normal"
    chains: int = 4
    warmup: int = 500
    draws: int = 500
    hidden: int | None = None

    def __post_init__(self) -> None:
        wrong = [
            f"{name} is {value}, but must be {least}"
            for name, value, least, is_right in (
                ("sigma2", self.sigma2, "greater than 0", self.sigma2 > 0),
                ("prior", self.prior, "normal or uniform", self.prior in ("normal", "uniform")),
                ("chains", self.chains, "2 or more", self.chains >= 2),
                ("warmup", self.warmup, "10 or more", self.warmup >= 10),
                ("draws", self.draws, "10 or more", self.draws >= 10),
                ("hidden", self.hidden, "1 or more", self.hidden is None or self.hidden >= 1),
            )
            if not is_right
        ]
        if wrong:
            raise EvaluatorError(f"{'; '.join(wrong)}. Change it under `evaluate` in the plan.")
