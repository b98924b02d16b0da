"""Cuts a pool that several models predict into cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.views import Layout
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool.groups import PRODUCT, equal_mass_thresholds, group_codes
from worker.pool.models import ALL_ITEMS, SHARED, Models, blocks_of
from worker.pool.models_reading import Said
from worker.pool.models_sharing import Drawn, alone, only_these, ways_together

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CELLS = 20_000  # rows of a view: each is a cell of a belief
# Where cells are scarce, more products of their own tell more than more strata of a few: found on
# made-up pools of a hundred classes.
_STRATA_IF_SCARCE = 2
_USUAL = 8  # items of a cell, in products of groups that have so many


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The items cut up: their codes and cells, and what is known of the cells."""

    code: NDArray[np.int32]  # (n,)
    cell: NDArray[np.int32]  # (n,)
    cell_group: NDArray[np.int32]
    group_names: tuple[str, ...]
    models: Models


def cut(plan: Plan, said: Said) -> Cut:
    """Cut the items into cells: group, pattern of agreement, stratum of the scores.

    The groups are those that the models share (to compare them), or the products of each one's own
    (to identify). Strata are of the difference of the scores' logits where models disagree, of
    their mean where they agree; where labels of agreement tell nothing, there is one. If even with
    one stratum there are more than 20,000 cells, rare products share cells
    (`worker.pool.models_sharing`); else every portion is a cell.

    Raises:
        PredictionsError: a view has more than 20,000 rows, however cells are shared.
    """
    assert plan.models is not None, "asked of a plan with several models"
    own, names = _own_groups(plan, said)
    group = own[0].astype(np.int64)
    for more, of in zip(own[1:], names[1:], strict=True):
        _, group = np.unique(group * len(of) + more, return_inverse=True)
    block = blocks_of(said.predicted)
    drawn = _drawn(plan, said, block, own, group)
    _, first, portion = np.unique(drawn.portion, return_index=True, return_inverse=True)
    portion = portion.reshape(-1)
    size = np.bincount(portion)
    logit = np.stack([_mean(said.logit[:, m], portion, size) for m in range(block.shape[1])], 1)
    tuples, code = np.unique(said.predicted, axis=0, return_inverse=True)
    code = code.reshape(-1)
    portion_of_code = None
    if drawn.n_alone < drawn.n_cells:
        codes, code = np.unique(code * size.size + portion, return_inverse=True)
        tuples, portion_of_code = tuples[codes // size.size], codes % size.size
    times = 1 if len(own) > 1 else len(plan.models)  # one grouping is every model's
    models = Models(
        tuple(model.name for model in plan.models),
        tuples.astype(np.int64),
        Layout(size, block[first], logit, None if portion_of_code is None else drawn.cell[first]),
        np.stack([one[first] for one in own] * times, 1).astype(np.int64),
        tuple(tuple(n) for n in names * times),
        int((block.max(axis=1) == 0).sum()),
        portion_of_code,
    )
    single = first[drawn.cell[first] < drawn.n_alone]  # an item of each cell of one product
    present = np.unique(group[single])
    product: dict[int, str] = {}
    for g, at in zip(group[single].tolist(), single.tolist(), strict=True):
        product.setdefault(g, PRODUCT.join(n[o[at]] for n, o in zip(names, own, strict=True)))
    shared = drawn.n_cells - drawn.n_alone
    cell_group = np.append(np.searchsorted(present, group[single]), np.full(shared, present.size))
    return Cut(
        code.astype(np.int32),
        drawn.cell.astype(np.int32),
        cell_group.astype(np.int32),
        (*(product[g] for g in present.tolist()), *((SHARED,) if shared else ())),
        models,
    )


def _own_groups(plan: Plan, said: Said) -> tuple[list[NDArray[np.int32]], list[tuple[str, ...]]]:
    """The group of every item, and the groups' names: one grouping for all models, or each own."""
    if plan.question.task != "compare":
        groupings = [group_codes(plan.pool.factors, one) for one in said.predictions]
        return [g[0] for g in groupings], [g[1] for g in groupings]
    if plan.question.where == "overall":
        return [np.zeros(len(said.predicted), np.int32)], [(ALL_ITEMS,)]
    codes, named = group_codes(plan.pool.factors, said.predictions[0])
    return [codes], [named]


def _drawn(
    plan: Plan, said: Said, block: Ints, own: Sequence[NDArray[np.int32]], group: Ints
) -> Drawn:
    """The finest of the ways to draw the items in which no view has too many rows."""
    fewest: int | None = None
    for drawn in _ways(plan, said, block, own, group):
        if drawn.n_rows <= MOST_CELLS:
            return drawn
        fewest = min(fewest or drawn.n_rows, drawn.n_rows)
    asked = "the groups of one model" if len(own) > 1 else "the groups, where models disagree,"
    raise PredictionsError(
        f"models: {asked} have to be told apart in {fewest:,} places, and at most {MOST_CELLS:,} "
        "can be kept apart; group by something coarser (`pool.groups`: superclass(map.csv), or a "
        "column)"
    )


def _ways(
    plan: Plan, said: Said, block: Ints, own: Sequence[NDArray[np.int32]], group: Ints
) -> Iterator[Drawn]:
    """The ways to draw the items, the finest first."""
    is_identified = plan.question.task == "identify"
    pattern = np.unique(block, axis=0, return_inverse=True)[1].reshape(-1)
    products = np.unique(group * (pattern.max() + 1) + pattern, return_inverse=True)[1].reshape(-1)
    is_few = int(products.max()) < MOST_CELLS
    if is_identified and not is_few:
        strata = min(plan.pool.strata, _STRATA_IF_SCARCE)
        fine = _fine(said.logit, block, pattern, products, strata, is_identified)
        yield from ways_together(products, fine, pattern, own, said.logit, MOST_CELLS)
        return
    for strata in _fewer(plan.pool.strata):
        fine = _fine(said.logit, block, pattern, products, strata, is_identified)
        # Labels of agreement compare nothing: these items need no cells, if there are too many.
        yield alone(fine) if is_few else only_these(products, fine, (block != 0).any(axis=1))


def _fine(
    logit: Floats, block: Ints, pattern: Ints, products: Ints, n_strata: int, splits_agreement: bool
) -> Ints:
    """The cell of each item, (n,), if no cell is shared; ascending with the products."""
    stratum = _strata(logit, block, pattern, n_strata, splits_agreement)
    fine: Ints = products * n_strata + _coarser(stratum, products, n_strata)
    return fine


def _strata(
    logit: Floats, block: Ints, pattern: Ints, n_strata: int, splits_agreement: bool
) -> Ints:
    stratum = np.zeros(len(pattern), dtype=np.int64)
    outside = block != 0
    rest = np.where(outside, logit, 0.0).sum(axis=1) / np.maximum(outside.sum(axis=1), 1)
    inside = np.where(outside, 0.0, logit).sum(axis=1) / (~outside).sum(axis=1)
    surer = inside - np.where(outside.any(axis=1), rest, 0.0)
    for p in np.unique(pattern):
        own = pattern == p
        if not outside[own].any() and not splits_agreement:
            continue
        thresholds = equal_mass_thresholds(surer[own], n_strata)
        stratum[own] = np.searchsorted(thresholds, surer[own], side="right")
    return stratum


def _coarser(stratum: Ints, products: Ints, n_strata: int) -> Ints:
    """Strata joined with their neighbours where products of groups hold few items."""
    size = np.bincount(products)
    joined = np.ceil(n_strata * _USUAL / np.maximum(size, 1)).clip(1, n_strata).astype(np.int64)
    coarser: Ints = stratum // joined[products]
    return coarser


def _fewer(strata: int) -> Iterator[int]:
    while strata > 1:
        yield strata
        strata //= 2
    yield 1


def _mean(values: Floats, cell: Ints, size: Ints) -> Floats:
    means: Floats = np.bincount(cell, weights=values, minlength=size.size) / size
    return means
