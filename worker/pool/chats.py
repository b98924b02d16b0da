"""Chats: a value that is a list of turns, each with a role and a content.

In the pool each is one text, its JSON in the one form in which tasks are compared (`text_of`);
Label Studio gets the list, and shows it as a dialogue.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from connector.shown import text_of

if TYPE_CHECKING:
    from worker.pool.file import Pool

_BEGIN = '[{"content": '  # keys are sorted


def text_of_chat(value: object) -> str | None:
    """Return a list of turns as its text; None of anything else."""
    if not isinstance(value, list) or not value:
        return None
    turns = all(
        isinstance(turn, dict)
        and turn.keys() == {"role", "content"}
        and all(isinstance(said, str) for said in turn.values())
        for turn in value
    )
    return text_of(value) if turns else None


def are_chats(texts: pa.Array) -> NDArray[np.bool_]:
    """Return which (n,) of the texts are chats, by their beginning."""
    found: NDArray[np.bool_] = pc.starts_with(texts, _BEGIN).to_numpy(zero_copy_only=False)
    return found


def chat_keys(pool: Pool) -> tuple[str, ...]:
    """The data keys whose values are chats: of a column all are, or none."""
    first = zip(pool.data_keys, pool.first_data(1), strict=True)
    return tuple(key for key, column in first if column[0].as_py().startswith(_BEGIN))


def as_shown(text: str) -> Any:
    """Return the turns of a chat's text; the text itself if it only begins like one."""
    try:
        turns = json.loads(text)
    except ValueError:
        return text
    return turns if text_of_chat(turns) == text else text
