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
from worker.core.posterior.counts import CountLaw, law_of_masses
from worker.core.posterior.marginals import FiniteMarginal, Marginal, SampledMarginal
from worker.core.posterior.supposing import retallied

Floats = NDArray[np.float64]
N_QUANTILES = 2000


def with_variants(b: Belief, tallies: Sequence[NDArray[np.int64]]) -> Belief:
    """The belief with so many equally likely tallies instead of its own, which stays the likeliest.

    Args:
        tallies: (C, 1 + L) each, as of `retallied`; equal ones share their work.
    """
    made: dict[bytes, Belief] = {}
    variants = []
    for counts in tallies:
        key = counts.tobytes()
        if key not in made:
            made[key] = retallied(b, counts)
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


def law_in_doubt(laws: Sequence[tuple[float, Marginal]]) -> Marginal:
    """The law of a value that follows each of `laws` with its probability."""
    counts = [(w, law) for w, law in laws if isinstance(law, FiniteMarginal)]
    if len(counts) == len(laws):
        return _mixed_counts(counts)
    of_each = np.array([w for w, _ in laws])
    upto = np.rint(np.cumsum(of_each) * N_QUANTILES).astype(int)
    sizes = np.diff(upto, prepend=0)
    values = [
        law.quantiles((np.arange(n) + 0.5) / n)
        for (_, law), n in zip(laws, sizes.tolist(), strict=True)
        if n
    ]
    return SampledMarginal(np.sort(np.concatenate(values)))


def _mixed_counts(laws: Sequence[tuple[float, FiniteMarginal]]) -> FiniteMarginal:
    """Counts of one group: the same items and offset, other answers known and to come.

    In very large groups they are counted in steps of several items, between which what is known
    may lie: a law is then shared between the steps below and above, so that its mean stays.
    """
    first = laws[0][1]
    right = min(law.right for _, law in laws)
    pmf = np.zeros(max(ceil(law.right - right) + law.law.pmf.size for _, law in laws))
    for weight, law in laws:
        below, above = floor(law.right - right), ceil(law.right - right)
        part = law.right - right - below
        pmf[below : below + law.law.pmf.size] += weight * (1 - part) * law.law.pmf
        pmf[above : above + law.law.pmf.size] += weight * part * law.law.pmf
    count: CountLaw = law_of_masses(pmf)
    return FiniteMarginal(count, right, first.size, first.offset)
