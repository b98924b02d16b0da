"""Beliefs whose labels are in doubt: mixtures over equally likely tallies.

Where several annotators contradict each other nobody knows the outcome of every labelled item.
Fractional counts would take their doubt for knowledge, so a belief then carries whole tallies,
drawn from what is known of items, annotators and classifier together (`worker.core.crowd`), and
everything that is said of the groups is the mean over them.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.counts import CountDistribution, distribution_of_masses
from worker.core.posterior.hypothetical import with_counts
from worker.core.posterior.marginals import FiniteMarginal, Marginal, SampledMarginal

Floats = NDArray[np.float64]
N_QUANTILES = 2000


def with_variants(b: Belief, tallies: Sequence[NDArray[np.int64]]) -> Belief:
    """The belief with so many equally likely tallies instead of its own, which stays the likeliest.

    Args:
        tallies: (C, 1 + L) each, as of `with_counts`; equal ones share their work.
    """
    made: dict[bytes, Belief] = {}
    variants = []
    for counts in tallies:
        key = counts.tobytes()
        if key not in made:
            made[key] = with_counts(b, counts)
        variants.append(made[key])
    if len(made) == 1:
        return variants[0]
    return replaced(b, variants=tuple(variants), _memo={})


def likeliest(b: Belief) -> Belief:
    """The belief with its likeliest tally for certain: to choose by, never to decide by."""
    return replaced(b, variants=(), _memo={}) if b.variants else b


def weighed(b: Belief) -> Iterator[tuple[float, Belief]]:
    """The different tallies of a belief, and their probabilities."""
    times: dict[int, tuple[int, Belief]] = {}
    for variant in b.variants or (b,):
        n, _ = times.get(id(variant), (0, variant))
        times[id(variant)] = n + 1, variant
    total = max(1, len(b.variants))
    for n, variant in times.values():
        yield n / total, variant


def mixed(b: Belief, numbers: Callable[[Belief], Floats]) -> Floats:
    """The mean over the tallies of what a plain belief says."""
    parts = [weight * numbers(variant) for weight, variant in weighed(b)]
    total: Floats = np.sum(parts, axis=0)
    return total


def distribution_in_doubt(distributions: Sequence[tuple[float, Marginal]]) -> Marginal:
    """The distribution of a value that follows each of `distributions` with its probability."""
    counts = [(w, d) for w, d in distributions if isinstance(d, FiniteMarginal)]
    if len(counts) == len(distributions):
        return _mixed_counts(counts)
    of_each = np.array([w for w, _ in distributions])
    upto = np.rint(np.cumsum(of_each) * N_QUANTILES).astype(int)
    sizes = np.diff(upto, prepend=0)
    values = [
        d.quantiles((np.arange(n) + 0.5) / n)
        for (_, d), n in zip(distributions, sizes.tolist(), strict=True)
        if n
    ]
    return SampledMarginal(np.sort(np.concatenate(values)))


def _mixed_counts(distributions: Sequence[tuple[float, FiniteMarginal]]) -> FiniteMarginal:
    """Counts of one group: the same items and offset, other answers known and to come.

    In very large groups they are counted in steps of several items, between which what is known
    may lie: a distribution is then shared between the steps below and above, so that its mean
    stays.
    """
    first = distributions[0][1]
    right = min(d.right for _, d in distributions)
    pmf = np.zeros(max(ceil(d.right - right) + d.count.pmf.size for _, d in distributions))
    for weight, d in distributions:
        below, above = floor(d.right - right), ceil(d.right - right)
        part = d.right - right - below
        pmf[below : below + d.count.pmf.size] += weight * (1 - part) * d.count.pmf
        pmf[above : above + d.count.pmf.size] += weight * part * d.count.pmf
    count: CountDistribution = distribution_of_masses(pmf)
    return FiniteMarginal(count, right, first.size, first.offset)
