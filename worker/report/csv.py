"""The groups of a report as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from dataclasses import fields
from io import StringIO
from operator import attrgetter

from worker.report.contents import Group, Report

# Of a group in the assessment that this one continues, and of what the labels of both say.
_THEN = (
    "then_mean", "then_low", "then_high", "labels_then", "difference", "difference_low",
    "difference_high", "p", "lower", "about_equal", "higher", "believed", "is_changed",
)  # fmt: skip

# What a spreadsheet takes for the start of a formula, also after a tab or a carriage return.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def groups_csv(report: Report) -> str:
    """One line a group, with the numbers of the report's JSON; names are made harmless.

    A name that a spreadsheet would run as a formula gets a quote (') in front. An assessment that
    continues another has the numbers of `Continuation.groups` too.
    """
    text = StringIO()
    names = [field.name for field in fields(Group)]
    numbers = attrgetter(*names[1:])  # the first is the group's own name
    rows = csv.writer(text)
    lines = [[harmless(group.name), *numbers(group)] for group in report.groups]
    if report.then_and_now is not None:
        names += _THEN
        old = attrgetter(*_THEN)
        for line, then in zip(lines, report.then_and_now.groups, strict=True):
            line += old(then)
    rows.writerow(names)
    rows.writerows(lines)
    return text.getvalue()


def harmless(text: str) -> str:
    """The text, with a quote in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
