"""What annotators see by a plan is held against all that its models say."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.plan import Plan
from worker.pool.class_names import class_names
from worker.pool.files_finding import Found, Shown
from worker.pool.groups import group_codes
from worker.pool.judged import says_right
from worker.pool.opinions_reading import Opinion
from worker.pool.ordering import taken
from worker.pool.predictions import Predictions, probability_pieces
from worker.pool.shown import refuse_told
from worker.pool.shown_names import Told

_SUFFIX = "convert all files to one kind"
_NOTHING = "\0"  # where an opinion says nothing, or a class that is none of ours: in no text


def check_shown(
    plan: Plan,
    predictions: Sequence[Predictions],
    opinions: Sequence[Opinion],
    files: Found | None,
) -> None:
    """Refuse ids and data whose values tell annotators what any of the models, or opinions, says.

    Groups that are made of the prediction must not be told either.
    """
    pool, first = plan.pool, predictions[0]
    n_classes = len(first.classes)
    if not pool.data:
        return  # nothing is shown: a simulation, or the tasks of a project as they are
    names = [""] if plan.models is None else [f" of {model.name}" for model in plan.models]
    told = [
        Told(f"the predicted class{of}", one.classes, one.predicted)
        for of, one in zip(names, predictions, strict=True)
    ]
    if (verdict := plan.annotation.verdict) is not None:
        judged = says_right(first.score).astype(np.int8)
        told = [Told("a right choice", verdict.choices, first.predicted)]
        told += [Told("what the judge says", ("no", "yes"), judged)] if pool.has_scores else []
    kinds = {factor.kind for factor in pool.factors}
    if "column" not in kinds and not kinds <= {"predicted_class", "all_items"}:
        codes, groups = group_codes(pool.factors, first)
        told.append(Told("the group", groups, codes))
    told += [told_by for one in opinions if (told_by := _names_of(one, first.classes)) is not None]

    def numbers(rows: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.floating]]]:
        for of, one in zip(names, predictions, strict=True):
            yield f"the score{of}", one.score[rows]
        if pool.probabilities is not None:
            table = np.concatenate(list(taken(probability_pieces(pool), rows)))
            for k, name in enumerate(class_names(pool) or first.classes):
                yield f"the probability of {name}", table[:, k]
        for said in opinions:
            if said.plan.score or said.plan.probabilities or said.plan.right:
                yield f"the probability of {said.plan.name}", _share_of(said, rows, n_classes)

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


def _names_of(opinion: Opinion, classes: Sequence[str]) -> Told | None:
    """The class that an opinion gives, or whether it takes ours for right; None of a number."""
    name = opinion.plan.name
    if opinion.said is not None:
        names, codes = (*classes, _NOTHING), opinion.said
        return Told(f"the class of {name}", names, np.where(codes < 0, len(classes), codes))
    if opinion.plan.kind != "right":
        return None
    codes = (opinion.value > 0).astype(np.int8)
    codes[opinion.is_missing] = 2
    return Told(f"what {name} says", ("no", "yes", _NOTHING), codes)


def _share_of(opinion: Opinion, rows: NDArray[np.int64], n_classes: int) -> NDArray[np.floating]:
    """(m,) the probability that an opinion gives: that the prediction is right, or its own class.

    Of probabilities of all classes it is known where the opinion gives our class.
    """
    share: NDArray[np.floating] = special.expit(opinion.value[rows].astype(np.float64))
    if opinion.agrees is None or opinion.said is None:
        return share
    other = 1 - share * (n_classes - 1) if opinion.plan.kind == "predicted" else np.nan
    return np.where(opinion.agrees[rows], share, other)
