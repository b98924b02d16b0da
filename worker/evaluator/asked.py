"""What the experiments have in common: their settings, their seeds, and one fit of an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from worker.evaluator.contract import EVALUATORS, Evaluator, Fit, Options

Floats = NDArray[np.float64]
Say = Callable[[str], None]
_USUAL = Options()


def quiet(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an experiment is done.

    level: of all intervals. n_draws: of the measure, an item. folds: of the fit experiment; 0 or
    at least 2. fits: the evaluators by name. say: is told what goes on.
    """

    options: Options = _USUAL
    level: float = 0.95
    n_draws: int = 1000
    folds: int = 3
    seed: int = 1
    fits: Mapping[str, Fit] = field(default_factory=lambda: EVALUATORS)
    say: Say = quiet

    def fit(self, name: str, human: Floats, predicted: Floats, *place: int) -> Evaluator:
        """Fit an evaluator; `place` tells fits of one experiment apart and seeds them.

        Raises:
            EvaluatorError: it cannot be fitted, or did not converge.
        """
        seed = int(np.random.SeedSequence([self.seed, 1, *place]).generate_state(1)[0])
        return self.fits[name](human, predicted, options=self.options, seed=seed)

    def rng(self, *place: int) -> Generator:
        """The generator of the draws at a place of the experiment."""
        return np.random.default_rng([self.seed, 2, *place])


def diagnostics_of(evaluator: Evaluator) -> dict[str, Any] | None:
    """The numbers of an evaluator's own on how it was fitted; None if it has none."""
    found = getattr(evaluator, "diagnostics", None)
    if not is_dataclass(found) or isinstance(found, type):
        return None
    return {key: plain(value) for key, value in asdict(found).items()}


def plain(value: Any) -> Any:
    """The same in types that JSON knows; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
