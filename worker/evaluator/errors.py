"""What can be wrong with an evaluation, each with what to do about it."""

from worker.errors import AssayError


class EvaluatorError(AssayError):
    """Human labels and predictions from which no evaluator can be made as asked."""


class ExtraMissing(EvaluatorError):
    """The Bayesian neural network needs packages that are not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"the evaluator `bnn` needs the package {package}, which is not installed; "
            "run `pip install 'assay[evaluator]'`, or choose another evaluator in the plan."
        )


class NotConverged(EvaluatorError):
    """The chains do not describe the posterior, so that nothing is reported of them."""
