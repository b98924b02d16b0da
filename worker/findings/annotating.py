"""How votes become labels, in numbers and words: gold items, and items that wait for more votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from worker.assessment import Assessment
from worker.assessment.queueing import answered_enough
from worker.store import Ledger, State
from worker.store.tally import read_tally_key

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def annotation_of(work: Assessment, state: State) -> dict[str, Any]:
    """The rule, how many people it asks of an item, and how many gold items were answered."""
    rules = work.rules
    return {
        "rule": rules.kind,
        "per_item": rules.per_item,
        "per_item_max": rules.per_item_max,
        "item_confidence": work.plan.annotation.item_confidence,
        "gold_answered": gold_answered(work, state),
    }


def gold_answered(work: Assessment, state: State) -> int | None:
    """How many gold items have an outcome; None if the plan has no gold items."""
    if work.plan.annotation.gold is None:
        return None
    return sum(n for key, n in state.tally.items() if read_tally_key(key).cell < 0)


def waiting_votes(work: Assessment, ledger: Ledger, state: State) -> dict[int, int]:
    """Number of the next vote (2, 3, ...) -> items of the pool in the queue that wait for it.

    Answers that could not be read are no votes. Empty where one person judges an item, and when
    the queue is closed.
    """
    if work.rules.per_item == 1 or state.status == "stopped":
        return {}
    answers: Counter[str] = Counter()
    for _, given, _, item in ledger.tasks().values():
        answers[item] += given
    answers.subtract(str(why["item"]) for why in ledger.rejected().values())
    enough = answered_enough(work, state)
    found = Counter(
        answers[u.item] + 1
        for u in state.unsettled.values()
        if u.state == "open" and u.cell >= 0 and u.item not in enough and answers[u.item] > 0
    )
    return dict(sorted(found.items()))


def waiting_text(waiting: Mapping[int, int]) -> str:
    """Such as "12 items wait for a second vote, 1 for a third"; empty if none waits."""
    said: list[str] = []
    for number, n in waiting.items():
        what = "" if said else " item waits" if n == 1 else " items wait"
        said.append(f"{n:,}{what} for a {ordinal(number)}{'' if said else ' vote'}")
    return ", ".join(said)


def annotation_text(work: Assessment) -> str:
    """How labels are counted, as sentences; empty where one person judges an item."""
    rules, plan = work.rules, work.plan.annotation
    n = rules.per_item
    said = []
    judge = "One person judges" if n == 1 else f"{counted(n).capitalize()} people judge"
    if rules.kind == "first" and n > 1:
        said.append(f"{judge} every item; the first vote counts.")
    elif rules.kind == "majority":
        more = rules.per_item_max
        upto = f", up to {counted(more)} while their votes are tied" if more > n else ""
        said.append(f"{judge} every item{upto}; the class with most votes counts.")
    elif rules.kind == "dawid-skene":
        said.append(
            f"{judge} every item; classes are inferred from all votes together with how reliable "
            "each person is."
        )
        if plan.item_confidence is not None:
            said.append(
                f"An item gets no more votes once its class is {100 * plan.item_confidence:g}% "
                "sure."
            )
    elif rules.kind == "frequencies":
        said.append(f"{judge} every item, and all votes count.")
    if plan.gold is not None:
        said.append(
            f"About {100 * plan.gold.rate:g}% of what they see are gold items, whose class is "
            "known: they tell how reliable people are, and count nothing for the pool."
        )
    return " ".join(said)


def counted(n: int) -> str:
    """A small number as a word."""
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"


def ordinal(n: int) -> str:
    """first, second, ...; beyond the ninth in digits."""
    if n <= len(_ORDINALS):
        return _ORDINALS[n - 1]
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
