"""A folder of reports: their names, the list of them, and how many are kept."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.files import write_whole
from worker.report.templating import template

_STEM = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,63})-([0-9]{8}T[0-9]{6}Z)")
SUFFIXES = (".html", ".json", ".csv")
_FACTS = ("assessment", "title", "made_at", "status", "labels", "text")


@dataclass(frozen=True, slots=True)
class Entry:
    """One report of a folder; html, json and csv are the names of its files."""

    assessment: str
    title: str
    made_at: str
    status: str
    labels: int
    text: str
    html: str
    json: str
    csv: str


def stem_of(assessment: str, at: datetime) -> str:
    """The name of a report without its suffix."""
    return f"{assessment}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def report_file(folder: Path, name: str) -> Path | None:
    """The file of a report in a folder, or of its index; None if it is not one that we wrote.

    The folder may be anybody's: a name like that of a report does not make it one, but the JSON
    that is written beside it does.
    """
    path = folder / name
    match, is_index = _STEM.fullmatch(path.stem), name in ("index.html", "index.json")
    if not is_index and (match is None or name not in {f"{match[0]}{s}" for s in SUFFIXES}):
        return None
    if path.resolve().parent != folder.resolve() or not path.is_file():
        return None
    if match is None:
        return path if _has_our_index(folder) else None
    told = _read(path.with_suffix(".json"))
    return path if told is not None and told["assessment"] == match[1] else None


def entries(folder: Path, assessment: str | None = None) -> list[Entry]:
    """The reports in a folder, of all assessments or of one, newest first."""
    found = []
    for stem in _stems(folder, assessment):
        raw = _read(folder / f"{stem}.json")
        if raw is not None:
            facts = [raw[key] for key in _FACTS]
            files = [f"{stem}{suffix}" for suffix in SUFFIXES]
            found.append(Entry(*facts, *files))
    return found


def pages(folder: Path, assessment: str) -> list[tuple[str, datetime]]:
    """The pages of an assessment's reports with their moments, newest first; none is read."""
    found = []
    for stem in _stems(folder, assessment):
        at = datetime.strptime(stem.rpartition("-")[2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        found.append((f"{stem}.html", at))
    return found


def latest_before(folder: Path, assessment: str, stem: str) -> dict[str, Any] | None:
    """The JSON of the assessment's newest report that is older than the one named `stem`."""
    for earlier in _stems(folder, assessment):
        if earlier < stem and (raw := _read(folder / f"{earlier}.json")) is not None:
            return raw
    return None


def prune(folder: Path, assessment: str, keep: int) -> None:
    """Delete all reports of an assessment but the `keep` newest ones."""
    for stem in _stems(folder, assessment)[keep:]:
        for suffix in SUFFIXES:
            (folder / f"{stem}{suffix}").unlink(missing_ok=True)


def write_index(folder: Path) -> None:
    """Write index.json and index.html, which list the reports of the folder, newest first.

    Others' files of these names are left alone: the folder is one that a plan names.
    """
    if not _has_our_index(folder):
        return
    listed = entries(folder)
    values = {"version": 1, "reports": [asdict(entry) for entry in listed]}
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    write_whole(folder / "index.json", text)
    write_whole(folder / "index.html", template("index.html.j2").render(entries=listed))


def _has_our_index(folder: Path) -> bool:
    """Whether there is no index, or one of ours."""
    if not any((folder / f"index{suffix}").exists() for suffix in (".json", ".html")):
        return True
    try:
        told = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.keys() == {"version", "reports"}


def _stems(folder: Path, assessment: str | None) -> list[str]:
    """The reports whose page is there, newest first; the page is written last."""
    if not folder.is_dir():
        return []
    matches = [_STEM.fullmatch(path.stem) for path in folder.glob("*.html")]
    ours = [m for m in matches if m is not None and assessment in (None, m[1])]
    return [m[0] for m in sorted(ours, key=lambda m: (m[2], m[1]), reverse=True)]


def _read(path: Path) -> dict[str, Any] | None:
    """A report's JSON; None if it is gone meanwhile, of another version, or none of a report.

    A comparison may lie in the folder, too, under a name that looks like that of a report.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(raw, dict) and raw.get("version") == 1 and all(k in raw for k in _FACTS)
    return raw if is_ours else None
