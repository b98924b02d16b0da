"""Guesses which columns are second opinions: another classifier, a judge, what may go with errors.

The true class is never taken for one: a column that is called like it is left out, and one of which
nobody can say is a comment in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import pyarrow as pa

from worker.plan.opinions_part import MOST_OPINIONS
from worker.pool.class_names import without_shared_prefix
from worker.pool.opinions_reading import NO, YES
from worker.setup.column_kinds import are_probabilities, is_class, is_share
from worker.setup.column_names import (
    ANSWERED,
    CLASS,
    JUDGE,
    LABEL,
    OTHER_MODEL,
    PREDICTED_PART,
    SAID,
    SURE,
    TRUE,
)
from worker.setup.guesses import Guesses
from worker.setup.roles import (
    Outputs,
    PredictedClass,
    Prediction,
    Probabilities,
    ProbabilityList,
    ProposedOpinion,
)

_MOST_COMMENTS = 5
_MOST_VALUES = 50  # of a category
_MOSTLY = 0.9
_APART = re.compile(r"[\W_]+")


def opinions_of(found: Guesses, id_column: str, prediction: Prediction) -> list[ProposedOpinion]:
    """Return what other models seem to say; call it before anything is shown to annotators."""
    classes = _classes(found, prediction)
    if isinstance(prediction, Outputs):
        return _judges(found, ())[:MOST_OPINIONS]
    if not classes:
        return []
    proposed = _probabilities(found, classes)
    hidden = {id_column, *_columns(prediction)}
    is_full = isinstance(prediction, Probabilities)
    for name in [name for name in found.rows.column_names if name not in hidden]:
        if name not in found.given and _names_classes(found.column(name), classes, is_full):
            proposed += _class(found, name)
    return (proposed + _judges(found, classes))[:MOST_OPINIONS]


def _judges(found: Guesses, classes: tuple[str, ...]) -> list[ProposedOpinion]:
    proposed = []
    for name in [name for name in found.free() if JUDGE.search(name) and not TRUE.search(name)]:
        if is_share(found.column(name)) or _is_yes_or_no(found.column(name), classes):
            why = "its name says so; whether the prediction is right"
            proposed.append(ProposedOpinion.of(found.take("opinion", name, why), right=name))
    return proposed


def others_of(found: Guesses) -> list[ProposedOpinion]:
    """Return numbers and categories that may go with errors: comments, as nobody asked for them.

    Call it last: of what is left.
    """
    proposed = []
    for name in found.free():
        column = found.column(name)
        if any(told.search(name) for told in (TRUE, LABEL, CLASS, ANSWERED)):
            continue  # the truth goes with errors best of all
        if _is_number(column):
            if len(column.drop_null().unique()) > 1 and not _counts_rows(column):
                proposed.append(ProposedOpinion.of(name, is_sure=False, number=name))
        elif is_class(column) and len(column.unique()) <= _MOST_VALUES:
            proposed.append(ProposedOpinion.of(name, is_sure=False, category=name))
    return proposed[:_MOST_COMMENTS]


def whose(name: str) -> frozenset[str]:
    """What tells one model's columns from another's."""
    left = SURE.sub(" ", SAID.sub(" ", CLASS.sub(" ", f" {name} ".replace("_", " "))))
    return frozenset(_APART.sub(" ", left).casefold().split())


def _columns(prediction: Prediction) -> Collection[str]:
    match prediction:
        case Probabilities(columns):
            return columns
        case ProbabilityList(column, _):
            return (column,)
        case PredictedClass(predicted, score):
            return (predicted, *(() if score is None else (score,)))
        case Outputs(shown, score):
            return (*shown, *(() if score is None else (score,)))


def _classes(found: Guesses, prediction: Prediction) -> tuple[str, ...]:
    """The names of the classes, as far as the first rows have them; none of lists."""
    if isinstance(prediction, Probabilities):
        return without_shared_prefix(prediction.columns)
    if isinstance(prediction, PredictedClass):
        return tuple(sorted(_values(found.column(prediction.predicted))))
    return ()


def _values(column: pa.ChunkedArray) -> set[str]:
    return {str(value) for value in column.drop_null().unique().to_pylist()} - {""}


def _names_classes(column: pa.ChunkedArray, classes: tuple[str, ...], is_full: bool) -> bool:
    """Whether the values are the classes' names: all of them where no others would be taken."""
    if not is_class(column):
        return False
    known = [str(value) in classes for value in column.to_pylist() if value not in (None, "")]
    return bool(known) and sum(known) >= (1 if is_full else _MOSTLY) * len(known)


def _class(found: Guesses, name: str) -> list[ProposedOpinion]:
    is_predicted = PREDICTED_PART.search(name) is not None
    if not is_predicted and (TRUE.search(name) or LABEL.search(name) or ANSWERED.search(name)):
        found.reasons.append(f"no opinion: {name} (it is called like the true class)")
        return []
    score = _score_of(found, name)
    is_sure = not TRUE.search(name) and (
        SAID.search(name) is not None
        or (score is not None and OTHER_MODEL.search(name) is not None)
    )
    keys = {"predicted": name} | ({} if score is None else {"score": score})
    if score is not None:
        found.used.add(score)
    if is_sure:
        beside = "" if score is None else f", beside its score {score}"
        found.take("opinion", name, f"another classifier's class{beside}")
    else:
        found.used.add(name)
        why = "classes of another classifier, or the true ones? A comment in the plan"
        found.reasons.append(f"perhaps an opinion: {name} ({why})")
    return [ProposedOpinion.of(name, is_sure=is_sure, **keys)]


def _score_of(found: Guesses, name: str) -> str | None:
    """The free column of shares that is called as this one is, but for what makes it a score."""
    own = whose(name)
    shares = [one for one in found.free() if SURE.search(one) and is_share(found.column(one))]
    return next((one for one in shares if own and whose(one) == own), None)


def _probabilities(found: Guesses, classes: tuple[str, ...]) -> list[ProposedOpinion]:
    """Further columns of probabilities, one for each class, called after it."""
    shares = [name for name in found.free() if is_share(found.column(name))]
    proposed = []
    for first in shares:
        if not first.endswith(classes[0]) or TRUE.search(first) or LABEL.search(first):
            continue
        begin = first.removesuffix(classes[0])
        columns = tuple(f"{begin}{name}" for name in classes)
        if begin and set(columns) <= set(found.free()):
            if not are_probabilities([found.column(name) for name in columns]):
                continue
            found.used |= set(columns)
            name = begin.strip("_. -") or begin
            found.reasons.append(f"opinion: {begin}... (probabilities of another classifier)")
            proposed.append(ProposedOpinion.of(name, probabilities=columns))
    return proposed


def _is_yes_or_no(column: pa.ChunkedArray, classes: tuple[str, ...]) -> bool:
    if not is_class(column):
        return False
    values = {value.strip().lower() for value in _values(column)}
    return 0 < len(values) <= 2 and values <= {*YES, *NO} and not _values(column) & {*classes}


def _is_number(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def _counts_rows(column: pa.ChunkedArray) -> bool:
    """Whether whole numbers are there once each, as ids are."""
    return bool(pa.types.is_integer(column.type)) and len(column.unique()) == len(column)
