"""Guesses what the columns of a predictions file mean, from their names and first rows.

Nothing is guessed that would harm silently: each guess is said with its reason, and a column is
shown to annotators only if it is neither called like, nor filled with, the truth or a prediction.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    mean_letters,
    names_rows,
    shown_kind,
)
from worker.setup.column_names import (
    CLASS,
    CONTENT,
    CONTENT_IF_READ,
    IDS,
    KINDS,
    NOT_SHOWN,
    PREDICTED,
    SAID,
    SCORES,
    SURE,
    TRUE,
)
from worker.setup.roles import Ask, PredictedClass, Probabilities, ProbabilityList, Roles

N_LOOKED_AT = 1000
_ENOUGH_ROWS = 20


def roles_of(
    path: Path,
    *,
    id: str | None = None,
    probabilities: Sequence[str] | str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    data: Sequence[str] | None = None,
    ask: Ask = lambda _question, _columns: None,
) -> Roles:
    """Return what the columns mean; what is given is taken as it is.

    Raises:
        PredictionsError: the file cannot be read.
        DraftingError: a given column is not there, or nothing in the file looks like a prediction,
            or like something to be shown.
    """
    rows = first_rows(path, N_LOOKED_AT)
    names = rows.column_names
    columns = (probabilities,) if isinstance(probabilities, str) else tuple(probabilities or ())
    given = [*columns, *(data or ()), *(name for name in (id, predicted, score) if name)]
    for name in given:
        if name not in (*names, ROW_NUMBER):
            raise DraftingError(
                f"{path}: no column {name}{did_you_mean(name, names)}; its columns are "
                f"{listed(names)}"
            )
    found = _Guesses(path, rows, set(given), ask)
    found_id = id or found.id()
    prediction = found.prediction(columns, predicted, score)
    shown = tuple(data or ()) or found.shown(found_id)
    return Roles(found_id, found.keyed(shown), prediction, tuple(found.reasons))


@dataclass(slots=True)
class _Guesses:
    """The guesses about one file, each with its reason."""

    path: Path
    rows: pa.Table
    used: set[str]  # columns whose meaning is known
    ask: Ask
    reasons: list[str] = field(default_factory=list)

    def id(self) -> str:
        known = _first_that(self.rows, IDS, names_rows)
        others = {*CONTENT, *PREDICTED, *SCORES}
        free = [name for name in self._free() if name.casefold() not in others]
        called_so = [n for n in free if re.search(r"(?i:[\W_]id|^id[\W_].*)$|[a-z]I[Dd]$", n)]
        named = next((n for n in called_so if names_rows(self._column(n))), None)
        if name := known or named:
            return self._take("id", name, "its name says so, and its values differ")
        if self.rows.num_rows >= _ENOUGH_ROWS:
            for name in free:
                is_shown = shown_kind(self._column(name)) not in (None, "text")
                if are_names(self._column(name)) and not is_shown:  # paths may hold the class
                    return self._take("id", name, "it has another short name in every row")
        self.reasons.append("id: row number (no column names the rows; row-1, row-2, ...)")
        return ROW_NUMBER

    def prediction(
        self, columns: tuple[str, ...], predicted: str | None, score: str | None
    ) -> Probabilities | ProbabilityList | PredictedClass:
        if len(columns) == 1:
            return ProbabilityList(columns[0], list_length(self._column(columns[0])) or 2)
        if columns:
            return Probabilities(columns)
        if predicted is None and score is None:
            if found := self._probability_columns():
                self.used |= set(found)
                why = "they begin alike, and have the sum 1 in every row"
                self.reasons.append(f"probabilities: {listed(found, 4)} ({why})")
                return Probabilities(found)
            for name in self._free():
                if length := list_length(self._column(name)):
                    why = f"it holds {length} numbers with the sum 1"
                    return ProbabilityList(self._take("probabilities", name, why), length)
        said = predicted or self._predicted()
        return PredictedClass(said, score or self._score(said))

    def _probability_columns(self) -> tuple[str, ...]:
        """The largest set of columns that share a prefix and whose rows have the sum 1."""
        by_prefix: dict[str, list[str]] = {}
        for name in self._free():
            if is_share(self._column(name)):
                for at in (at for at, letter in enumerate(name) if letter in "_."):
                    by_prefix.setdefault(name[: at + 1], []).append(name)
        for names in sorted(by_prefix.values(), key=len, reverse=True):
            if len(names) > 1 and are_probabilities([self._column(name) for name in names]):
                return tuple(names)
        return ()

    def _predicted(self) -> str:
        free = [name for name in self._free() if is_class(self._column(name))]
        open_ = [n for n in free if not (TRUE.search(n) or _is_content(n, None))]
        known = _first_that(self.rows.select(open_), PREDICTED, lambda _: True)
        by_name = [name for name in open_ if SAID.search(name)]
        by_class = [name for name in open_ if CLASS.search(name)]
        if name := known or next(iter(by_name), None) or _only(by_class) or _only(open_):
            n = len(self._column(name).unique())
            why = "its name says so" if known or by_name else "no other column could be it"
            self._take("predicted", name, f"{why}; {n} different values")
        else:
            name = self.ask("Which column is the predicted class?", open_) or ""
            if not name:
                raise DraftingError(
                    f"{self.path}: no column is clearly the predicted class; name it with "
                    f"--predicted (its columns are {listed(self.rows.column_names, 30)})"
                )
            self.used.add(name)
        for other in free:
            if other != name and (TRUE.search(other) or CLASS.search(other)):
                self._take("not shown", other, "it may hold the true class: simulate --truth")
        return name

    def _score(self, predicted: str) -> str | None:
        shares = [name for name in self._free() if is_share(self._column(name))]
        called_so = [name for name in shares if SURE.search(name) or name.startswith("p_")]
        own = [name for name in called_so if name.split("_")[0] == predicted.split("_")[0]]
        known = _first_that(self.rows.select(shares), SCORES, lambda _: True)
        name = next(iter(own), None) or known or next(iter(called_so), None) or _only(shares)
        if name is None:
            self.reasons.append(
                "score: none (no column holds shares from 0 to 1; labels cost more)"
            )
            return None
        values = floats(self._column(name))
        low, high = min(values[values == values]), max(values[values == values])
        return self._take("score", name, f"shares from {low:.2g} to {high:.2g}")

    def shown(self, id_column: str) -> tuple[str, ...]:
        free = [n for n in self._free() if not (TRUE.search(n) or NOT_SHOWN.search(n))]
        kinds = {name: shown_kind(self._column(name)) for name in free}
        named = [name for name in free if _is_content(name, kinds[name])]
        if named:
            return tuple(self._take("shown", name, "its name says so") for name in named)
        for kind in ("image", "audio", "video", "html"):
            if name := next((name for name in free if kinds[name] == kind), None):
                return (self._take("shown", name, f"its values are {kind}"),)
        texts = [name for name in free if kinds[name] == "text"]
        if texts:
            longest = max(texts, key=lambda name: mean_letters(self._column(name)))
            n = round(mean_letters(self._column(longest)))
            return (self._take("shown", longest, f"texts of {n} letters on average"),)
        if id_column != ROW_NUMBER and shown_kind(self._column(id_column)) not in (None, "text"):
            return (self._take("shown", id_column, "the ids are files that can be shown"),)
        name = self.ask("Which column do annotators look at?", free)
        if name is None:
            raise DraftingError(
                f"{self.path}: no column holds what people can look at, a text or the address of "
                "an image, a sound or a video; add one to the file, or name it with --data (its "
                f"columns are {listed(self.rows.column_names, 30)})"
            )
        return (name,)

    def keyed(self, columns: Sequence[str]) -> dict[str, str]:
        """The keys under which annotators are shown columns: they say how it is shown."""
        keys: dict[str, str] = {}
        for name in columns:
            kind = None if name == ROW_NUMBER else shown_kind(self._column(name))
            key = re.sub(r"\W", "_", name, flags=re.ASCII)
            is_told = kind in (None, "text") or key.casefold().split("_")[0] in KINDS
            if not is_told or key == "item_id":
                key = f"{kind or 'shown'}_{key}"
            keys[key] = name
        return keys

    def _take(self, role: str, name: str, why: str) -> str:
        self.used.add(name)
        self.reasons.append(f"{role}: {name} ({why})")
        return name

    def _free(self) -> list[str]:
        return [name for name in self.rows.column_names if name not in self.used]

    def _column(self, name: str) -> pa.ChunkedArray:
        return self.rows.column(name)


def _first_that(
    rows: pa.Table, known: Sequence[str], fits: Callable[[pa.ChunkedArray], bool]
) -> str | None:
    """Return the first known name of a column that fits; upper and lower case are the same."""
    by_folded = {name.casefold(): name for name in rows.column_names}
    present = (by_folded[name] for name in known if name in by_folded)
    return next((name for name in present if fits(rows.column(name))), None)


def _is_content(name: str, kind: str | None) -> bool:
    folded = name.casefold()
    words = {folded, re.split(r"[._ ]", folded)[-1]}
    return bool(words & {*CONTENT}) or (kind == "text" and bool(words & {*CONTENT_IF_READ}))


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None
