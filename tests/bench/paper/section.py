"""What a part of the page is made of."""

import json
from dataclasses import dataclass, field

from tests.bench.paper.data import folder

NAMES = {
    "cifar100": "CIFAR-100",
    "cifar100-wrn": "CIFAR-100 (WRN-16-4)",
    "svhn": "SVHN",
    "20newsgroups": "20 Newsgroups",
    "imagenet": "ImageNet",
}
OTHER_MODEL = {"20newsgroups": " †", "imagenet": " †", "cifar100-wrn": " †"}
WAYS = "UPrior / IPrior / IPrior+TS"


@dataclass(frozen=True, slots=True)
class Size:
    """How many runs of the baseline, and of Assay (0: leave Assay out)."""

    runs: int
    ours: int


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its title, what is to be said about it, and plots by file name."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    plots: dict[str, str] = field(default_factory=dict)


def shown(pool: str) -> str:
    """The pool's name; with a dagger where the model is not the paper's."""
    return NAMES[pool] + OTHER_MODEL.get(pool, "")


def printed(table: str, pool: str, row: str | None = None) -> list[float] | None:
    """The paper's printed numbers, read beside the data; None where there are none."""
    path = folder().parent / "papers" / "tables.json"
    if not path.exists():
        return None
    rows = json.loads(path.read_text(encoding="utf-8"))[table]["rows"]
    found = rows.get(NAMES.get(pool, pool))
    if row is not None and found is not None:
        found = found.get(row)
    return found  # type: ignore[no-any-return]


def number(value: object, digits: int = 1) -> str:
    """A number of the page; a dash where there is none."""
    return "–" if not isinstance(value, int | float) else f"{value:.{digits}f}"


def triple(values: object, digits: int = 1) -> str:
    """UPrior / IPrior / IPrior+TS in one cell."""
    if not isinstance(values, list | tuple):
        return "–"
    return " / ".join(number(v, digits) for v in values)


def markdown(section: Section) -> str:
    """The section as Markdown, its plots as pictures beside the page."""
    lines = [f"## {section.title}", "", section.note, ""]
    lines.append("| " + " | ".join(section.header) + " |")
    lines.append("|" + "---|" * len(section.header))
    lines += ["| " + " | ".join(row) + " |" for row in section.rows]
    lines += ["", *(f"![{name}]({name}.svg)" for name in section.plots), ""]
    return "\n".join(lines)
