"""The density of a sample, smoothed as much as the sample itself asks for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Sample = NDArray[np.floating]

_N = 1024  # cells of the grid
_FEW_VALUES = 8  # cells with numbers in them: a sample that has no density
_LEAST_CELLS = 2.0  # standard deviation of the smoothing: finer than that is the grid's own noise
_N_TIMES, _LOOKS = 40, 5


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A density over equal cells.

    at: (n,) middles of the cells, ascending. mass: (n,) probability of each cell, sums to 1.
    bandwidth: standard deviation of the kernel, in the sample's unit.
    """

    at: Floats
    mass: Floats
    bandwidth: float

    @property
    def step(self) -> float:
        """How wide a cell is."""
        return float(self.at[1] - self.at[0])

    def outline(self, n: int) -> tuple[Floats, Floats]:
        """Places (n,), evenly from where there is anything to where there is not, and the density
        (n,) at each."""
        seen = np.flatnonzero(self.mass > 1e-3 * self.mass.max())
        at = np.linspace(self.at[seen[0]], self.at[seen[-1]], n)
        return at, np.interp(at, self.at, self.mass / self.step)


def density(sample: Sample, low: float | None = None, high: float | None = None) -> Density:
    """Estimate the density of a sample with a Gaussian kernel that is reflected at the bounds.

    The bandwidth is the one of Botev, Grotowski & Kroese, which, unlike rules of thumb, does not
    smear several modes into one; where it finds none, Silverman's is taken.

    Args:
        sample: (n,), n >= 1 finite numbers.
        low, high: the least and greatest possible value; None: nothing is known.

    Source:
        Botev, Grotowski & Kroese, "Kernel Density Estimation via Diffusion" (Annals of Statistics
        2010), algorithm 1; on 1,024 cells.
    """
    # Values that rounding alone tells apart are one value: no cells fit between them.
    sample = np.asarray(sample, dtype=np.float64)
    least, most = float(sample.min()), float(sample.max())
    is_one = most - least <= 1e-6 * max(abs(least), abs(most))
    air = max(abs(least), 1.0) / 100 if is_one else (most - least) / 10
    start = least - air if low is None else max(low, least - air)
    end = most + air if high is None else min(high, most + air)
    if not start <= least <= most <= end or start == end:  # the bounds were wrong: look wider
        start, end = least - air, most + air
    counts, edges = np.histogram(sample, _N, (start, end))
    share = counts / sample.size
    waves = fft.dct(share, norm=None)
    is_discrete = np.count_nonzero(counts) <= _FEW_VALUES
    time = 0.0 if is_discrete else _botev(waves[1:] / 2, sample.size)
    if time is None:
        spread = float(sample.std()) / (end - start)
        time = (0.9 * spread * sample.size**-0.2) ** 2
    time = max(time, (_LEAST_CELLS / _N) ** 2)
    k = np.arange(_N)
    mass = np.maximum(fft.idct(waves * np.exp(-(k**2) * np.pi**2 * time / 2)), 0.0)
    middles = (edges[:-1] + edges[1:]) / 2
    return Density(middles, mass / mass.sum(), float(np.sqrt(time) * (end - start)))


def _botev(wave: Floats, n: int) -> float | None:
    """The squared bandwidth as a part of the range, or None where the equation has no root."""
    k2 = np.arange(1, _N, dtype=np.float64) ** 2
    shares = [k2**s * wave**2 for s in range(8)]

    def roughness(s: int, times: Floats) -> Floats:
        sums = np.exp(-(np.pi**2) * times[:, None] * k2) @ shares[s]
        return np.where(sums > 0, 2 * np.pi ** (2 * s) * sums, np.nan)

    def gaps(times: Floats) -> Floats:
        f = roughness(7, times)
        for s in range(6, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2)) / np.sqrt(2 * np.pi)
            const = (1 + 0.5 ** (s + 0.5)) / 3
            f = roughness(s, (2 * const * odd / (n * f)) ** (2 / (3 + 2 * s)))
        gap: Floats = times - (2 * n * np.sqrt(np.pi) * f) ** -0.4
        return gap

    # The least root: look where the sign first changes, closer each time.
    times: Floats = np.geomspace(1e-9, 0.1, _N_TIMES, dtype=np.float64)
    with np.errstate(all="ignore"):
        for _ in range(_LOOKS):
            found = gaps(times)
            turn = np.flatnonzero((found[:-1] < 0) & (found[1:] >= 0))
            if not turn.size:
                return None
            at = int(turn[0])
            times = np.linspace(times[at], times[at + 1], _N_TIMES)
    return float(times[0])
