"""The small facts that lie beside an assessment's state: each with its type, and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast, get_type_hints


class Metadata(TypedDict, total=False):
    """All of them; one that is not there was never written, or is a number that was taken back.

    Moments are seconds since 1970, those named `..._us` and `cursor` microseconds. A text that is
    empty was taken back.
    """

    # Reading Label Studio (`turn.sync`): all changes until the cursor are recorded.
    cursor: int
    polled_at: float
    swept_at: float
    looked_through: int  # the last task that was read again by turns
    strays: str  # JSON: orphaned tasks -> items (`turn.orphans`)
    latest_answered: int  # the latest claim that was answered
    hooked: str  # the receiver that Label Studio calls

    # The labelling configuration (`turn.shown`).
    labelling: str  # JSON: its parts in the beginning
    labelling_same_until: int
    labelling_changed: str  # JSON: what differs, and since when
    labelling_read_from: str  # microseconds; tasks that changed later are to be read again

    # What people are told (`turn.announce`), and what they were told before.
    described: str
    described_at: float
    tab: str
    tab_at: float
    announced: str  # what stands above the project's instruction
    guidelines_before: str  # JSON: the instruction, and whether it was shown
    paused_why: str  # the operator's reason
    told_file: int  # how many decisions are in the file
    told_desk: int  # ... are told to annotators; 0 after a pause or resume
    settings_before: str  # JSON: of a borrowed project
    settings_taken: str  # "yes" while it has ours

    # Decisions, notices and reports.
    resume_until: int  # labels before the rule is asked again
    reviewed: int  # the revision whose review is published
    noticed: int  # how many decisions are in the outbox
    decided_at: str  # when the last stop was; ISO 8601
    error: str  # of the last turn
    running_since: int
    empty_since: int
    failing_since: int
    report_claim: str  # until when, and who makes a report
    report_slot: int  # the latest one that is made
    report_error: str


METADATA: dict[str, type] = get_type_hints(Metadata)


def read_metadata(texts: Mapping[str, str]) -> Metadata:
    """Read what a store keeps as texts; what a later release wrote beside it stays a text.

    Raises:
        ValueError: a number is none.
    """
    found: dict[str, Any] = {}
    for name, text in texts.items():
        kind = METADATA.get(name, str)
        if text or kind is str:
            try:
                found[name] = kind(text)
            except ValueError:
                raise ValueError(f"{name} is {text[:40]!r}, expected a number") from None
    return cast(Metadata, found)
