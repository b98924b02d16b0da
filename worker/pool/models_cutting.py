"""Cuts a pool that several models predict into cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.views import Layout
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool.groups import PRODUCT, equal_mass_thresholds, group_codes
from worker.pool.models import ALL_ITEMS, Models, blocks_of
from worker.pool.models_reading import Said
from worker.pool.models_strata import cut_into_strata

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CELLS = 20_000
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
    their mean where they agree; where labels of agreement tell nothing, there is one. There are as
    many strata as 20,000 cells have room for.

    Raises:
        PredictionsError: even with one stratum there are more cells.
    """
    assert plan.models is not None, "asked of a plan with several models"
    if plan.question.of == "models":
        return _into_strata(plan, said)
    own, names = _own_groups(plan, said)
    group = own[0].astype(np.int64)
    for more, of in zip(own[1:], names[1:], strict=True):
        _, group = np.unique(group * len(of) + more, return_inverse=True)
    block = blocks_of(said.predicted)
    _, first, cell = np.unique(
        _finest(plan, said, block, group), return_index=True, return_inverse=True
    )
    size = np.bincount(cell)
    logit = np.stack([_mean(said.logit[:, m], cell, size) for m in range(block.shape[1])], 1)
    tuples, code = np.unique(said.predicted, axis=0, return_inverse=True)
    times = 1 if len(own) > 1 else len(plan.models)  # one grouping is every model's
    models = Models(
        tuple(model.name for model in plan.models),
        tuples.astype(np.int64),
        Layout(size, block[first], logit),
        np.stack([one[first] for one in own] * times, 1).astype(np.int64),
        tuple(tuple(n) for n in names * times),
        int((block.max(axis=1) == 0).sum()),
    )
    _, an_item, cell_group = np.unique(group[first], return_index=True, return_inverse=True)
    products = tuple(
        PRODUCT.join(n[o[at]] for n, o in zip(names, own, strict=True))
        for at in first[an_item].tolist()
    )
    return Cut(
        code.reshape(-1).astype(np.int32),
        cell.reshape(-1).astype(np.int32),
        cell_group.astype(np.int32),
        products,
        models,
    )


def _into_strata(plan: Plan, said: Said) -> Cut:
    """To find the best of the models."""
    code, cell, models = cut_into_strata(plan, said)
    group = np.zeros(models.layout.size.size, dtype=np.int32)
    return Cut(code.astype(np.int32), cell.astype(np.int32), group, (ALL_ITEMS,), models)


def _own_groups(plan: Plan, said: Said) -> tuple[list[NDArray[np.int32]], list[tuple[str, ...]]]:
    """The group of every item, and the groups' names: one grouping for all models, or each own."""
    if plan.question.task != "compare":
        groupings = [group_codes(plan.pool.factors, one) for one in said.predictions]
        return [g[0] for g in groupings], [g[1] for g in groupings]
    if plan.question.where == "overall":
        return [np.zeros(len(said.predicted), np.int32)], [(ALL_ITEMS,)]
    codes, named = group_codes(plan.pool.factors, said.predictions[0])
    return [codes], [named]


def _finest(plan: Plan, said: Said, block: Ints, group: Ints) -> Ints:
    """(n,) the cell of every item, ascending with groups; as many strata as there is room for."""
    is_identified = plan.question.task == "identify"
    pattern = np.unique(block, axis=0, return_inverse=True)[1].reshape(-1)
    found, products = np.unique(group * (pattern.max() + 1) + pattern, return_inverse=True)
    if found.size > MOST_CELLS:
        raise PredictionsError(
            f"models: their groups and where they agree make {found.size:,} products, and at most "
            f"{MOST_CELLS:,} can be told apart; group by something coarser (`pool.groups`: "
            "superclass(map.csv), or a column)"
        )
    products = products.reshape(-1)
    for strata in _fewer(plan.pool.strata):
        stratum = _strata(said.logit, block, pattern, strata, is_identified)
        fine: Ints = products * strata + _coarser(stratum, products, strata)
        if np.unique(fine).size <= MOST_CELLS:
            break
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
