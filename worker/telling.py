"""Telling people: the one line of progress, and the decision to file and annotators."""

from __future__ import annotations

import html
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from connector.desk import Desk
from connector.project import marker
from worker.ledger import Ledger

# The line of progress is written at most this often; each writing costs Label Studio 0.2 s.
EVERY_S = 30.0


def tell_progress(ledger: Ledger, desk: Desk, text: str) -> None:
    """Put one line on the project's card: at most twice a minute, and only if it changed."""
    notes = ledger.notes()
    line = f"{text} {marker(ledger.assessment)}"
    if notes.get("described") == line:
        return
    if abs(time.time() - float(notes.get("described_at", 0))) < EVERY_S:
        return
    desk.describe(line)
    ledger.note(described=line, described_at=int(time.time()))


def write_decision(ledger: Ledger, folder: Path) -> None:
    """Write `decision.json`: the stop, and under `reviews` what later labels made of it."""
    told, count = _told(ledger)
    path = folder / "decision.json"
    if told is None or (ledger.notes().get("told_file") == count and path.exists()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    ledger.note(told_file=count)


def tell_decision(ledger: Ledger, desk: Desk) -> None:
    """Tell the annotators and the list of projects.

    The decision itself was published by the ledger already; a crash or a Label Studio that is down
    only delays this, since every later turn looks again.
    """
    told, count = _told(ledger)
    if told is None or ledger.notes().get("told_desk") == count:
        return
    desk.announce(_announcement(told))
    line = f"{_in_a_line(told)} {marker(ledger.assessment)}"
    desk.describe(line)
    ledger.note(told_desk=count, described=line, described_at=int(time.time()))


def untell_decision(ledger: Ledger, desk: Desk, instruction: str | None) -> None:
    """After a resume: take the thanks away, or annotators would read that nothing is left."""
    if ledger.notes().get("told_desk"):
        desk.announce(instruction or "<p>Labelling goes on.</p>")
        ledger.note(told_desk="")


def _told(ledger: Ledger) -> tuple[dict[str, Any] | None, str]:
    """The latest stop with its reviews, and a count that grows with every decision."""
    decisions = [json.loads(text) for text in ledger.decisions()]
    if not decisions:
        return None, "0"
    last = max(n for n, d in enumerate(decisions) if d["kind"] == "stop")
    return {**decisions[last], "reviews": decisions[last + 1 :]}, str(len(decisions))


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


def write_whole(path: Path, text: str) -> None:
    """Write a file so that readers see the old one or the new one, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(name, path)
