"""What is believed of one group's value, as a distribution that can be asked for probabilities.

Three kinds with the same questions: a count over a finite pool, a Beta for an endless one, and a
sample where no closed form is known.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.counts import CountDistribution

Floats = NDArray[np.float64]
Number = float | Floats

# Values nearer to each other than this are the same number: far above the rounding of
# k / N - tolerance, far below the gap 1 / (N1 N2) between two different accuracies.
SLACK = 1e-12
_N_BINS = 512
_TAIL = 1e-13
_ROUNDING = 1e-13  # so that a tail of exactly the asked size is not lost to rounding


def first_from(x: Floats, right: Number, size: Number, offset: Number) -> NDArray[np.intp]:
    """The smallest whole k with offset + (right + k) / size >= x, for every x."""
    return np.ceil((x - offset - SLACK) * size - right).astype(np.intp)


def first_above(x: Floats, right: Number, size: Number, offset: Number) -> NDArray[np.intp]:
    """The smallest whole k with offset + (right + k) / size > x, for every x."""
    return np.floor((x - offset + SLACK) * size - right).astype(np.intp) + 1


@dataclass(frozen=True, slots=True, eq=False)
class FiniteMarginal:
    """A value offset + (right + X) / size, where `count` is the distribution of X."""

    count: CountDistribution
    right: float
    size: float
    offset: float = 0.0

    @property
    def n_floats(self) -> int:
        """How many numbers it holds."""
        return self.count.pmf.size + self.count.at_least.size

    @property
    def low(self) -> float:
        """The value lies above this, but for a negligible tail."""
        return self.offset + (self.right + self.count.low) / self.size

    @property
    def high(self) -> float:
        """The value lies below this, but for a negligible tail."""
        return self.offset + (self.right + self.count.high) / self.size

    def atoms(self) -> tuple[Floats, Floats]:
        """All possible values (K,), ascending, and their probabilities (K,)."""
        pmf = self.count.pmf
        return self.offset + (self.right + np.arange(pmf.size, dtype=np.float64)) / self.size, pmf

    def reaches(self, x: Floats) -> Floats:
        """P(value >= x) for every x, in the shape of `x`."""
        at = first_from(x, self.right, self.size, self.offset)
        return self.count.at_least.take(at, mode="clip")

    def exceeds(self, x: Floats) -> Floats:
        """P(value > x) for every x, in the shape of `x`."""
        at = first_above(x, self.right, self.size, self.offset)
        return self.count.at_least.take(at, mode="clip")

    def quantiles(self, probability: Floats) -> Floats:
        """The smallest value that is not exceeded with at least each `probability`."""
        tail = 1.0 - probability
        at = np.searchsorted(-self.count.at_least[1:], -(tail + _ROUNDING))
        return self.offset + (self.right + at.astype(np.float64)) / self.size

    def mirrored(self) -> Self:
        """The distribution of minus the value."""
        to_come = self.count.pmf.size - 1
        # -(offset + (right + X) / size) = -offset - 1 + (wrong + to_come - X) / size
        return type(self)(
            self.count.mirrored, self.size - self.right - to_come, self.size, -self.offset - 1.0
        )


class BetaMarginal(NamedTuple):
    """A value offset + theta of a group of endless size, theta ~ Beta(a, b)."""

    a: float
    b: float
    offset: float = 0.0

    @property
    def n_floats(self) -> int:
        """How many numbers it holds."""
        return 3

    @property
    def low(self) -> float:
        """The value lies above this, but for a tail of 1e-13."""
        return self.offset + float(special.betaincinv(self.a, self.b, _TAIL))

    @property
    def high(self) -> float:
        """The value lies below this, but for a tail of 1e-13."""
        return self.offset + float(special.betainccinv(self.a, self.b, _TAIL))

    @property
    def variance(self) -> float:
        """Squared value."""
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1))

    def atoms(self) -> tuple[Floats, Floats]:
        """The middles (512,) of equal bins between `low` and `high`, and their exact masses.

        So the distribution function is exact at the bins' edges, and a smooth expectation has an
        error of the squared width of a bin: about 1e-5 for a probability.
        """
        edges = np.linspace(self.low, self.high, _N_BINS + 1)
        below = special.betainc(self.a, self.b, np.clip(edges - self.offset, 0.0, 1.0))
        below[0], below[-1] = 0.0, 1.0
        return (edges[:-1] + edges[1:]) / 2, np.diff(below)

    def reaches(self, x: Floats) -> Floats:
        """P(value >= x) for every x, in the shape of `x`."""
        return special.betaincc(self.a, self.b, np.clip(x - self.offset, 0.0, 1.0))

    def exceeds(self, x: Floats) -> Floats:
        """P(value > x) for every x, in the shape of `x`."""
        return self.reaches(x)

    def quantiles(self, probability: Floats) -> Floats:
        """The value that is not exceeded with each `probability`."""
        values: Floats = self.offset + special.betaincinv(self.a, self.b, probability)
        return values

    def mirrored(self) -> "BetaMarginal":
        """The distribution of minus the value."""
        return BetaMarginal(self.b, self.a, -self.offset - 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class SampledMarginal:
    """A value known by posterior draws: probabilities have a standard error <= 0.5 / sqrt(n)."""

    sample: Floats  # (n,) ascending

    @property
    def n_floats(self) -> int:
        """How many numbers it holds."""
        return self.sample.size

    @property
    def low(self) -> float:
        """The smallest draw."""
        return float(self.sample[0])

    @property
    def high(self) -> float:
        """The largest draw."""
        return float(self.sample[-1])

    def atoms(self) -> tuple[Floats, Floats]:
        """The draws (n,), ascending, with equal probabilities (n,)."""
        return self.sample, np.full(self.sample.size, 1 / self.sample.size)

    def reaches(self, x: Floats) -> Floats:
        """The share of draws >= x for every x, in the shape of `x`."""
        return 1 - np.searchsorted(self.sample, x - SLACK, side="left") / self.sample.size

    def exceeds(self, x: Floats) -> Floats:
        """The share of draws > x for every x, in the shape of `x`."""
        return 1 - np.searchsorted(self.sample, x + SLACK, side="right") / self.sample.size

    def quantiles(self, probability: Floats) -> Floats:
        """The smallest draw that is not exceeded by at least each `probability` of them."""
        at = np.ceil(probability * self.sample.size - _ROUNDING).astype(np.intp) - 1
        return self.sample.take(at, mode="clip")

    def mirrored(self) -> "SampledMarginal":
        """The distribution of minus the value."""
        return SampledMarginal(-self.sample[::-1])


Marginal = FiniteMarginal | BetaMarginal | SampledMarginal


def narrowest(draws: Floats) -> tuple[float, float, float]:
    """Mean of draws (n,), and the narrowest interval that holds 95% of them (HPDI)."""
    ordered = np.sort(draws)
    n = int(np.ceil(0.95 * draws.size))
    first = int((ordered[n - 1 :] - ordered[: draws.size - n + 1]).argmin())
    return float(draws.mean()), float(ordered[first]), float(ordered[first + n - 1])
