"""How the distribution of a group's value is worked out: exactly where it is known, else drawn."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Counts, cells_of, group_size, starts, unlabelled
from worker.core.posterior.binned import LARGEST_EXACT, binned_distribution, step_of
from worker.core.posterior.count_mixtures import (
    mixed_distribution,
    mixed_distributions,
    mixed_distributions_after,
)
from worker.core.posterior.counts import BoundedCache, CountDistribution, distribution_of
from worker.core.posterior.differences import distribution_of_difference
from worker.core.posterior.drawing import N_DRAWS, draw, draw_ratio, joint_draws
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.marginals import BetaMarginal, FiniteMarginal, Marginal, SampledMarginal
from worker.core.posterior.metrics import AFFINE, RATIOS, Errors
from worker.core.posterior.mixing import distribution_in_doubt, weighed
from worker.core.posterior.moments import moments

Floats = NDArray[np.float64]

_MANY = 1000
_KEPT_FLOATS = 1 << 23  # 64 MiB; a pool of a million items takes a quarter of it
_distributions = BoundedCache(_KEPT_FLOATS)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of a group whose value is offset + (right + answers to come) / size.

    left: (c,) items. a, c: (c, U) Betas of the answers that raise the value, labels included: the
    right ones, or for the bias the wrong ones. weight: (U,) of the components. right: labelled.
    """

    left: NDArray[np.int64]
    a: Floats
    c: Floats
    weight: Floats
    right: float
    size: int
    offset: float


def distribution_of_group(b: Belief, g: int) -> Marginal:
    """The distribution of a group with items; while it is kept, one object for the same tally."""
    if b.variants:
        return distribution_in_doubt(
            [(weight, distribution_of_group(variant, g)) for weight, variant in weighed(b)]
        )
    if b.metric.kind == "difference":
        return _difference(b, g)
    if not _is_exact(b, g):
        return _sampled(b, g)
    if b.population == "infinite":
        cells = _cells(b, g)
        return BetaMarginal(float(cells.a[0, 0]), float(cells.c[0, 0]), cells.offset)
    key = _key(b, g)
    distribution: FiniteMarginal | None = _distributions.get(key)
    if distribution is None:
        cells = _cells(b, g)
        distribution = _finite(cells)
        _distributions.put(key, distribution, distribution.n_floats + cells.a.size)
    return distribution


def distributions_of_groups(b: Belief, groups: Sequence[int]) -> list[Marginal]:
    """`distribution_of_group` of each.

    Of more than 1,000 those of cells that share components are worked out together: one after the
    other, ten thousand take a second. Their sums are formed in another order, so that a probability
    may differ from that of `distribution_of_group` by some 1e-16.
    """
    are_counted = all(_is_counted(b, g) for g in groups) if len(groups) > _MANY else False
    if b.mixture.size == 1 or b.variants or not are_counted:
        return [distribution_of_group(b, g) for g in groups]
    keys = [_key(b, g) for g in groups]
    distributions: list[Marginal | None] = [_distributions.get(key) for key in keys]
    new = [i for i, d in enumerate(distributions) if d is None]
    if len(new) > _MANY:
        for i, distribution in zip(new, _worked_out(b, np.array(groups)[new]), strict=True):
            _distributions.put(
                keys[i], distribution, distribution.n_floats + b.alpha[cells_of(b, groups[i])].size
            )
            distributions[i] = distribution
    return [d or distribution_of_group(b, g) for g, d in zip(groups, distributions, strict=True)]


def _worked_out(b: Belief, groups: NDArray[np.intp]) -> Iterator[FiniteMarginal]:
    begins, sizes = starts(b), group_size(b)[groups].tolist()
    n_cells = begins[groups + 1] - begins[groups]
    of = np.repeat(np.arange(groups.size), n_cells)
    begin = np.cumsum(n_cells) - n_cells
    cells = np.arange(of.size) + np.repeat(begins[groups] - begin, n_cells)
    a, c, done, offset = _raising(b, cells)
    known = np.add.reduceat(done, begin).tolist()
    offsets = np.add.reduceat(offset, begin).tolist()
    counts = mixed_distributions(unlabelled(b)[cells], a, c, of, moments(b).weight[groups])
    for count, right, score, size in zip(counts, known, offsets, sizes, strict=True):
        yield FiniteMarginal(count, float(right), size, _offset(b, score, size))


def distributions_after(b: Belief, cell: int) -> tuple[Marginal, Marginal]:
    """Distributions of the value of a cell's group after a right, and after a wrong label in it.

    Where they are exact and the cells share components, both are worked out together, and without
    the beliefs that they belong to.

    Raises:
        ValueError: the cell has no unlabelled items.
    """
    g = int(b.group[cell])
    if b.mixture.size == 1 or not _is_counted(b, g) or not unlabelled(b)[cell]:
        right, wrong = (distribution_of_group(labelled(b, cell, outcome), g) for outcome in (0, 1))
        return right, wrong
    cells = _cells(b, g)
    counts = mixed_distributions_after(
        cells.left, cells.a, cells.c, cells.weight, cell - cells_of(b, g).start
    )
    more, same = (
        FiniteMarginal(count, cells.right + one, cells.size, cells.offset)
        for count, one in zip(counts, (1, 0), strict=True)
    )
    return (same, more) if b.metric.kind == "bias" else (more, same)


def _is_exact(b: Belief, g: int) -> bool:
    """Whether the value is affine in a count, or in one Beta."""
    if b.accuracies or b.metric.kind not in (
        *AFFINE,
        "confusion",
    ):  # of a confusion matrix it is the accuracy
        return False
    cells = cells_of(b, g)
    return b.population == "finite" or (cells.stop - cells.start) * b.mixture.size == 1


def _is_counted(b: Belief, g: int) -> bool:
    """Whether the value is affine in a count of which every number has its probability."""
    return _is_exact(b, g) and unlabelled(b)[cells_of(b, g)].sum() <= LARGEST_EXACT


def _prior_key(b: Belief) -> bytes:
    """What a distribution depends on beside its group's tally: a digest of pool, prior, metric.

    Compared with the numbers themselves, group by group, it spares a turn some milliseconds.
    """
    if "prior_key" not in b._memo:
        digest = blake2b(b.metric.kind.encode(), digest_size=16)
        for array in (b.group, b.size, b.alpha, b.beta, b.mixture, b.metric.score):
            # counts of other types, and strides, must not look alike
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        b._memo["prior_key"] = digest.digest()
    key: bytes = b._memo["prior_key"]
    return key


def _cells(b: Belief, g: int) -> _Cells:
    cells = cells_of(b, g)
    size = int(group_size(b)[g])
    weight = moments(b).weight[g] if b.mixture.size > 1 else b.mixture
    a, c, done, scores = _raising(b, cells)
    offset = _offset(b, float(scores.sum()), size)
    return _Cells(unlabelled(b)[cells], a, c, weight, float(done.sum()), size, offset)


def _raising(b: Belief, cells: slice | NDArray[np.intp]) -> tuple[Floats, Floats, Counts, Floats]:
    """Of some cells: the Betas' parameters, the labels that raise the value, and summed scores."""
    a, c = b.alpha[cells] + b.right[cells, None], b.beta[cells] + b.wrong[cells, None]
    if b.metric.kind == "bias":  # s - theta = (s - 1) + (1 - theta)
        return c, a, b.wrong[cells], np.nan_to_num(b.metric.score[cells]) * b.size[cells]
    return a, c, b.right[cells], np.zeros(len(a))


def _offset(b: Belief, scores: float, size: int) -> float:
    return scores / size - 1.0 if b.metric.kind == "bias" else 0.0


def _key(b: Belief, g: int) -> Hashable:
    own = cells_of(b, g)
    return _prior_key(b), g, b.right[own].tobytes(), b.wrong[own].tobytes()


def _finite(cells: _Cells) -> FiniteMarginal:
    """Exact, but of a very large group, whose distribution is counted in larger steps."""
    step = step_of(int(cells.left.sum()))
    if step == 1:
        return FiniteMarginal(_count(cells), cells.right, cells.size, cells.offset)
    count = binned_distribution(cells.left, cells.a, cells.c, cells.weight, step)
    return FiniteMarginal(count, cells.right / step, cells.size / step, cells.offset)


def _count(cells: _Cells) -> CountDistribution:
    if cells.weight.size > 1:
        return mixed_distribution(cells.left, cells.a, cells.c, cells.weight)
    columns = cells.left.tolist(), cells.a[:, 0].tolist(), cells.c[:, 0].tolist()
    return distribution_of(tuple(cell for cell in zip(*columns, strict=True) if cell[0]))


def _difference(b: Belief, g: int) -> FiniteMarginal:
    """How far it is exact says `worker.core.posterior.differences`."""
    own, errors = cells_of(b, g), b.errors
    assert errors is not None, "checked when the belief was made"
    key = _key(b, g), errors.counts[own].tobytes(), b.metric.common[g].tobytes()
    distribution: FiniteMarginal | None = _distributions.get(key)
    if distribution is None:
        weight, left = moments(b).weight[g], int(unlabelled(b)[own].sum())
        count = distribution_of_difference(weight, moments(b).to_come[:, g], left)
        known = float(b.right[own].sum() - errors.counts[own, 0].sum() - left)
        distribution = FiniteMarginal(count, known, int(group_size(b)[g]))
        _distributions.put(key, distribution, distribution.n_floats + b.alpha[own].size)
    return distribution


def _sampled(b: Belief, g: int) -> SampledMarginal:
    if b.metric.pooled or b.accuracies or b.metric.classes == "each":
        return SampledMarginal(np.sort(joint_draws(b)[:, g]))
    part = _only(b, g, cells_of(b, g))
    m, errors = part.metric, part.errors
    arrays = (
        part.size, part.right, part.wrong, part.alpha, part.beta, part.mixture, m.score, m.unit,
        m.values, *((errors.counts, errors.prior, errors.common) if errors else ()),
    )  # fmt: skip
    weight = moments(b).weight[g] if m.kind in RATIOS else part.mixture
    key = g, b.population, m.kind, m.classes, *(array.tobytes() for array in (*arrays, weight))
    distribution = _distributions.get(key)
    if distribution is None:
        # a stream of its own for every group: they are independent
        rng = np.random.default_rng([N_DRAWS, g])
        is_ratio = m.kind in RATIOS
        values = draw_ratio(part, weight, rng) if is_ratio else draw(part, rng, N_DRAWS)[:, 0]
        distribution = SampledMarginal(np.sort(values))
        _distributions.put(key, distribution, N_DRAWS + part.alpha.size)
    kept: SampledMarginal = distribution
    return kept


def _only(b: Belief, g: int, cells: slice) -> Belief:
    """The belief about one group alone."""
    m, errors = b.metric, b.errors
    return Belief(
        np.zeros(cells.stop - cells.start, np.int64), b.size[cells], b.right[cells],
        b.wrong[cells], b.alpha[cells], b.beta[cells], 1, b.population,
        b.mixture if b.mixture.ndim == 1 else b.mixture[g],
        replace(m, score=m.score[cells], unit=m.unit[cells], values=m.values[cells]),
        Errors(errors.counts[cells], errors.prior[cells], errors.common) if errors else None,
    )  # fmt: skip
