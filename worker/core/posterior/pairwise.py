"""Where the difference of two values lies, from the distributions of both."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.counts import CountDistribution
from worker.core.posterior.marginals import SLACK, BetaMarginal, FiniteMarginal, Marginal
from worker.core.prior.copula import scores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Region = tuple[float, float, float]

# Double-exponential quadrature over (0, 1): indifferent to the steep ends of Beta quantiles.
_T = np.linspace(-3.2, 3.2, 161)
_NODES = 0.5 * (1 + np.tanh(0.5 * np.pi * np.sinh(_T)))
_WEIGHTS = np.cosh(_T) / np.cosh(0.5 * np.pi * np.sinh(_T)) ** 2
_WEIGHTS /= _WEIGHTS.sum()

_BLOCK = 1 << 13  # atoms looked at together: few enough for the processor's own memory

_TAIL = 1e-10  # what correlated values leave out at either end
# The normal distribution from -9 to 9 in so many steps a unit; as imaginary parts, its rises from
# each step to the next: both are found at once.
_STEPS = 2048
_CUMULATIVE = special.ndtr(np.arange(-9 * _STEPS, 9 * _STEPS + 1) / _STEPS)
_NORMAL = _CUMULATIVE + 1j * np.append(np.diff(_CUMULATIVE), 0.0)


def regions_of(
    distributions: Sequence[Marginal | None],
    pairs: Sequence[tuple[int, int]] | Indices,
    epsilon: float,
    correlation: Floats | None = None,
) -> Floats:
    """(P, 3) P(x < y - epsilon), P(within epsilon) and P(x > y + epsilon) for pairs of values x, y.

    Counts are summed over side by side, where they are correlated right to 1e-8; a pair's numbers
    do not depend on the other pairs.

    Args:
        pairs: indices into `distributions`.
        correlation: (P,) of each pair's normal scores, inside (-1, 1): the values are joined by a
            Gaussian copula, in which every atom of x stands at its middle. None: all independent.

    Raises:
        ValueError: the distribution of a pair is None, because its group is empty.
    """
    pairs = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    asked, of = np.unique(pairs, return_inverse=True)
    counts = [d for g in asked.tolist() if isinstance(d := distributions[g], FiniteMarginal)]
    if len(counts) < len(asked):
        rhos = [0.0] * len(pairs) if correlation is None else correlation.tolist()
        found = [
            _region(distributions[g1], distributions[g2], epsilon, rho)
            for (g1, g2), rho in zip(pairs.tolist(), rhos, strict=True)
        ]
        return np.array(found).reshape(-1, 3)
    first, second = of.reshape(-1, 2).T
    return _of_counts(counts, first, second, epsilon, correlation)


def _of_counts(
    distributions: Sequence[FiniteMarginal],
    first: Indices,
    second: Indices,
    epsilon: float,
    correlation: Floats | None,
) -> Floats:
    """(P, 3) sums over the atoms of every pair's first distribution."""
    tail = 0.0 if correlation is None else _TAIL
    spans = [(d.count, _span(d.count, tail)) for d in distributions]
    # All distributions in a row, without their tails: value and mass of every atom.
    low = np.array([span.start for _, span in spans])
    n = np.array([span.stop for _, span in spans]) - low
    begin = np.cumsum(n) - n
    columns = np.array([(d.right + d.size * d.offset, d.size) for d in distributions]).T
    known, size = np.repeat(columns, n, axis=1)
    value = (known + np.arange(n.sum()) - np.repeat(begin - low, n)) / size
    mass = np.concatenate([count.pmf[span] for count, span in spans])
    # P(count >= k) of these counts and of the next: one number more a distribution
    at_least = np.concatenate([c.at_least[span.start : span.stop + 1] for c, span in spans])
    shift = begin + np.arange(n.size) - low
    if correlation is not None:
        at_least = scores(at_least)
        middle = scores(np.concatenate([_middles(count)[span] for count, span in spans]))

    found = np.empty((first.size, 3))
    # both ends widen the band by SLACK
    of_y = np.array([*columns, columns[1] * (epsilon + SLACK)])
    for some in _blocks(n[first]):
        n_atoms, y = n[first[some]], second[some]
        starts = np.cumsum(n_atoms) - n_atoms
        atom = np.arange(n_atoms.sum()) + np.repeat(begin[first[some]] - starts, n_atoms)
        p = mass.take(atom)
        known, size, apart = (np.repeat(column[y], n_atoms) for column in of_y)
        low_y, last_y, shift_y = (np.repeat(row[y], n_atoms) for row in (low, low + n, shift))
        count = value.take(atom) * size - known  # of y, where it is as large as x
        ends = np.ceil(count - apart).astype(np.intp), np.floor(count + apart).astype(np.intp) + 1
        not_above, below = (
            at_least.take(np.minimum(np.maximum(end, low_y), last_y) + shift_y) for end in ends
        )
        if correlation is not None:  # P(y above something) given the score of x
            rho = correlation[some]
            slope, sharper = (np.repeat(r, n_atoms) for r in (rho, 1 / np.sqrt(1 - rho**2)))
            drift = slope * middle.take(atom)
            not_above, below = (_normal((z + drift) * sharper) for z in (not_above, below))
        is_less, is_not_more = (np.add.reduceat(p * part, starts) for part in (below, not_above))
        found[some, 0], found[some, 1] = is_less, is_not_more - is_less
        found[some, 2] = np.add.reduceat(p, starts) - is_not_more
    np.maximum(found, 0.0, out=found)
    probabilities: Floats = found / found.sum(axis=1, keepdims=True)
    return probabilities


def _span(count: CountDistribution, tail: float) -> slice:
    """The numbers between two tails of at most `tail` each."""
    if not tail:
        return slice(count.low, count.high + 1)
    # at_least descends
    low, end = np.searchsorted(-count.at_least, [tail - 1, -tail], side="right").tolist()
    return slice(low - 1, end)


def _middles(count: CountDistribution) -> Floats:
    """The probability of what lies below the middle of each atom."""
    middle: Floats = 1 - (count.at_least[:-1] + count.at_least[1:]) / 2
    return middle


def _normal(z: Floats) -> Floats:
    """P(x < z) of standard normal x, right to 1e-8, in a third of the time of `special.ndtr`."""
    steps = z * _STEPS + 9 * _STEPS
    at = steps.astype(np.intp)
    near = _NORMAL.take(at, mode="clip")
    found: Floats = near.real + (steps - at) * near.imag
    return found


def _region(
    first: Marginal | None, second: Marginal | None, epsilon: float, correlation: float
) -> Region:
    if first is None or second is None:
        raise ValueError("a group without items cannot be compared; leave it out.")
    if (
        not correlation
        and isinstance(first, BetaMarginal)
        and isinstance(second, BetaMarginal)
        and first.offset == second.offset
    ):
        less, more = _less(first, second, epsilon), _less(second, first, epsilon)
        return less, max(0.0, 1 - less - more), more
    x, mass = first.atoms()
    # reaches and exceeds widen the band by SLACK to both sides
    not_above = second.reaches(x - epsilon)
    below = second.exceeds(x + epsilon)
    if correlation:
        z = scores(np.cumsum(mass) - mass / 2)
        drift, sharper = correlation * z, 1 / np.sqrt(1 - correlation**2)
        not_above, below = (special.ndtr((scores(p) + drift) * sharper) for p in (not_above, below))
    parts = np.array([mass @ below, mass @ (not_above - below), mass @ (1 - not_above)])
    p_below, p_within, p_above = (parts / parts.sum()).tolist()
    return p_below, p_within, p_above


def _less(x: BetaMarginal, y: BetaMarginal, epsilon: float) -> float:
    """P(x < y - epsilon), integrated over the narrower one, so that the other one is smooth."""
    if x.variance < y.variance:
        x, y = BetaMarginal(y.b, y.a), BetaMarginal(x.b, x.a)  # 1 - y < 1 - x - epsilon
    start = float(special.betainc(y.a, y.b, epsilon))  # below, x would be negative
    drawn = special.betaincinv(y.a, y.b, start + (1 - start) * _NODES)
    below = special.betainc(x.a, x.b, np.clip(drawn - epsilon, 0.0, 1.0))
    return float((1 - start) * (_WEIGHTS @ below))


def _blocks(n_atoms: Indices) -> Iterator[slice]:
    """Runs of pairs with at most `_BLOCK` atoms together, at least one pair each."""
    upto, start = np.cumsum(n_atoms), 0
    while start < upto.size:
        done = upto[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(upto, done + _BLOCK, side="right")))
        yield slice(start, end)
        start = end
