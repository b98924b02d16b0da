"""The texts that ledgers keep beside the records: a state, its counts, tasks, choices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

from worker.store.contract import Claim, State, Status, Unsettled
from worker.store.metadata import read_metadata

# What counts in `meta`.
COUNTS = ("revision", "claims", "reading", "wakes")

# Whole numbers below it are exact in Lua and in JSON.
MOST = 2**53
_DIGITS = len(str(MOST))


def state_from(
    meta: Sequence[str | None],
    tally: Mapping[str, str],
    taken: Mapping[str, str],
    unsettled: Mapping[str, str],
    authors: Mapping[str, str],
    notes: Mapping[str, str],
    n_rejected: int,
) -> State:
    """Read a state; `meta` is the status and the `COUNTS`."""
    status, *told = meta
    counts = counts_from(told)
    return State(
        status=cast(Status, status or "starting"),
        revision=counts["revision"],
        claims=counts["claims"],
        tally=all_whole("the tally of", tally),
        taken={int(k): n for k, n in all_whole("what is taken of cell", taken).items()},
        unsettled={k: unsettled_from(k, v) for k, v in unsettled.items()},
        authors={k: int(v) for k, v in authors.items()},
        n_rejected=n_rejected,
        metadata=read_metadata(notes),
    )


def counts_from(told: Sequence[str | None]) -> dict[str, int]:
    """Read the `COUNTS`, in their order."""
    return {name: whole(name, text) for name, text in zip(COUNTS, told, strict=True)}


def unsettled_from(item: str, text: str) -> Unsettled:
    """Read what `changes.open_note` wrote."""
    raw = json.loads(text)
    return Unsettled(
        item,
        raw["cell"],
        raw["row"],
        raw["claim"],
        raw["state"],
        tuple(raw["tasks"]),
        tuple(raw["open"]),
        tuple(raw["asked"]),
        raw["predicted"],
        raw["outcome"],
    )


def whole(what: str, text: str | int | None) -> int:
    """Read a count; what is not there is 0.

    Scripts compare counts as texts, so each has one form.

    Raises:
        ValueError: it is no count that a script of ours wrote.
    """
    number = 0 if text is None else _whole(str(text))
    if number is None:
        raise ValueError(f"{what} is {str(text)[:40]}, expected a whole number from 0 to 2^53 - 1")
    return number


def all_whole(what: str, texts: Mapping[str, str]) -> dict[str, int]:
    """`whole` of each."""
    found = {key: _whole(text) for key, text in texts.items()}
    return {k: whole(f"{what} {k}", texts[k]) if n is None else n for k, n in found.items()}


@lru_cache(maxsize=1 << 12)  # every turn reads the whole tally, whose counts are small
def _whole(told: str) -> int | None:
    number = int(told) if told.isdecimal() and len(told) <= _DIGITS else MOST
    return number if number < MOST and str(number) == told else None


def task_from(text: str) -> tuple[int, int, int, str]:
    """Read the brief that `changes` keeps of a task."""
    at, answers, skips, item = text.split(":", 3)
    return int(at), int(answers), int(skips), item


def choice_text(claim: Claim) -> str:
    """The log's line for a claim."""
    row = {"claim": claim.number, "item": claim.item, "row": claim.row, "cell": claim.cell}
    return json.dumps({**row, **claim.why}, separators=(",", ":"))
