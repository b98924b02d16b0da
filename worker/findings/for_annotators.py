"""What annotators read: how much is done, why they have to wait, thanks; never what was found.

A finding, or how sure it is, would be an anchor for whoever judges the next item. So there is none
after the stop either: a `resume` may ask the same people again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.stopping.verdict import Verdict
from worker.findings.foreseen import labels_more, to_be_had, within_budget
from worker.formats import counted, plain
from worker.store import State

# Shares in words; with more than the last one it is nearly done, with less than the first there is
# a good way to go.
_FIRST, _NEARLY = 1 / 6, 0.85
_SHARES = {
    1 / 4: "about a quarter",
    1 / 3: "about a third",
    1 / 2: "about half",
    2 / 3: "about two thirds",
    3 / 4: "about three quarters",
}


def progress_text(work: Assessment, state: State, belief: Belief, verdict: Verdict) -> str:
    """How many items are labelled and, if it can be foreseen, how much of all that is."""
    n, budget = verdict.labels, work.rule.budget
    if not n:
        return "No item is labelled yet."
    missing = labels_more(work, belief, verdict)
    if missing is None:
        return done_text(n) if budget is None else f"{done_text(n)[:-1]}, of at most {budget:,}."
    left = within_budget(work, verdict, to_be_had(work, state))
    more = max(min(missing[1], left), state.metadata.get("resume_until", 0) - n)
    return f"{done_text(n)[:-1]}: {_how_far(n / (n + more))}."


def done_text(n: int) -> str:
    """How many items are labelled."""
    return f"{counted(n, 'item')} {'is' if n == 1 else 'are'} labelled so far."


def _how_far(share: float) -> str:
    if share < _FIRST:
        return "there is a good way to go"
    if share > _NEARLY:
        return "nearly done"
    return f"{_SHARES[min(_SHARES, key=lambda one: abs(one - share))]} of what is foreseen"


def waiting_text(is_paused: bool, why: str, is_asked_otherwise: bool) -> str:
    """Why nobody gets new items, for now, and whether to label on; empty if they do.

    Args:
        why: the reason of whoever paused it; empty: none.
        is_asked_otherwise: the labelling configuration is not what it was in the beginning.
    """
    said = []
    if is_paused:
        reason = f" ({why.rstrip('.')})" if why else ""
        said.append(
            f"Labelling is paused{reason}: nobody gets new items, and it goes on later. What you "
            "have begun counts."
        )
    if is_asked_otherwise:
        said.append(
            "Please do not label for now: the labelling setup of this project was changed, so that "
            "labels do not count and nobody gets new items. Whoever leads the evaluation has to "
            "put it back."
        )
    return " ".join(said)


def one_line(text: str) -> str:
    """A text of a person's as one line: the list of projects shows no more."""
    return " ".join(plain(text).split())


def thanks_text(told: Mapping[str, Any]) -> str:
    """Thanks, after a decision."""
    ended = "enough is known" if told["is_conclusive"] else "labelling has ended"
    return f"Thank you: {ended}, there is nothing left to label here."


RESULT_TEXT = "Whoever leads the evaluation has the result."
