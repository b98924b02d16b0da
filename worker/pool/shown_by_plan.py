"""What annotators see by a plan is held against all that its models say."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.plan import Plan
from worker.pool.class_names import class_names
from worker.pool.files_finding import Found, Shown
from worker.pool.groups import group_codes
from worker.pool.ordering import taken
from worker.pool.predictions import Predictions, probability_pieces
from worker.pool.shown import refuse_told
from worker.pool.shown_names import Told

_SUFFIX = "convert all files to one kind"


def check_shown(plan: Plan, predictions: Sequence[Predictions], files: Found | None) -> None:
    """Refuse ids and data whose values tell annotators what any of the models says.

    Groups that are made of the prediction must not be told either.
    """
    pool, first = plan.pool, predictions[0]
    if not pool.data:
        return  # nothing is shown: a simulation, or the tasks of a project as they are
    names = [""] if plan.models is None else [f" of {model.name}" for model in plan.models]
    told = [
        Told(f"the predicted class{of}", one.classes, one.predicted)
        for of, one in zip(names, predictions, strict=True)
    ]
    kinds = {factor.kind for factor in pool.factors}
    if "column" not in kinds and kinds != {"predicted_class"}:
        codes, groups = group_codes(pool.factors, first)
        told.append(Told("the group", groups, codes))

    def numbers(rows: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.floating]]]:
        for of, one in zip(names, predictions, strict=True):
            yield f"the score{of}", one.score[rows]
        if pool.probabilities is not None:
            table = np.concatenate(list(taken(probability_pieces(pool), rows)))
            for k, name in enumerate(class_names(pool) or first.classes):
                yield f"the probability of {name}", table[:, k]

    keys = () if files is None else files.sizes
    refuse_told(
        str(pool.predictions),
        [
            (f"the id (column {pool.id})", "give the items ids that tell nothing"),
            *((f"the column {name} (`pool.data.{key}`)", "") for key, name in pool.data.items()),
            *((f"the suffix of files (`pool.data.{key}`)", _SUFFIX) for key in keys),
        ],
        Shown(first.texts, pool, keys) if keys else first.texts,
        told,
        numbers,
    )
