"""The files that a plan names, and what tells whether they or the plan changed."""

import hashlib
from pathlib import Path

from worker.errors import PoolChanged, PredictionsError
from worker.metrics import METRICS
from worker.metrics.cost import NAMED_COSTS
from worker.nearest import nearest
from worker.plan import Plan, canonical_json, without_folders
from worker.plan.pool_part import PoolPlan
from worker.pool.file import Pool
from worker.pool.remote import localised
from worker.pool.storing import ONE_BLOCK, Stat, sha256_of, stat_of
from worker.pool.tables_folder import files_of, is_data_set


def check_source(pool: Pool, plan: Plan) -> None:
    """Check that a pool was compiled from the plan and the files as they are now.

    Raises:
        PoolChanged: the predictions, another file or the plan of the pool is another.
        StoreFailed: a file that the plan names by an address cannot be had.
    """
    plan = localised(plan, pool.path.parent)
    again = "put the old file back, or start a new assessment with another id"
    try:
        stats_of(plan)
    except PredictionsError as error:
        raise PoolChanged(f"{error}. The assessment began with it: {again}") from error
    now = sources_of(plan)
    for (name, old), (key, path), (_, new) in zip(
        pool.sources, source_paths(plan), now, strict=False
    ):
        if old != new:
            raise PoolChanged(
                f"{path}: the {_KINDS[key]} changed since the assessment began (its SHA-256 begins "
                f"with {new[:12]}, that of {name} was {old[:12]}): {again}"
            )
    begun = pool.hash if pool.since is None else pool.since.base
    base = begun if pool.files is None else pool.files.base
    if base not in (hash_of(plan, now), hash_of(plan, now, is_positive_alone=False)):
        raise PoolChanged(
            "the plan's `pool` or `seed` changed since the assessment began, or the metric of its "
            "`question`; put the old plan back, or start a new assessment with another id"
        )


_KINDS = {
    "pool.predictions": "predictions file",
    "models": "predictions file of a model",
    "pool.opinions": "file of an opinion",
    "pool.groups": "superclass map",
    "question.costs": "file with the costs",
    "question.superclasses": "superclass map",
    "annotation.gold.items": "file with the gold items",
}


def prediction_files(pool: PoolPlan) -> tuple[Path, ...]:
    """Return the predictions file, or those of all sites."""
    return (pool.predictions,) if pool.sites is None else tuple(pool.sites.values())


def source_paths(plan: Plan) -> list[tuple[str, Path]]:
    """Return the files that the plan names, and by which key."""
    return [
        *(("pool.predictions", path) for path in prediction_files(plan.pool)),
        *(
            ("pool.opinions", opinion.predictions)
            for opinion in plan.pool.opinions or ()
            if opinion.predictions is not None
        ),
        *(("models", model.predictions) for model in (plan.models or ())[1:]),
        *(("pool.groups", path) for path in plan.pool.map_paths),
        *plan.question.paths.items(),
        *plan.annotation.paths.items(),
    ]


def stats_of(plan: Plan) -> list[Stat]:
    """Return size and time of the files that the plan names, which must be there."""
    for key, path in source_paths(plan):
        try:
            if key == "pool.predictions" and plan.pool.project and path.suffix != ".parquet":
                raise PredictionsError(
                    f"pool.project: project {plan.pool.project} is read by `assay check` and "
                    "`assay start` only; for a simulation export its tasks to a file and name that "
                    "under `pool.predictions`"
                )
            is_file = path.is_file()
        except OSError as error:  # such as a name that is too long
            raise PredictionsError(f"{path}: it cannot be read ({error.strerror})") from error
        is_folder = key == "pool.predictions" and is_data_set(path)
        if not (is_file or is_folder):
            what = "came a folder, expected a file" if path.is_dir() else "there is no such file"
            meant = nearest(path.name, NAMED_COSTS) if key == "question.costs" else None
            guess = f"; did you mean {meant}?" if meant else ""
            raise PredictionsError(f"{path}: {what}; the plan names it under `{key}`{guess}")
    return [
        stat_of(part)
        for _, path in source_paths(plan)
        for part in (files_of(path) if path.is_dir() else [path])
    ]


def sources_of(plan: Plan) -> list[tuple[str, str]]:
    """Return name and SHA-256 of the files that the plan names."""
    try:
        return [(path.name, _sha256_of(path)) for _, path in source_paths(plan)]
    except OSError as error:
        raise PredictionsError(f"{error.filename}: it cannot be read ({error.strerror})") from error


def _sha256_of(path: Path) -> str:
    """The SHA-256 (hex) of a file; of a folder, of the names and SHA-256 of what is read of it."""
    if not path.is_dir():
        return sha256_of(path)
    parts = [[part.name, sha256_of(part)] for part in files_of(path)]
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


def hash_of(plan: Plan, sources: list[tuple[str, str]], is_positive_alone: bool = True) -> str:
    """Return the SHA-256 (hex) of all that a compiled pool follows from.

    Args:
        is_positive_alone: False for pools from when the cells of a positive class were still cut
            by the scores of the predicted ones.
    """
    asked = plan.question
    has_classes_apart = METRICS[asked.metric].has_classes_apart
    values = {
        "version": ONE_BLOCK,  # whatever the format: the same items in the same order
        "sources": [sha256 for _, sha256 in sources],
        "pool": without_folders(plan.pool),
        "seed": plan.seed,
        # what the cells follow, and what is kept beside them
        "units": [
            asked.bins,
            asked.positive,
            *(["predicted class"] * has_classes_apart),
            *(["judge"] * (plan.annotation.verdict is not None)),
        ],
        "is_of_true_classes": METRICS[asked.metric].of_true_classes or asked.positive is not None,
        "costs": [
            asked.costs if asked.costs in NAMED_COSTS else asked.cost_path is not None,
            asked.cost_ratio,
            asked.people,
        ],
    }
    if asked.positive is not None and is_positive_alone:
        values["scores"] = "of the positive class"
    if plan.annotation.gold is not None:
        values["has_gold"] = True
    if asked.level == "parents":
        values["level"] = "parents as groups"
    if plan.models is not None:
        kept = [model.model_dump(mode="json", exclude={"predictions"}) for model in plan.models]
        of = [] if asked.of is None else [asked.of]
        values["models"] = [kept, asked.task, asked.where, *of]
    if asked.task == "evaluate":
        values["has_probability"] = True
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()
