"""Telling people: the one line of progress, and the decision to file and annotators."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from connector.port import TAB, Desk, marker
from worker.files import write_whole
from worker.store import Ledger
from worker.store.contract import Status
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
    ledger: Ledger, desk: Desk, status: Status, text: Callable[[], str], metadata: Metadata
) -> None:
    """Title our tab in the Data Manager, as often as `publish_progress`; what ends work, at once.

    Label Studio shows some fifteen characters of a title.

    Args:
        text: says how far it is, while it is running.
        metadata: as of `publish_progress`.
    """
    if status == "running" and abs(time.time() - metadata.get("tab_at", 0)) < EVERY_S:
        return
    over = "finished" if status == "stopped" else status
    title = f"{TAB}: {text() if status == 'running' else over}"
    if metadata.get("tab") == title and status != "running":
        return
    if metadata.get("tab") != title:
        desk.tab(title)
    ledger.set_metadata(tab=title, tab_at=int(time.time()))


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


def publish_decision(ledger: Ledger, desk: Desk) -> None:
    """Tell the annotators and the list of projects.

    The decision itself was published by the ledger already; a crash or a Label Studio that is down
    only delays this, since every later turn looks again.
    """
    texts = ledger.decisions()
    count = len(texts)
    if not texts or ledger.metadata().get("told_desk") == count:
        return
    told = _told(texts)
    if not ledger.metadata().get("guidelines_before"):
        ledger.compare_and_set("guidelines_before", "", json.dumps(desk.instruction()))
    desk.announce(_announcement(told))
    line = f"{_in_a_line(told)} {marker(ledger.assessment)}"
    desk.describe(line)
    ledger.set_metadata(told_desk=count, described=line, described_at=int(time.time()))


def retract_decision(ledger: Ledger, desk: Desk, metadata: Metadata) -> None:
    """After a resume: take the thanks away, or annotators would read that nothing is left.

    Args:
        metadata: as of `publish_progress`.
    """
    if metadata.get("told_desk"):
        html, is_shown = json.loads(metadata.get("guidelines_before") or '["", false]')
        desk.announce(html, is_shown=is_shown)
        ledger.set_metadata(told_desk=0, guidelines_before="")


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


def _announcement(told: dict[str, Any]) -> str:
    thanks = (
        "Thank you: enough is known, there is nothing left to label here."
        if told["is_conclusive"]
        else "Thank you: labelling has ended, there is nothing left to label here."
    )
    return f"<p><b>{thanks}</b></p><p>{html.escape(_in_a_line(told))}</p>"
