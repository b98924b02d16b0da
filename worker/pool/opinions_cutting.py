"""Cuts every group into strata by the score and the opinions together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.pool.groups import cell_codes
from worker.pool.means import logits
from worker.pool.opinions_reading import Opinion
from worker.pool.ordering import Ints, counted, dense, parts

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_BY_SCORE = 4  # bins of the score, where opinions have as many as there is room for
_MANY = 8_000  # strata; of more there are half as many, so that a turn takes hardly longer
_USUAL = 4  # items of a stratum, in groups that have few
# How much of an item's weight in a cut is even: what is said to be sure may be wrong.
_EVEN = 0.05
# What is said is held for less sure than it claims, as most classifiers are surer than right.
_TEMPERED = 0.6
# How far apart its first and last bin are, where the score's are by 1: strata in which an opinion
# agrees are joined last with those in which it does not, those of any number or category first.
_OF_AGREEMENT, _OF_ANYTHING = 10.0, 0.25


def cell_codes_by_opinions(
    group: Codes,
    unit: Codes,
    score: NDArray[np.floating],
    opinions: Sequence[Opinion],
    n_strata: int,
) -> tuple[Codes, Codes, Codes]:
    """As `worker.pool.groups.cell_codes`, with strata by the score and what the opinions say.

    Strata are products of a few bins of each, cut where the standard deviations of right and wrong
    add up to equal parts, if what is said were nearly true; the smallest ones are joined with their
    neighbours, until a group has no more than `n_strata` (a unit of it, where it has units; half as
    many where there are thousands of groups), of four items on average.

    Args:
        score: (n,) in [0, 1]; NaN if there are none.

    Source:
        Dalenius & Hodges, "Minimum variance stratification" (1959): equal parts of the cumulated
        root of the density; here of sqrt(p (1 - p)), which is what a stratum adds to an error.
    """
    has_scores = not np.isnan(score[0])
    n_units = int(unit.max(initial=0)) + 1
    n_places = np.unique(group).size * n_units
    if n_places * n_strata > _MANY:
        n_strata = max(min(2, n_strata), n_strata // 2)
    of_all = n_strata / _BY_SCORE if has_scores else n_strata
    each = max(2, round(of_all ** (1 / len(opinions))))
    axes = [_bins(one, each) for one in opinions]
    widths = [int(axis.max()) + 1 for axis in axes]
    if prod(widths) == 1:  # they say the same of all items
        alone = n_strata // 2 if n_strata > 2 else n_strata
        return cell_codes(group, unit, score, alone if has_scores else 1)
    reach = [_reach(one) for one in opinions]
    if has_scores:
        most = min(max(_BY_SCORE, n_strata // prod(widths)), max(2, n_strata // 2))
        axes.insert(0, _cut(logits(score), most))
        widths.insert(0, int(axes[0].max()) + 1)
        reach.insert(0, 1.0)

    def codes_of(part: slice) -> Ints:
        place = group[part].astype(np.int64) * n_units + unit[part]
        return reduce(
            lambda code, of: code * of[1] + of[0][part], zip(axes, widths, strict=True), place
        )

    fine, code = dense(group.size, codes_of)
    size = counted(code, fine.size)
    place, coordinates = fine.copy(), []
    for width, far in zip(reversed(widths), reversed(reach), strict=True):
        place, coordinate = np.divmod(place, width)
        coordinates.append(far * coordinate / max(width - 1, 1))
    at = np.stack(coordinates, axis=1)
    joined = _joined(place, size, at, n_strata)
    kept, which = np.unique(joined, return_inverse=True)
    cell = np.empty(group.size, dtype=np.int32)
    for part in parts(group.size):
        cell[part] = which[code[part]]
    cell_group, cell_unit = np.divmod(place[kept], n_units)
    return cell, cell_group.astype(np.int32), cell_unit.astype(np.int32)


def _reach(opinion: Opinion) -> float:
    return _OF_ANYTHING if opinion.agrees is None else _OF_AGREEMENT


def _bins(opinion: Opinion, n: int) -> NDArray[np.int16]:
    """(N,) the bin of every item, 0 where the opinion says nothing if there are such."""
    missing = opinion.is_missing
    if opinion.code is not None:
        return (opinion.code + int(missing.any())).astype(np.int16)
    value = opinion.value
    if opinion.agrees is None:
        found = _cut(value, n, is_even=True)
    else:
        found = np.zeros(value.size, dtype=np.int16)
        upto = 0
        for own, most in ((~opinion.agrees, n // 2), (opinion.agrees, n - n // 2)):
            own = own & ~missing
            if own.any():
                found[own] = upto + _cut(value[own], most)
                upto = int(found[own].max()) + 1
    found[missing] = -1
    return found + np.int16(missing.any())


def _cut(logit: NDArray[np.float32], n: int, *, is_even: bool = False) -> NDArray[np.int16]:
    """(N,) at most n bins of logits (N,), NaN in any; equal values stay together."""
    there = logit[~np.isnan(logit)]
    values, count = np.unique(there, return_counts=True)
    weight = count.astype(np.float64)
    if not is_even:
        p = special.expit(_TEMPERED * values.astype(np.float64))
        weight *= np.sqrt(p * (1 - p)) + _EVEN
    upto = np.cumsum(weight)
    ends = np.searchsorted(upto, upto[-1] * np.arange(1, n) / n) + 1
    thresholds = values[np.unique(ends[ends < values.size])]
    return np.searchsorted(thresholds, logit, side="right").astype(np.int16)


def _joined(place: Ints, size: Ints, at: Floats, most: int) -> Ints:
    """(F,) of every fine stratum the one that stands for it, itself or another of its place.

    Args:
        place: (F,) ascending. size: (F,) items. at: (F, D) where it lies among the others.
    """
    begin = np.flatnonzero(np.diff(place, prepend=-1))
    joined = np.arange(place.size)
    for start, stop in zip(begin, [*begin[1:], place.size], strict=True):
        here = slice(start, stop)
        n = max(1, min(most, int(size[here].sum()) // _USUAL))
        joined[here] = start + _of_place(size[here].astype(np.float64), at[here], n)
    return joined


def _of_place(size: Floats, at: Floats, n: int) -> Ints:
    """(f,) which of the fine strata of one place stands for each, when n are left at most."""
    stands, size, at = np.arange(size.size), size.copy(), at.copy()
    left = stands.copy()
    while left.size > n:
        least = left[size[left].argmin()]
        others = left[left != least]
        away = np.abs(at[others] - at[least]).sum(axis=1)
        near = others[np.lexsort((size[others], away))[0]]
        both = size[near] + size[least]
        at[near] = (size[near] * at[near] + size[least] * at[least]) / both
        size[near] = both
        stands[stands == least] = near
        left = others
    return stands
