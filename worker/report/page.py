"""Report -> one HTML page that needs nothing but itself, with its JSON and CSV beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from worker.files import write_whole
from worker.formats import found, shown
from worker.report import tables, tables_people
from worker.report.contents import Confusion, Report, as_json
from worker.report.contents_people import MOST_R_HAT
from worker.report.csv import report_csv
from worker.report.models import models_tables
from worker.report.parents import parents_table, sections
from worker.report.pictures import MOST_PAIRS, calibration, noun, progress, rope
from worker.report.pictures_confusion import confusion, uncertainty
from worker.report.pictures_densities import differences, eces
from worker.report.pictures_groups import chances, costs, forest, labels_per_group, ranks
from worker.report.pictures_labels import accuracy_against_ece, points
from worker.report.pictures_people import habits
from worker.report.pictures_svg import Picture
from worker.report.tables_change import then_and_now_table
from worker.report.tables_densities import densities_tables
from worker.report.tables_labels import metrics_tables
from worker.report.tables_opinions import opinions_tables
from worker.report.templating import policy, script, style, template


def page(report: Report, told: dict[str, Any] | None = None) -> str:
    """The report as one HTML document: no other file, no other host, a script that sorts tables.

    Args:
        told: the report as plain values, where they are at hand.
    """
    told = as_json(report) if told is None else told
    return template("report.html.j2").render(
        report=report,
        style=style(),
        script=script(),
        policy=policy(),
        pictures=pictures(report),
        tables={
            name: tables.as_html(table, told) if table.rows else None
            for name, table in _tables(report).items()
        },
        families=sections(report),
        noun=noun(report),
        number=partial(_number, told),
        most_pairs=MOST_PAIRS,
        has_matrices=tables_people.has_matrices(report),
        most_r_hat=MOST_R_HAT,
        plan=json.dumps(
            {"question": report.question, "rule": report.rule}, indent=2, ensure_ascii=False
        ),
    )


def write_report(report: Report, folder: Path, stem: str) -> Path:
    """Write STEM.html, STEM.json and STEM.csv, each as a whole; return the page's path.

    The page comes last: who sees it finds the other two.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told = as_json(report)
    text = json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(folder / f"{stem}.json", f"{text}\n")
    write_whole(folder / f"{stem}.csv", report_csv(report, told))
    write_whole(folder / f"{stem}.html", page(report, told))
    return folder / f"{stem}.html"


def _number(told: dict[str, Any], path: str, kind: str) -> Markup:
    """A number within the text, with the place in the JSON that it comes from."""
    text = escape(shown(found(told, path), kind))
    return Markup('<span data-of="{}" data-as="{}">{}</span>').format(path, kind, text)


def pictures(report: Report) -> dict[str, Picture | None]:
    """The pictures; None instead of those that this report has nothing for."""
    filled = sum(group.mean is not None for group in report.groups)
    is_ranked = filled > 1 and report.models is None
    of_ends = any(g.p_lowest is not None or g.p_highest is not None for g in report.groups)
    matrix = report.confusion
    has_matrix = matrix is not None and any(row[0] is not None for row in matrix.mean)
    wanted: dict[str, tuple[bool, Callable[[Report], Picture]]] = {
        "progress": (any(p.reached is not None for p in report.progress), progress),
        "forest": (filled > 0, forest),
        "labels": (report.labels > 0 and filled > 0, labels_per_group),
        "costs": (report.metric == "cost" and filled > 0, costs),
        "chances": (is_ranked and of_ends, chances),
        "ranks": (is_ranked, ranks),
        "pairs": (bool(report.pairs), rope),
        "calibration": (bool(report.reliability and report.reliability.bins), calibration),
        "confusion": (has_matrix, confusion),
        "uncertainty": (has_matrix and matrix != _exact(matrix), uncertainty),
        "differences": (bool(report.densities and report.densities.differences), differences),
        "eces": (bool(report.densities and report.densities.ece), eces),
        "against_ece": (len(points(report)) > 1, accuracy_against_ece),
    }
    drawn = {name: draw(report) if is_there else None for name, (is_there, draw) in wanted.items()}
    return drawn | habits(report) | _of_votes(report)


def _exact(matrix: Confusion | None) -> Confusion | None:
    """A matrix as it is where nothing is uncertain any more."""
    return None if matrix is None else replace(matrix, low=matrix.mean, high=matrix.mean)


def _of_votes(report: Report) -> dict[str, Picture | None]:
    """How far predictions are from people's votes, for the task evaluate."""
    found = report.evaluation
    if found is None:
        return {"measure": None, "confused": None}
    # The evaluators are slow to load, and other tasks do not need them.
    from worker.report.pictures_evaluation import confused_pairs, predictor_violins

    pairs = found.predictors[0].whole.confused
    return {
        "measure": predictor_violins(found),
        "confused": confused_pairs(found) if pairs else None,
    }


def _tables(report: Report) -> dict[str, tables.Table]:
    of_groups = tables.group_tables(report)
    if report.metric == "cost":
        # A name of its own: two tables that are called the same cannot be told apart by ear.
        caption = "What an item of every group is expected to cost: mean and 95% interval"
        of_groups["costs"] = replace(of_groups["values"], name="costs", caption=caption)
    return {
        **of_groups,
        "progress": tables.progress_table(report),
        "calibration": tables.calibration_table(report),
        "curve": tables.curve_table(report),
        "parents": parents_table(report),
        **models_tables(report),
        **opinions_tables(report),
        **metrics_tables(report),
        **densities_tables(report),
        "pairs": tables.pairs_table(report),
        "confusion": tables.confusion_table(report),
        "failures": tables_people.failures_table(report),
        "judge": tables_people.judge_table(report),
        "annotators": tables_people.people_table(report),
        "quality": tables_people.quality_table(report),
        "disputed": tables_people.disputed_table(report),
        **tables_people.confusion_tables(report),
        "moved": tables.moved_table(report),
        "rejected": tables.rejected_table(report),
        "then_and_now": then_and_now_table(report),
    }
