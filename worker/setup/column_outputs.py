"""Guesses whether a file holds outputs that a person judges: an input, an output, and no class."""

from __future__ import annotations

from worker.setup.column_kinds import floats, is_class, is_share, is_text
from worker.setup.column_names import (
    ANSWERED,
    GROUP,
    INPUT,
    JUDGE,
    LABEL,
    OUTPUT,
    PREDICTED,
    SAID,
    SCORES,
    SURE,
    TRUE,
)
from worker.setup.guesses import Guesses
from worker.setup.roles import Outputs

_MOST_GROUPINGS = 2
_MOST_VALUES = 50


def outputs_of(found: Guesses, score: str | None) -> Outputs | None:
    """Return what there is to be judged; None unless input and output are named, and no class is.

    Args:
        score: the judge's column, if somebody named it.
    """
    texts = [n for n in found.free() if is_text(found.column(n).type) and not TRUE.search(n)]
    asked = [name for name in texts if INPUT.search(name)]
    given = [name for name in texts if OUTPUT.search(name) and name not in asked]
    classes = [name for name in found.free() if is_class(found.column(name))]
    said = [n for n in classes if n.casefold() in PREDICTED or (SAID.search(n) and n not in given)]
    if not asked or not given or any(not GROUP.search(name) for name in said):
        return None
    for name in asked:
        found.take("input", name, "its name says so")
    why = "its name says so; nothing is called like a predicted class, so people judge it"
    found.take("output", given[0], why)
    judge = score or _judge(found)
    groups = [name for name in classes if GROUP.search(name) and name in found.free()]
    groups = [n for n in groups if len(found.column(n).unique()) <= _MOST_VALUES][:_MOST_GROUPINGS]
    for name in groups:
        found.take("groups", name, f"{len(found.column(name).unique())} values to be told apart")
    for name in found.free():
        if TRUE.search(name) or LABEL.search(name) or ANSWERED.search(name):
            found.take("not shown", name, "it may hold the verdict: simulate --truth")
    return Outputs((*asked, given[0]), judge, tuple(groups), _paired_by(found, asked, groups))


def _paired_by(found: Guesses, asked: list[str], groups: list[str]) -> str | None:
    """The input that outputs of several groups have in common, each group once at most."""
    of_group = list(zip(*(found.column(name).to_pylist() for name in groups), strict=True))
    for name in asked if groups else ():
        inputs = found.column(name).to_pylist()
        pairs = list(zip(map(str, inputs), of_group, strict=True))
        n = len({text for text, _ in pairs})
        if n < len(pairs) == len(set(pairs)):
            found.reasons.append(f"pairs_by: {name} ({n} different ones in {len(pairs)} rows)")
            return name
    return None


def _judge(found: Guesses) -> str | None:
    shares = [n for n in found.free() if is_share(found.column(n)) and not TRUE.search(n)]
    named = [name for name in shares if JUDGE.search(name)]
    named += [name for name in shares if name in SCORES or SURE.search(name)]
    if not named:
        why = "no column holds a judge's probabilities that outputs are right"
        found.reasons.append(f"score: none ({why}); labels cost more without")
        return None
    values = floats(found.column(named[0]))
    low, high = min(values[values == values]), max(values[values == values])
    why = f"shares from {low:.2g} to {high:.2g}; how likely each output is right, by a judge"
    return found.take("score", named[0], why)
