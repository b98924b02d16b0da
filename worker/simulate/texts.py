"""Reports of simulations, for people."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from worker.formats import counted

WIDTH = 100
_MOST_COUNTS = 5


def simulated_text(report: dict[str, Any]) -> str:
    """A simulation for people."""
    table = Table(box=None, pad_edge=False)
    for title in ("strategy", "prior"):
        table.add_column(title)
    for title in ("MRR>.95", "MRR>.99", "regret", "stopped", "labels", "right", "claimed", "CPU s"):
        table.add_column(title, justify="right", no_wrap=True)
    for result in report["results"]:
        stop = result["stop"]
        low, high = stop["labels_quartiles"]
        labels = "-" if low is None else f"{stop['labels_median']:,} ({low:,}-{high:,})"
        table.add_row(
            result["strategy"],
            result["prior"],
            _shown(result["labels_to_mrr95"], ",d"),
            _shown(result["labels_to_mrr99"], ",d"),
            _shown(result["regret"], ".4f"),
            f"{stop['stopped']} of {result['runs']}",
            labels,
            _shown(stop["right"] / stop["stopped"] if stop["stopped"] else None, ".0%"),
            _shown(stop["claimed"], ".1%"),
            _shown(result["cpu_s_per_run"], ".2f"),
        )
    column = report["truth"]
    truth = f"true classes in {column}" if column else "truths drawn from the prior"
    lines = [
        f"{counted(report['finished'], 'run')} over the {counted(report['items'], 'item')} of "
        f"{report['pool']} ({truth}; seed {report['seed']}), {counted(report['until'], 'label')} "
        "each."
    ]
    if report["per_item"] > 1:
        lines.append(f"A label is an item with its {report['per_item']} annotations.")
    lines += ["", _text(table), ""]
    if report["tolerance"]:
        lines.append(
            f"Right: the named groups are the extreme ones, or within {report['tolerance']:g} of "
            "them."
        )
    lines += [line for result in report["results"] if (line := _unanswered(result))]
    lines += [
        line
        for result in report["results"]
        for line in (
            _curve("RMSE", result, "rmse_at"),
            _curve("whole pool's error", result, "whole_error_at"),
            _curve("ECE error", result, "ece_error_at"),
        )
        if line
    ]
    lines += _tests(report["tests"])
    lines += [line for result in report["results"] for line in _held(result)]
    return "\n".join(lines)


def _tests(tests: Sequence[dict[str, Any]]) -> list[str]:
    """The first strategy against the others, run by run; of errors those after the most labels."""
    if not tests:
        return []
    errors = [test["what"] for test in tests if test["what"].startswith("error")]
    table = Table(box=None, pad_edge=False)
    for title in ("against", ""):
        table.add_column(title)
    for title in ("its mean", "other's", "less in", "p"):
        table.add_column(title, justify="right", no_wrap=True)
    for test in tests:
        if test["what"] in errors[:-1]:
            continue
        less = f"{test['first_less']:.0%} of {test['runs']}"
        p = "<.0001" if test["p"] < 1e-4 else f"{test['p']:.4f}"
        means = (format(mean, ".4g") for mean in test["means"])
        table.add_row(test["second"], test["what"], *means, less, p)
    title = f"Run by run, {tests[0]['first']} (Wilcoxon's signed-rank test; less is better)"
    return ["", title, _text(table)]


def _held(result: dict[str, Any]) -> list[str]:
    """How much of what would be published was true, a line for each kind of number."""
    rows = result["held"]
    counts = sorted({row["labels"] for row in rows if row["labels"] is not None})
    if len(counts) > _MOST_COUNTS:  # the first, the last, and some between
        counts = [
            counts[round(i * (len(counts) - 1) / (_MOST_COUNTS - 1))] for i in range(_MOST_COUNTS)
        ]
    columns = [*counts, None]
    came = {(row["what"], row["labels"]): row for row in rows}
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for labels in columns:
        table.add_column("at the stop" if labels is None else f"{labels:,}", justify="right")
    for what in dict.fromkeys(row["what"] for row in rows):
        own = [came.get((what, labels)) for labels in columns]
        table.add_row(what, *("-" if row is None else _against(row) for row in own))
    if not rows:
        return []
    of = f"{result['strategy']}, {result['prior']}"
    return ["", f"True, of what {of} would publish (said): intervals, probabilities", _text(table)]


def _against(row: dict[str, Any]) -> str:
    return f"{row['came']:.2f} ({row['said']:.2f})"


def planned_text(report: dict[str, Any]) -> str:
    """What a question will cost, for people."""
    if report["labels_median"] is None:
        return "No run stopped."
    low, high = report["labels_quartiles"]
    lines = [
        f"The question will cost about {counted(report['labels_median'], 'label')} of "
        f"{counted(report['items'], 'item')} (half of the time {low:,} to {high:,}): "
        f"{counted(report['runs'], 'pool')} drawn from the "
        f"{report['prior']} prior, strategy {report['strategy']}.",
        f"It is answered before all is labelled in "
        f"{report['answered_before_all_are_labelled']:.0%} of them.",
    ]
    if (people := report["per_item"]) > 1:
        lines.append(
            f"A label is an item that {people} people judge: about "
            f"{people * report['labels_median']:,} annotations."
        )
    if report["budget"] is not None:
        lines.append(
            f"The budget of {counted(report['budget'], 'label')} is enough in "
            f"{report['answered_within_budget']:.0%}."
        )
    return "\n".join(lines)


def _unanswered(result: dict[str, Any]) -> str:
    stop = result["stop"]
    if not stop["inconclusive"]:
        return ""
    spent = f" ({stop['budget']} because the budget was spent)" if stop["budget"] else ""
    return (
        f"{stop['inconclusive']} of {counted(result['runs'], 'run')} of {result['strategy']}, "
        f"{result['prior']}, ended without an answer{spent}."
    )


def _curve(name: str, result: dict[str, Any], key: str) -> str:
    points = ", ".join(f"{n}: {_shown(value, '.4f')}" for n, value in result[key].items())
    return f"{name} of {result['strategy']}, {result['prior']}, at {points}" if points else ""


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _text(table: Table) -> str:
    out = io.StringIO()
    Console(file=out, width=WIDTH, highlight=False, markup=False).print(table)
    return out.getvalue().rstrip()
