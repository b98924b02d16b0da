"""Compiles a predictions file into the pool: groups, cells, and a seeded order in each cell."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.errors import PoolChanged, PredictionsError
from worker.nearest import nearest
from worker.plan import Plan, canonical_json, without_folders
from worker.plan.fitting import OF_TRUE_CLASSES
from worker.plan.question_part import NAMED_COSTS
from worker.pool.costs import read_costs
from worker.pool.file import FORMAT_VERSION, OWN_COLUMNS, Pool, open_pool
from worker.pool.groups import cell_codes, group_codes, unit_codes
from worker.pool.means import mean_logits, mean_probabilities
from worker.pool.predictions import Predictions, read_predictions
from worker.pool.storing import Arrays, Stat, sha256_of, stat_of, write_pool


def compile_pool(plan: Plan, folder: Path | str) -> Pool:
    """Compile the pool of a plan into `folder`, as `<hash>.arrow`, and open it.

    The same files, plan of the pool and seed give the same bytes. A sound compiled file that is
    there already is used; a damaged one is replaced.

    Raises:
        PredictionsError: the predictions, or a superclass map, cannot be used.
        PlanError: the costs cannot be used, or the positive class is not known.
    """
    before = _stats(plan)
    sources = _sources(plan)
    pool_hash = _pool_hash(plan, sources)
    path = Path(folder) / f"{pool_hash}.arrow"
    if path.exists():
        try:
            return open_pool(path)
        except PoolChanged:
            path.unlink(missing_ok=True)
    predictions = read_predictions(plan.pool)
    header, rows, arrays = _compiled(plan, predictions)
    if _stats(plan) != before:
        raise PredictionsError(
            f"{plan.pool.predictions}: the file changed while it was read; try again once it is "
            "complete"
        )
    write_pool(path, header | {"pool_hash": pool_hash, "sources": sources}, rows, arrays)
    return open_pool(path)


def check_source(pool: Pool, plan: Plan) -> None:
    """Check that a pool was compiled from the plan and the files as they are now.

    Raises:
        PoolChanged: the predictions, another file or the plan of the pool is another.
    """
    again = "put the old file back, or start a new assessment with another id"
    try:
        _stats(plan)
    except PredictionsError as error:
        raise PoolChanged(f"{error}. The assessment began with it: {again}") from error
    now = _sources(plan)
    for (name, old), (key, path), (_, new) in zip(
        pool.sources, _source_paths(plan), now, strict=False
    ):
        if old != new:
            raise PoolChanged(
                f"{path}: the {_KINDS[key]} changed since the assessment began (its SHA-256 begins "
                f"with {new[:12]}, that of {name} was {old[:12]}): {again}"
            )
    if _pool_hash(plan, now) != pool.hash:
        raise PoolChanged(
            "the plan's `pool` or `seed` changed since the assessment began, or the metric of its "
            "`question`; put the old plan back, or start a new assessment with another id"
        )


_KINDS = {
    "pool.predictions": "predictions file",
    "pool.groups": "superclass map",
    "question.costs": "file with the costs",
    "question.superclasses": "superclass map",
}


def _source_paths(plan: Plan) -> list[tuple[str, Path]]:
    """Return the files that the plan names, and by which key."""
    return [
        ("pool.predictions", plan.pool.predictions),
        *(("pool.groups", path) for path in plan.pool.map_paths),
        *plan.question.paths.items(),
    ]


def _stats(plan: Plan) -> list[Stat]:
    """Return size and time of the files that the plan names, which must be there."""
    for key, path in _source_paths(plan):
        if not path.is_file():
            what = "came a folder, expected a file" if path.is_dir() else "there is no such file"
            meant = nearest(path.name, NAMED_COSTS) if key == "question.costs" else None
            guess = f"; did you mean {meant}?" if meant else ""
            raise PredictionsError(f"{path}: {what}; the plan names it under `{key}`{guess}")
    return [stat_of(path) for _, path in _source_paths(plan)]


def _sources(plan: Plan) -> list[tuple[str, str]]:
    """Return name and SHA-256 of the files that the plan names."""
    try:
        return [(path.name, sha256_of(path)) for _, path in _source_paths(plan)]
    except OSError as error:
        raise PredictionsError(f"{error.filename}: it cannot be read ({error.strerror})") from error


def _pool_hash(plan: Plan, sources: list[tuple[str, str]]) -> str:
    asked = plan.question
    values = {
        "version": FORMAT_VERSION,
        "sources": [sha256 for _, sha256 in sources],
        "pool": without_folders(plan.pool),
        "seed": plan.seed,
        # what the cells follow, and what is kept beside them
        "units": [asked.bins, asked.positive],
        "is_of_true_classes": asked.metric in OF_TRUE_CLASSES,
        "costs": [
            asked.costs if asked.costs in NAMED_COSTS else asked.cost_path is not None,
            asked.cost_ratio,
            asked.people,
        ],
    }
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def _compiled(
    plan: Plan, predictions: Predictions
) -> tuple[dict[str, Any], pa.RecordBatch, Arrays]:
    """Return the header of the compiled file (without its hashes), its rows and its arrays."""
    group, names = group_codes(plan.pool.factors, predictions)
    unit, units = unit_codes(plan.question, predictions)
    score = predictions.score
    cell, cell_group, cell_unit = cell_codes(group, unit, score, plan.pool.strata)
    size = np.bincount(cell, minlength=len(cell_group))
    # the weights are float64, and a mean may not leave [0, 1] by rounding
    mean_score = np.clip(np.bincount(cell, weights=score) / size, 0, 1)
    shuffled = np.random.default_rng([plan.seed, 0]).permutation(predictions.n_items)
    order = shuffled[np.argsort(cell[shuffled], kind="stable")]
    columns = {
        "item_id": predictions.ids.take(pa.array(order)),
        "predicted": pa.array(predictions.predicted[order], pa.int32()),
        "score": pa.array(score[order].astype(np.float32)),
        "cell": pa.array(cell[order], pa.int32()),
    }
    assert tuple(columns) == OWN_COLUMNS
    shown = [array.take(pa.array(order)) for array in predictions.data.values()]
    names_of_columns = [*OWN_COLUMNS, *predictions.data]
    arrays: dict[str, NDArray[Any]] = {}
    if plan.question.metric in OF_TRUE_CLASSES and plan.pool.probabilities is not None:
        arrays["mean_probability"] = mean_probabilities(
            plan.pool, len(predictions.classes), cell, size
        )
    if plan.question.metric == "cost":
        arrays["costs"] = read_costs(plan.question, predictions.classes)
    header = {
        "version": FORMAT_VERSION,
        "n_items": predictions.n_items,
        "seed": plan.seed,
        "classes": predictions.classes,
        "group_names": names,
        "group_sizes": np.bincount(group, minlength=len(names)).tolist(),
        "group_mean_logit": _or_none(mean_logits(group, score, len(names))),
        "units": units,
        "cells": {
            "group": cell_group.tolist(),
            "unit": cell_unit.tolist(),
            "size": size.tolist(),
            "start": (np.cumsum(size) - size).tolist(),
            "mean_score": _or_none(mean_score),
            "mean_logit": _or_none(mean_logits(cell, score, len(size))),
        },
        "columns": names_of_columns,
    }
    rows = pa.RecordBatch.from_arrays([*columns.values(), *shown], names=names_of_columns)
    return header, rows, arrays


def _or_none(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers as JSON has them, which knows no NaN."""
    return [None if number != number else number for number in values.tolist()]
