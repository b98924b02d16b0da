"""Guesses what annotators look at: content, and nothing that tells the truth or a prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worker.errors import DraftingError
from worker.nearest import listed
from worker.pool.tables import ROW_NUMBER
from worker.setup.column_kinds import mean_letters, names_another, repeats, shown_kind
from worker.setup.column_names import CONTENT, CONTENT_IF_READ, KINDS, NOT_SHOWN, TRUE
from worker.setup.guesses import Guesses


def shown_of(
    found: Guesses, id_column: str, predicted: str | None, *, is_needed: bool
) -> tuple[str, ...]:
    chosen = _shown(found, id_column, predicted, is_needed)
    left = [n for n in found.free() if n not in chosen and shown_kind(found.column(n))]
    if left:
        why = "other content; add it under `pool.data` if people need it to judge"
        found.reasons.append(f"not shown: {listed(left)} ({why})")
    return chosen


def _tells(found: Guesses, name: str, predicted: str | None) -> bool:
    """Whether a column of texts seems to hold what the model says of the items."""
    column = found.column(name)
    if predicted is None or shown_kind(column) in (None, "image", "audio", "video"):
        return False
    return repeats(column) or names_another(column, found.column(predicted))


def _shown(
    found: Guesses, id_column: str, predicted: str | None, is_needed: bool
) -> tuple[str, ...]:
    free = [n for n in found.free() if not (TRUE.search(n) or NOT_SHOWN.search(n))]
    for name in [name for name in free if _tells(found, name, predicted)]:
        found.take(
            "not shown", name, "it repeats, or names the predicted class: the model's words?"
        )
    free = [name for name in free if name not in found.used]
    kinds = {name: shown_kind(found.column(name)) for name in free}
    named = [name for name in free if is_content(name, kinds[name])]
    if named:
        return tuple(found.take("shown", name, "its name says so") for name in named)
    for kind in ("image", "audio", "video", "html"):
        if of_kind := next((one for one in free if kinds[one] == kind), None):
            return (found.take("shown", of_kind, f"its values are {kind}"),)
    texts = [name for name in free if kinds[name] == "text"]
    if texts:
        longest = max(texts, key=lambda name: mean_letters(found.column(name)))
        n = round(mean_letters(found.column(longest)))
        return (found.take("shown", longest, f"texts of {n} letters on average"),)
    if id_column != ROW_NUMBER and shown_kind(found.column(id_column)) not in (None, "text"):
        return (found.take("shown", id_column, "the ids are files that can be shown"),)
    if not is_needed:
        return ()
    asked = found.ask("Which column do annotators look at?", free)
    if asked is None:
        columns = listed(found.rows.column_names, 30)
        raise DraftingError(
            f"{found.path}: no column holds what people can look at, a text or the address of an "
            "image, a sound or a video; add one to the file, or name it with `assay init "
            f"{found.path.name} --data COLUMN` (its columns are {columns})"
        )
    return (asked,)


def keyed(found: Guesses, columns: Sequence[str]) -> dict[str, str]:
    """The keys under which annotators are shown columns: they say how it is shown."""
    keys: dict[str, str] = {}
    for name in columns:
        kind = None if name == ROW_NUMBER else shown_kind(found.column(name))
        key = re.sub(r"\W", "_", name, flags=re.ASCII)
        is_told = kind in (None, "text") or key.casefold().split("_")[0] in KINDS
        if not is_told or key == "item_id":
            key = f"{kind or 'shown'}_{key}"
        keys[key] = name
    return keys


def is_content(name: str, kind: str | None) -> bool:
    folded = name.casefold()
    words = {folded, re.split(r"[._ ]", folded)[-1]}
    return bool(words & {*CONTENT}) or (kind == "text" and bool(words & {*CONTENT_IF_READ}))
