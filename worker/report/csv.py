"""The numbers of a report as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from operator import attrgetter
from typing import Any

from worker.report.contents import Group, Report, as_json
from worker.report.tables import confusion_table

# Of a group in the assessment that this one continues, and of what the labels of both say.
_THEN = (
    "then_mean", "then_low", "then_high", "labels_then", "difference", "difference_low",
    "difference_high", "p", "lower", "about_equal", "higher", "believed", "is_changed",
)  # fmt: skip
# Of the rows after the groups: a difference has the probabilities of a pair.
_MORE = ("part", "second", "below", "within", "above", "region")
# What names a value, the most telling first, and what the mean of its interval is called.
_FIRST = ("first", "name", "model", "annotator", "true", "score", "where", "opinion")
_SECOND, _MEAN = ("second", "given", "group"), ("mean", "accuracy", "alpha")

# What a spreadsheet takes for the start of a formula, also after a tab or a carriage return.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def report_csv(report: Report, told: dict[str, Any] | None = None) -> str:
    """One line a group, then one for every other value with an interval, and every pair.

    The numbers are those of the report's JSON; `part` is where in it a value stands, and `name`
    (with `second`, of a pair, a difference or a cell of a matrix) whose it is. Of a confusion
    matrix there are the cells that the page lists. A name that a spreadsheet would run as a formula
    gets a quote (') in front. The groups of an assessment that continues another have the numbers
    of `Continuation.groups` too.

    Args:
        told: the report as plain values, if they are at hand.
    """
    told = as_json(report) if told is None else told
    names = [field.name for field in fields(Group)]
    old = report.then_and_now
    of_group, of_then = attrgetter(*names), attrgetter(*_THEN)
    lines = [
        dict(zip(names, of_group(group), strict=True)) | {"part": "groups"}
        for group in report.groups
    ]
    if old is not None:
        for line, then in zip(lines, old.groups, strict=True):
            line |= dict(zip(_THEN, of_then(then), strict=True))
        names += _THEN
    text = StringIO()
    rows = csv.DictWriter(text, [*names, *_MORE])
    rows.writeheader()
    for line in (*lines, *_values(told), *_cells(report)):
        safe = {key: harmless(line[key]) for key in ("name", "second") if line.get(key)}
        rows.writerow(line | safe)
    return text.getvalue()


def _values(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What has an interval, or the probabilities of a pair, and is not in the lines of groups."""
    own = {"groups", "then_and_now", "confusion", "decisions", "question", "rule", "reproduce"}
    of_groups = [{"name": group["name"]} for group in told["groups"]]
    for key, value in told.items():
        if key == "source" and value is not None:
            for one in value["metrics"]:
                part = f"source.metrics.{one['metric']}"
                yield from _within(one["overall"], part, "")
                of = of_groups if one["groups"] else ()
                for group, interval in zip(of, one["groups"], strict=True):
                    yield from _within(interval and group | interval, part, "")
        elif key == "then_and_now" and value is not None:
            yield from _within(value["whole"], key, "")
        elif key not in own:
            yield from _within(value, key, "")


def _within(value: Any, part: str, of: str) -> Iterator[dict[str, Any]]:
    """Every value within a piece of the JSON; of: the name of what is around it."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _within(one, part, of)
    if not isinstance(value, dict):
        return
    if "first" in value and "group" in value:  # of two models, in a group
        of = value["group"]
    first = _known(value, _FIRST)
    name = of if first is None else f"{of}: {first}" if of else str(first)
    known = {key: value[key] for key in ("below", "within", "above", "region") if key in value}
    for end in [key for key, number in value.items() if _is_end(key) and number is not None]:
        stem = end.removesuffix("low").removesuffix("_")
        mean = _known(value, (stem, f"{stem}_mean") if stem else _MEAN)
        high = value[f"{end.removesuffix('low')}high"]
        more = {"size": value.get("size"), "labelled": value.get("labelled")} | known
        line = {"part": f"{part}.{stem}" if stem else part, "name": name, "mean": mean}
        second = _known(value, _SECOND)
        yield line | more | {"second": second, "low": value[end], "high": high}
    if known and "low" not in value:
        yield {"part": part, "name": name, "second": value.get("second")} | known
    for key, one in value.items():
        yield from _within(one, f"{part}.{key}", name)


def _is_end(key: str) -> bool:
    return key == "low" or key.endswith("_low")


def _known(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _cells(report: Report) -> Iterator[dict[str, Any]]:
    """The cells of the confusion matrix that the page lists: a predicted class, and a true one."""
    matrix = report.confusion
    if matrix is None:
        return
    for row, column in confusion_table(report).rows:
        yield {
            "part": "confusion", "name": matrix.classes[row], "second": matrix.classes[column],
            "mean": matrix.mean[row][column], "low": matrix.low[row][column],
            "high": matrix.high[row][column],
        }  # fmt: skip


def harmless(text: str) -> str:
    """The text, with a quote in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
