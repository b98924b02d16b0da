"""How the judgements of several annotators on one item become its outcome.

One person has one vote on an item: the lowest live, valid annotation id. Votes count in the order
of their annotation ids, so that surplus, doubled and edited judgements give the same outcome
whenever and in whatever order they are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from connector.labels import Judgement

Kind = Literal["first", "majority", "dawid-skene", "frequencies"]

# What parts the classes of a tie: no class of a labelling configuration holds a line break.
_TIE = "\n"


@dataclass(frozen=True, slots=True)
class Rules:
    """What the plan's `annotation` asks of an item.

    skips: so many annotators may skip it before it is given up.
    per_item: so many different annotators judge it; with `majority` up to per_item_max, while
        their votes are tied.
    shown: the fingerprint of what the item in a row shows (`connector.shown`); a label on a task
        that shows something else is rejected. None: whatever it shows.
    """

    kind: Kind = "first"
    per_item: int = 1
    per_item_max: int = 1
    skips: int = 2
    shown: Callable[[int], str] | None = field(default=None, compare=False, repr=False)

    def outcome(self, votes: Mapping[int, str], row: int) -> str | None:
        """What the votes on the item in `row` add up to, as the tally keeps it; None: nothing yet.

        first: the class of the first vote. majority: the class with most of the first per_item
        votes, or of one more and so on while they are tied; of per_item_max tied votes all tied
        classes. dawid-skene: who said what. frequencies: the row, and how often each class came.
        """
        given = list(votes.values())
        if not given:
            return None
        if self.kind == "first":
            return given[0]
        if self.kind == "dawid-skene":
            return json.dumps(
                {str(author): votes[author] for author in sorted(votes)},
                separators=(",", ":"),
                ensure_ascii=False,
            )
        if self.kind == "frequencies":
            counts = dict(sorted(Counter(given).items()))
            return f"{row}:{json.dumps(counts, separators=(',', ':'), ensure_ascii=False)}"
        return self._majority(given)

    def _majority(self, given: list[str]) -> str | None:
        for n in range(self.per_item, min(len(given), self.per_item_max) + 1):
            counts = Counter(given[:n])
            most = max(counts.values())
            leading = sorted(label for label, count in counts.items() if count == most)
            if len(leading) == 1 or n == self.per_item_max:
                return _TIE.join(leading)
        return None

    def is_settled(self, votes: Mapping[int, str], outcome: str | None) -> bool:
        """Whether nobody else needs to be asked."""
        if self.kind == "majority":
            return outcome is not None
        return len(votes) >= self.per_item


def votes_of(judgements: Iterable[Judgement]) -> dict[int, str]:
    """Author -> class, in the order of the annotation ids that count."""
    votes: dict[int, str] = {}
    for j in sorted(judgements, key=lambda j: j.annotation):
        if j.status == "valid" and j.author is not None and j.label is not None:
            votes.setdefault(j.author, j.label)
    return votes


def tied(outcome: str) -> tuple[str, ...]:
    """The classes that a majority left tied; one if it was none."""
    return tuple(outcome.split(_TIE))


def named_votes(outcome: str) -> dict[str, str]:
    """Author -> class, of an outcome of the rule `dawid-skene`."""
    votes: dict[str, str] = json.loads(outcome)
    return votes


def frequencies(outcome: str) -> tuple[int, dict[str, int]]:
    """The item's row, and class -> votes, of an outcome of the rule `frequencies`."""
    row, _, counts = outcome.partition(":")
    votes: dict[str, int] = json.loads(counts)
    return int(row), votes
