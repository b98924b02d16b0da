"""Reads what several models say of the same items, and checks that they are the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan import Plan
from worker.plan.models_part import ModelPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.means import LEAST_OPINION
from worker.pool.predictions import Predictions, read_predictions
from worker.pool.tables import Wanted, column_names, pieces
from worker.pool.texts import Texts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What M models say of n items, in the order of the first one's file.

    predicted, logit: (n, M); the logit is 0 where a model gives no scores.
    """

    classes: tuple[str, ...]
    predicted: Ints
    logit: Floats
    predictions: tuple[Predictions, ...]  # in the order of the first one's file, too


def read_models(plan: Plan, first: Predictions) -> Said:
    """Read what the other models say, and put it in the order of the first one's items.

    Args:
        first: what the plan's `pool` says, which is the first model's.

    Raises:
        PredictionsError: a file cannot be read, misses items or has more, shows other content for
            an item, or knows other classes.
    """
    assert plan.models is not None, "asked of a plan with several models"
    ids = pa.concat_arrays(list(first.texts.ids()))
    found = [first]
    for model in plan.models[1:]:
        with closing(Texts()) as texts:
            own = read_predictions(_as_pool(plan.pool, model), texts)
            order = _matched(plan, model, ids, pa.concat_arrays(list(texts.ids())))
        _check_content(plan, model, ids)
        found.append(
            Predictions(
                own.path,
                own.classes,
                first.texts,
                own.predicted[order],
                own.score[order],
                first.columns,
            )
        )
    classes = _common_classes(plan, found)
    place = {name: k for k, name in enumerate(classes)}
    recoded = []
    for one in found:
        of = np.array([place[name] for name in one.classes], dtype=np.int32)
        predicted = of[one.predicted]
        recoded.append(Predictions(one.path, classes, one.texts, predicted, one.score, one.columns))
    clipped = [
        np.clip(one.score.astype(np.float64), LEAST_OPINION, 1 - LEAST_OPINION) for one in found
    ]
    logit = np.stack([np.nan_to_num(np.log(s / (1 - s))) for s in clipped], axis=1)
    every = np.stack([one.predicted for one in recoded], axis=1).astype(np.int64)
    return Said(classes, every, logit, tuple(recoded))


def _as_pool(pool: PoolPlan, model: ModelPlan) -> PoolPlan:
    """The plan of a pool with what one model says; without anything but its predictions."""
    return pool.model_copy(
        update={
            "predictions": model.predictions,
            "id": model.id or pool.id,
            "probabilities": model.probabilities,
            "predicted": model.predicted,
            "score": model.score,
            "groups": "predicted_class",
            "data": {},
        }
    )


def _matched(plan: Plan, model: ModelPlan, ids: pa.Array, own: pa.Array) -> Ints:
    """(n,) where in its file each of the first model's items is."""
    assert plan.models is not None, "asked of a plan with several models"
    at = pc.index_in(ids, value_set=own)
    where = f"{model.predictions}: the model {model.name}"
    if at.null_count:
        missing = ids.filter(at.is_null())
        raise PredictionsError(
            f"{where} misses {len(missing):,} of the {len(ids):,} items of {plan.models[0].name} "
            f"({_some(missing)}); models are compared on the same items: add its predictions of "
            "these, or take them out of the other file"
        )
    if len(own) > len(ids):
        more = own.filter(pc.invert(pc.is_in(own, value_set=ids)))
        raise PredictionsError(
            f"{where} has {len(more):,} items that {plan.models[0].name} has not ({_some(more)}); "
            "models are compared on the same items: take these out, or add them to the other file"
        )
    order: Ints = at.to_numpy().astype(np.int64)
    return order


def _check_content(plan: Plan, model: ModelPlan, ids: pa.Array) -> None:
    """Refuse items whose content is another one in this model's file than in the first one's."""
    pool, path = plan.pool, model.predictions
    if path == pool.predictions:
        return
    present = column_names(path)
    wanted = (*pool.data.values(), *pool.group_columns)
    common = tuple(name for name in dict.fromkeys(wanted) if name in present)
    if not common:
        return
    here = _columns(path, model.id or pool.id, common)
    there = _columns(pool.predictions, pool.id, common)
    at = pc.index_in(ids, value_set=here.column(0))
    original = pc.index_in(ids, value_set=there.column(0))
    for name in common:
        mine = pc.fill_null(here.column(name), "").take(at)
        theirs = pc.fill_null(there.column(name), "").take(original)
        differs = pc.not_equal(mine, theirs)
        if pc.any(differs).as_py():
            other = ids.filter(differs)
            raise PredictionsError(
                f"{path}: {len(other):,} items of the model {model.name} have another {name} than "
                f"in {pool.predictions} ({_some(other)}): one id stands for two items; give each "
                "its own id, or correct the column"
            )


def _columns(path: Path, id_column: str, names: Sequence[str]) -> pa.Table:
    wanted = Wanted(tuple(dict.fromkeys((id_column, *names))))
    table = pa.Table.from_batches(list(pieces(path, wanted)))
    columns = [
        table.column(name).cast(pa.large_string()).combine_chunks() for name in (id_column, *names)
    ]
    return pa.RecordBatch.from_arrays(columns, names=["assay:id", *names])


def _some(ids: pa.Array) -> str:
    shown = ", ".join(ids.slice(0, _SHOWN).to_pylist())
    return f"{shown} and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else shown


def _common_classes(plan: Plan, found: Sequence[Predictions]) -> tuple[str, ...]:
    """All models' classes: of those that list them in full the same ones, else all that occur."""
    assert plan.models is not None, "asked of a plan with several models"
    full = [
        (model.name, one.classes)
        for model, one in zip(plan.models, found, strict=True)
        if model.probabilities is not None or plan.pool.classes is not None
    ]
    every = {name for one in found for name in one.classes}
    if not full:
        return tuple(sorted(every))
    name, classes = full[0]
    for other, theirs in full[1:]:
        if set(theirs) != set(classes):
            odd = sorted(set(theirs) ^ set(classes))
            raise PredictionsError(
                f"models: {name} and {other} know different classes ({listed(odd, _SHOWN)}); name "
                "their columns alike, or list the classes under `pool.classes`"
            )
    if extra := sorted(every - set(classes)):
        raise PredictionsError(
            f"models: classes that {name} does not know are predicted ({listed(extra, _SHOWN)}); "
            "write them alike, or list all classes under `pool.classes`"
        )
    return classes
