"""Telling people: progress, a pause or the thanks to annotators, and the decision to its file.

Annotators look at three places, and read the same in each: the project's card, the instruction that
is shown before they label, and our tab in the Data Manager.
"""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from connector.port import TAB, Desk, marker
from worker.files import write_whole
from worker.findings.for_annotators import RESULT_TEXT, done_text, thanks_text
from worker.store import Ledger
from worker.store.metadata import Metadata

# The line of progress is written at most this often; each writing costs Label Studio 0.2 s.
EVERY_S = 30.0


def publish_progress(
    ledger: Ledger, desk: Desk, text: Callable[[], str], metadata: Metadata
) -> None:
    """Put one line on the project's card: at most twice a minute, and only if it changed.

    Args:
        text: says how far it is; asked for twice a minute at most, because it takes longer than
            the rest of a turn.
        metadata: as this turn has read it: nobody else writes what is looked at here.
    """
    if abs(time.time() - metadata.get("described_at", 0)) < EVERY_S:
        return
    line = f"{text()} {marker(ledger.assessment)}"
    if metadata.get("described") != line:
        desk.describe(line)
    ledger.set_metadata(described=line, described_at=int(time.time()))


def publish_tab(
    ledger: Ledger, desk: Desk, text: str, metadata: Metadata, *, at_once: bool
) -> None:
    """Title our tab in the Data Manager; Label Studio shows some fifteen characters of a title.

    Args:
        at_once: or as often as `publish_progress`.
        metadata: as of `publish_progress`.
    """
    title = f"{TAB}: {text}"
    if metadata.get("tab") == title:
        return
    if not at_once and abs(time.time() - metadata.get("tab_at", 0)) < EVERY_S:
        return
    desk.tab(title)
    ledger.set_metadata(tab=title, tab_at=int(time.time()))


def publish_waiting(
    ledger: Ledger, desk: Desk, text: str, n_labels: int, metadata: Metadata
) -> None:
    """Tell annotators at once why nobody gets new items; `retract` takes it away.

    Args:
        text: why, in words for them.
        metadata: as of `publish_progress`.
    """
    _announce(ledger, desk, f"<p><b>{html.escape(text)}</b>", metadata)
    _describe(ledger, desk, f"{text} {done_text(n_labels)}", metadata)


def write_decision(ledger: Ledger, folder: Path) -> None:
    """Write `decision.json`: the stop, and under `reviews` what later labels made of it."""
    texts, path = ledger.decisions(), folder / "decision.json"
    count = len(texts)
    if not texts or (ledger.metadata().get("told_file") == count and path.exists()):
        return
    told = _told(texts)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    ledger.set_metadata(told_file=count)


def publish_decision(ledger: Ledger, desk: Desk, with_finding: bool) -> None:
    """Thank the annotators, in the project and in the list of projects.

    The decision itself was published by the ledger already; a crash or a Label Studio that is down
    only delays this, since every later turn looks again.

    Args:
        with_finding: tell them what was found, too.
    """
    texts, metadata = ledger.decisions(), ledger.metadata()
    if not texts or metadata.get("told_desk") == len(texts):
        return
    told = _told(texts)
    thanks = thanks_text(told)
    more = _in_a_line(told) if with_finding else RESULT_TEXT
    _announce(ledger, desk, f"<p><b>{thanks}</b> {html.escape(more)}", metadata)
    _describe(ledger, desk, more if with_finding else f"{thanks} {more}", metadata)
    ledger.set_metadata(told_desk=len(texts))


def retract(ledger: Ledger, desk: Desk, metadata: Metadata) -> Metadata:
    """When work goes on, take away what told annotators that it does not.

    Args:
        metadata: as of `publish_progress`.

    Returns:
        The metadata as they are then.
    """
    if not (metadata.get("announced") or metadata.get("told_desk")):
        return metadata
    own, is_shown = _own_instruction(ledger, desk, metadata)
    desk.announce(own, is_shown=is_shown)
    # Progress is told at once again.
    ledger.set_metadata(told_desk=0, guidelines_before="", announced="", described_at=0, tab_at=0)
    return ledger.metadata()


def _announce(ledger: Ledger, desk: Desk, paragraph: str, metadata: Metadata) -> None:
    """Let annotators read a paragraph above the instruction, in place of an earlier one of ours.

    Whoever holds a task still needs the instruction, and may change it meanwhile.

    Args:
        paragraph: as HTML, without its end.
    """
    notice = f"{paragraph} {marker(ledger.assessment)}</p>"
    if metadata.get("announced") == notice:
        return
    if not metadata.get("guidelines_before"):
        own = _own_instruction(ledger, desk, metadata)
        ledger.compare_and_set("guidelines_before", "", json.dumps(own))
    desk.announce(notice + _own_instruction(ledger, desk, ledger.metadata())[0])
    # A decision that was told before is to be told again.
    ledger.set_metadata(announced=notice, told_desk=0)


def _own_instruction(ledger: Ledger, desk: Desk, metadata: Metadata) -> tuple[str, bool]:
    """The project's instruction without a paragraph of ours, and whether it is to be shown."""
    before = metadata.get("guidelines_before")
    if not metadata.get("announced") and metadata.get("told_desk"):
        # An older release put its thanks in place of all of it.
        own, is_shown = json.loads(before or '["", false]')
        return own, is_shown
    now, is_shown = desk.instruction()
    ours = rf"<p>(?:(?!</p>).)*?{re.escape(marker(ledger.assessment))}</p>"
    own = re.sub(ours, "", now, flags=re.DOTALL)
    if before:
        is_shown = json.loads(before)[1]
    elif own != now:  # what was before went with another machine
        is_shown = bool(own)
    return own, is_shown


def _describe(ledger: Ledger, desk: Desk, text: str, metadata: Metadata) -> None:
    """Put one line on the project's card now, unless it is there."""
    line = f"{text} {marker(ledger.assessment)}"
    if metadata.get("described") != line:
        desk.describe(line)
        ledger.set_metadata(described=line, described_at=int(time.time()))


def _told(texts: Sequence[str]) -> dict[str, Any]:
    """The latest stop with its reviews; of ten thousand groups each is megabytes to read."""
    decisions = [json.loads(text) for text in texts]
    last = max(n for n, d in enumerate(decisions) if d["kind"] == "stop")
    return {**decisions[last], "reviews": decisions[last + 1 :]}


def _in_a_line(told: dict[str, Any]) -> str:
    """The stop as it was published; a later review is named only if it does not confirm it."""
    reviews = told["reviews"]
    if not reviews or reviews[-1]["since"] == "confirmed":
        return str(told["text"])
    return f"{told['text']} {reviews[-1]['text']}"
