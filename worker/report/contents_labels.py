"""What a report says of the file that its labels are from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelSource:
    """A file of labels, in place of annotators.

    labelled: items of the pool with a label. empty: rows without one. elsewhere: labels of items
    that are not in the pool. use: `random`, also where all are labelled, or `known`. text: what the
    labels tell and what they cannot, as sentences.
    """

    file: str
    column: str
    use: str
    labelled: int
    empty: int
    elsewhere: int
    text: tuple[str, ...]
