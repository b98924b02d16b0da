"""The annotators' desk as the loop sees it; what speaks to a server stands behind it.

Nothing here loads an HTTP client, which a report, for one, does without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from connector.labels import TaskSnapshot

# How the title of our tab begins: by it the tab is found again, whatever else stands in it.
TAB = "Assay"


def marker(assessment: str) -> str:
    """The end of every description that we write: it tells whose project this is."""
    return f"[assay {assessment}]"


@dataclass(frozen=True, slots=True)
class Counters:
    """What the project says of itself: a cheap sign that something was missed, or changed."""

    tasks: int
    answers: int  # annotations that are not skips
    skips: int
    labelling: str = ""  # `connector.labelling.labelling` of its configuration; empty: it has none


@dataclass(frozen=True, slots=True)
class TaskBrief:
    """One line of the census: enough to see whether a task is as we know it."""

    task: int
    at_us: int
    answers: int
    skips: int


class Desk(Protocol):
    """What the loop needs of a labelling tool; the contract tests hold every desk to it."""

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        """Tasks changed after `since_us`, earliest change first; some may come twice."""

    def counters(self) -> Counters:
        """The project's own counts, and what it asks."""

    def census(self) -> list[TaskBrief]:
        """All tasks, briefly."""

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        """Return a snapshot of each of these tasks; those that are gone are left out."""

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        """The tasks that show each of these items; items without any are left out."""

    def put(self, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Import tasks at the end of the queue; return their ids in the same order.

        Raises:
            InDoubt: the answer never came; look the items up before trying again.
        """

    def upload(self, name: str, content: bytes) -> str:
        """Keep a file for the tasks of this project; return the address by which they show it.

        What is uploaded again is there twice, and both are the same to `connector.shown`.

        Args:
            name: as `connector.media.uploaded_name` gives it.

        Raises:
            Rejected: it is too large, or of a kind that is not taken.
        """

    def close(self, tasks: Sequence[int]) -> None:
        """Serve these tasks to nobody; an annotator who holds one may still submit it."""

    def reopen(self, tasks: Sequence[int]) -> None:
        """Serve them again, to one person more than answered them."""

    def describe(self, text: str) -> None:
        """Set the one line that the list of projects shows."""

    def instruction(self) -> tuple[str, bool]:
        """What annotators are told of the work, and whether they see it before they begin."""

    def announce(self, html: str, *, is_shown: bool = True) -> None:
        """Tell this in its place."""

    def people(self) -> dict[int, str]:
        """Who labels here, or might: their number and what they are called."""

    def tab(self, title: str) -> None:
        """Show the open tasks under one tab of ours with this title, which begins with `TAB`."""


class Known(Protocol):
    """What was claimed, as far as a desk must know it."""

    def tasks(self) -> Mapping[int, tuple[int, int, int, str]]:
        """All known tasks: id -> (last change, answers, skips, item)."""

    def items_of(self, tasks: Sequence[int]) -> Mapping[int, str]:
        """Which item each of the known ones among `tasks` shows."""

    def waiting(self) -> Sequence[int]:
        """The tasks of the claims that are not settled."""


@runtime_checkable
class BorrowedDesk(Desk, Protocol):
    """A desk in a project that was there before: its settings are put back at the end."""

    def settings(self) -> dict[str, Any]:
        """The project's settings that `take_over` changes, as they are now."""

    def take_over(self) -> None:
        """Change them so that our order is served; again changes nothing."""

    def restore_settings(self, settings: Mapping[str, Any]) -> None:
        """Take our order away and set them as they were; again changes nothing."""
