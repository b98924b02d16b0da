"""Guesses what the columns of a predictions file mean, from their names and first rows.

Nothing is guessed that would harm silently: each guess is said with its reason, and a column is
shown to annotators only if it is neither called like, nor filled with, the truth or a prediction.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from worker.errors import DraftingError
from worker.nearest import did_you_mean, listed
from worker.pool.tables import ROW_NUMBER, first_rows
from worker.setup.column_kinds import (
    are_names,
    are_probabilities,
    floats,
    is_class,
    is_share,
    list_length,
    names_rows,
    shown_kind,
)
from worker.setup.column_names import (
    CLASS,
    CONTENT,
    IDS,
    PREDICTED,
    SAID,
    SCORES,
    SURE,
    TRUE,
)
from worker.setup.column_opinions import opinions_of, others_of, whose
from worker.setup.column_outputs import outputs_of
from worker.setup.column_shown import is_content, keyed, shown_of
from worker.setup.guesses import Guesses
from worker.setup.roles import (
    Ask,
    Outputs,
    PredictedClass,
    Prediction,
    Probabilities,
    ProbabilityList,
    Roles,
)

N_LOOKED_AT = 1000
_ENOUGH_ROWS = 20
_MARKS = "_. (-"  # between what columns have in common and what is their own


def roles_of(
    path: Path,
    *,
    id: str | None = None,
    probabilities: Sequence[str] | str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    data: Sequence[str] | None = None,
    is_shown: bool = True,
    ask: Ask = lambda _question, _columns: None,
) -> Roles:
    """Return what the columns mean; what is given is taken as it is.

    Raises:
        PredictionsError: the file cannot be read.
        DraftingError: a given column is not there, or nothing in the file looks like a prediction,
            or, if the items are to be shown, like something to be shown.
    """
    rows = first_rows(path, N_LOOKED_AT)
    names = rows.column_names
    if twice := [name for name in names if names.count(name) > 1]:
        raise DraftingError(f"{path}: the column {twice[0]} is there twice; rename one of them")
    columns = (probabilities,) if isinstance(probabilities, str) else tuple(probabilities or ())
    given = [*columns, *(data or ()), *(name for name in (id, predicted, score) if name)]
    for name in given:
        if name not in (*names, ROW_NUMBER):
            raise DraftingError(
                f"{path}: no column {name}{did_you_mean(name, names)}; its columns are "
                f"{listed(names)}"
            )
    found = Guesses(path, rows, set(given), ask, frozenset(given))
    found_id = id or _id(found)
    prediction = _prediction(found, columns, predicted, score)
    opinions = opinions_of(found, found_id, prediction)
    said = prediction.predicted if isinstance(prediction, PredictedClass) else None
    shown = tuple(data or ())
    if not shown and isinstance(prediction, Outputs):
        shown = prediction.shown
    shown = shown or shown_of(found, found_id, said, is_needed=is_shown)
    found.used |= set(shown)
    opinions += others_of(found)
    keys = keyed(found, shown)
    return Roles(found_id, keys, prediction, tuple(found.reasons), tuple(opinions))


def _id(found: Guesses) -> str:
    known = _first_that(found.rows, IDS, names_rows)
    others = {*CONTENT, *PREDICTED, *SCORES}
    free = [name for name in found.free() if name.casefold() not in others]
    called_so = [n for n in free if re.search(r"(?i:[\W_]id|^id[\W_].*)$|[a-z]I[Dd]$", n)]
    named = next((n for n in called_so if names_rows(found.column(n))), None)
    if name := known or named:
        return found.take("id", name, "its name says so, and its values differ")
    if found.rows.num_rows >= _ENOUGH_ROWS:
        for name in free:
            is_shown = shown_kind(found.column(name)) not in (None, "text")
            if are_names(found.column(name)) and not is_shown:  # paths may hold the class
                return found.take("id", name, "it has another short name in every row")
    found.reasons.append("id: row number (no column names the rows; row-1, row-2, ...)")
    return ROW_NUMBER


def _prediction(
    found: Guesses, columns: tuple[str, ...], predicted: str | None, score: str | None
) -> Prediction:
    if len(columns) == 1:
        return ProbabilityList(columns[0], list_length(found.column(columns[0])) or 2)
    if columns:
        return Probabilities(columns)
    if predicted is None and score is None:
        if chosen := _probability_columns(found):
            found.used |= set(chosen)
            why = "they begin alike, and have the sum 1"
            found.reasons.append(f"probabilities: {listed(chosen, 4)} ({why})")
            return Probabilities(chosen)
        for name in found.free():
            if length := list_length(found.column(name)):
                why = f"it holds {length} numbers with the sum 1"
                return ProbabilityList(found.take("probabilities", name, why), length)
    if predicted is None and (outputs := outputs_of(found, score)) is not None:
        return outputs
    said = predicted or _predicted(found)
    return PredictedClass(said, score or _score(found, said))


def _probability_columns(found: Guesses) -> tuple[str, ...]:
    """The largest set of columns that share a prefix and whose rows have the sum 1."""
    by_prefix: dict[str, list[str]] = {}
    for name in found.free():
        if is_share(found.column(name)):
            for at in (at for at, letter in enumerate(name) if letter in _MARKS):
                by_prefix.setdefault(name[: at + 1], []).append(name)
    for names in sorted(by_prefix.values(), key=len, reverse=True):
        if len(names) > 1 and are_probabilities([found.column(name) for name in names]):
            return tuple(names)
    bare = [name for name in found.free() if is_share(found.column(name))]
    if len(bare) > 2 and are_probabilities([found.column(name) for name in bare]):
        return tuple(bare)
    return ()


def _predicted(found: Guesses) -> str:
    free = [name for name in found.free() if is_class(found.column(name))]
    open_ = [n for n in free if not (TRUE.search(n) or is_content(n, None))]
    known = _first_that(found.rows.select(open_), PREDICTED, lambda _: True)
    by_name = [name for name in open_ if SAID.search(name)]
    by_class = [name for name in open_ if CLASS.search(name)]
    if name := known or next(iter(by_name), None) or _only(by_class):
        n = len(found.column(name).unique())
        why = "its name says so" if known or by_name else "no other column is called so"
        others = [other for other in by_name if other != name]
        also = f"; not {listed(others)}, of which `models` compares" if others else ""
        found.take("predicted", name, f"{why}; {n} different values{also}")
    else:
        name = found.ask("Which column is the predicted class?", open_) or ""
        if not name:
            raise DraftingError(
                f"{found.path}: no column is clearly the predicted class; name it with `assay "
                f"init {found.path.name} --predicted COLUMN` (its columns are "
                f"{listed(found.rows.column_names, 30)})"
            )
        found.used.add(name)
    for other in free:
        if other != name and (TRUE.search(other) or CLASS.search(other)):
            found.take("not shown", other, "it may hold the true class: assess --labels")
    return name


def _score(found: Guesses, predicted: str) -> str | None:
    shares = [name for name in found.free() if is_share(found.column(name))]
    others = {whose(name) for name in found.rows.column_names if is_class(found.column(name))}
    others -= {whose(predicted), frozenset()}
    # A share of one class among others is not how sure the classifier was of the one it said.
    alone = [name for name in shares if len(_alike(name, shares)) < 2 or name in SCORES]
    alone = [name for name in alone if whose(name) not in others]
    called_so = [name for name in alone if SURE.search(name) or name.startswith("p_")]
    own = [name for name in called_so if name.split("_")[0] == predicted.split("_")[0]]
    known = _first_that(found.rows.select(alone), SCORES, lambda _: True)
    name = next(iter(own), None) or known or next(iter(called_so), None) or _only(alone)
    if name is None:
        called = [name for name in found.free() if SURE.search(name)]
        why = "no column holds shares from 0 to 1"
        if shares and all(whose(name) in others for name in shares):
            why = f"{listed(shares, 6)} seem to be of other columns; name yours with --score"
        elif shares:
            why = f"{listed(shares, 6)} seem to be of single classes; name them as `probabilities`"
        elif called:
            why = f"{listed(called)}: no numbers from 0 to 1; write 0.5 for 50 and for 0,5"
        found.reasons.append(f"score: none ({why}); labels cost more without")
        return None
    values = floats(found.column(name))
    low, high = min(values[values == values]), max(values[values == values])
    return found.take("score", name, f"shares from {low:.2g} to {high:.2g}")


def _alike(name: str, names: Sequence[str]) -> list[str]:
    """The names that begin as this one does, up to a mark."""
    begins = [name[: at + 1] for at, letter in enumerate(name) if letter in _MARKS]
    return [one for one in names if any(one.startswith(begin) for begin in begins)]


def _first_that(
    rows: pa.Table, known: Sequence[str], fits: Callable[[pa.ChunkedArray], bool]
) -> str | None:
    """Return the first known name of a column that fits; upper and lower case are the same."""
    by_folded = {name.casefold(): name for name in rows.column_names}
    present = (by_folded[name] for name in known if name in by_folded)
    return next((name for name in present if fits(rows.column(name))), None)


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None
