"""What is believed of one group's accuracy, as a law that can be asked for probabilities.

Two kinds with the same questions: a count over a finite pool, and a Beta for an endless one.
They are named tuples of plain numbers because they are hashed thousands of times a decision.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.counts import Cell, CountLaw, law_of

Floats = NDArray[np.float64]

# Accuracies nearer to each other than this are the same number: far above the rounding of
# k / N - tolerance, far below the gap 1 / (N1 N2) between two different accuracies.
SLACK = 1e-12
_N_BINS = 512
_TAIL = 1e-13
_ROUNDING = 1e-13  # so that a tail of exactly the asked size is not lost to rounding


class FiniteMarginal(NamedTuple):
    """Accuracy of a group of `size` items: (right + X) / size, X the law of `cells`."""

    cells: tuple[Cell, ...]
    right: float
    size: int

    @property
    def law(self) -> CountLaw:
        """The law of the number of right answers among the unlabelled items."""
        return law_of(self.cells)

    @property
    def low(self) -> float:
        """The accuracy lies above this, but for a negligible tail."""
        return (self.right + self.law.low) / self.size

    @property
    def high(self) -> float:
        """The accuracy lies below this, but for a negligible tail."""
        return (self.right + self.law.high) / self.size

    def atoms(self) -> tuple[Floats, Floats]:
        """All possible accuracies (K,), ascending, and their probabilities (K,)."""
        pmf = self.law.pmf
        return (self.right + np.arange(pmf.size)) / self.size, pmf

    def reaches(self, x: Floats) -> Floats:
        """P(accuracy >= x) for every x, in the shape of `x`."""
        at = np.ceil((x - SLACK) * self.size - self.right).astype(np.intp)
        return self.law.at_least.take(at, mode="clip")

    def exceeds(self, x: Floats) -> Floats:
        """P(accuracy > x) for every x, in the shape of `x`."""
        at = np.floor((x + SLACK) * self.size - self.right).astype(np.intp) + 1
        return self.law.at_least.take(at, mode="clip")

    def quantile(self, probability: float) -> float:
        """The smallest accuracy that is not exceeded with at least `probability`."""
        tail = 1.0 - probability
        at = int(np.count_nonzero(self.law.at_least[1:] > tail + _ROUNDING))
        return (self.right + at) / self.size


class BetaMarginal(NamedTuple):
    """Accuracy of a group of endless size: Beta(a, b)."""

    a: float
    b: float

    @property
    def low(self) -> float:
        """The accuracy lies above this, but for a tail of 1e-13."""
        return self.quantile(_TAIL)

    @property
    def high(self) -> float:
        """The accuracy lies below this, but for a tail of 1e-13."""
        return float(special.betainccinv(self.a, self.b, _TAIL))

    @property
    def variance(self) -> float:
        """Squared accuracy."""
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1))

    def atoms(self) -> tuple[Floats, Floats]:
        """The middles (512,) of equal bins between `low` and `high`, and their exact masses.

        So the distribution function is exact at the bins' edges, and a smooth expectation has an
        error of the squared width of a bin: about 1e-5 for a probability.
        """
        edges = np.linspace(self.low, self.high, _N_BINS + 1)
        below = special.betainc(self.a, self.b, edges)
        below[0], below[-1] = 0.0, 1.0
        return (edges[:-1] + edges[1:]) / 2, np.diff(below)

    def reaches(self, x: Floats) -> Floats:
        """P(accuracy >= x) for every x, in the shape of `x`."""
        return special.betaincc(self.a, self.b, np.clip(x, 0.0, 1.0))

    def exceeds(self, x: Floats) -> Floats:
        """P(accuracy > x) for every x, in the shape of `x`."""
        return self.reaches(x)

    def quantile(self, probability: float) -> float:
        """The accuracy that is not exceeded with `probability`."""
        return float(special.betaincinv(self.a, self.b, probability))


Marginal = FiniteMarginal | BetaMarginal
