"""How one speaks about the groups' values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """How one speaks about the groups' values under a metric.

    name, names: of one value, of many. lowest, highest: what the extreme groups are; {} is
    "class", "groups" and so on. below, within, above: what holds between two groups and epsilon.
    term, meaning: what a glossary says of it; empty where everybody knows.
    item: what is labelled. right: of what a label says whether it is right. scored_by: whose scores
    they are.
    """

    name: str
    names: str
    lowest: str
    highest: str
    below: str
    within: str
    above: str
    term: str = ""
    meaning: str = ""
    item: str = "item"
    right: str = "the classifier"
    scored_by: str = "the classifier"


def words(
    name: str, names: str, extreme: tuple[str, str], compared: tuple[str, str, str],
    term: str = "", meaning: str = "",
) -> Words:  # fmt: skip
    """The words of a metric of which groups are called by an adjective.

    Args:
        extreme: of the lowest and the highest, such as "least accurate".
        compared: of two groups, such as "less accurate", "equally accurate", "more accurate".
    """
    (lowest, highest), (less, same, more) = extreme, compared
    by = "by more than {2:g}"
    return Words(
        name, names, f"{lowest} {{}}", f"{highest} {{}}",
        f"{{0}} is {less} than {{1}} {by}",
        f"{{0}} and {{1}} are {same} to within {{2:g}}",
        f"{{0}} is {more} than {{1}} {by}",
        term, meaning,
    )  # fmt: skip
