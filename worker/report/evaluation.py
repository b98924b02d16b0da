"""Evaluation -> one HTML page that needs nothing but itself, with its JSON beside it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.evaluation.evaluating import Evaluation
from worker.evaluator.experiments import PredictorExperiment
from worker.evaluator.fit_experiment import FitExperiment
from worker.evaluator.texts import confusions, headline, modes, remarks
from worker.files import write_whole
from worker.report import tables
from worker.report.pictures_evaluation import confused_pairs, fit_violins, predictor_violins
from worker.report.pictures_svg import Picture
from worker.report.tables import Column, Table
from worker.report.templating import policy, script, style, template


def as_json(evaluation: Evaluation, assessment: str, made_at: str) -> dict[str, Any]:
    """The evaluation as plain values, with its words and the table's rows."""
    told = evaluation.to_json()
    told["rows"] = _rows(told)
    return {
        "assessment": assessment,
        "made_at": made_at,
        "text": headline(evaluation.found),
        "remarks": remarks(evaluation.found),
    } | told


def page(evaluation: Evaluation, assessment: str, made_at: str) -> str:
    """The evaluation as one HTML document: no other file, no other host."""
    told, found = as_json(evaluation, assessment, made_at), evaluation.found
    pictures: list[Picture] = []
    words: list[tuple[str, list[str]]] = []
    if isinstance(found, FitExperiment):
        pictures.append(fit_violins(found))
    else:
        pictures.append(predictor_violins(found))
        most = 5 if len(found.predictors) == 1 else 2
        words = [(p.name, confusions(found, p, most)) for p in found.predictors]
    return template("evaluation.html.j2").render(
        told=told,
        style=style(),
        script=script(),
        policy=policy(),
        measure=pictures[0],
        table=tables.as_html(_table(found, told), told),
        confused=confused_pairs(found)
        if isinstance(found, PredictorExperiment) and found.predictors[0].whole.confused
        else None,
        words=words,
        modes=_modes(found),
        fits=_fits(told),
    )


def write_evaluation(evaluation: Evaluation, assessment: str, folder: Path) -> Path:
    """Write a page and its JSON, each as a whole, named after the assessment, experiment and time.

    Returns:
        The page's path.
    """
    now = datetime.now(UTC)
    made_at = now.isoformat(timespec="seconds")
    folder.mkdir(parents=True, exist_ok=True)
    told = as_json(evaluation, assessment, made_at)
    stem = f"{assessment}-{told['experiment']}-{now:%Y%m%dT%H%M%SZ}"
    text = json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(folder / f"{stem}.json", text)
    write_whole(folder / f"{stem}.html", page(evaluation, assessment, made_at))
    return folder / f"{stem}.html"


def _rows(told: dict[str, Any]) -> list[dict[str, Any]]:
    """What a table shows in a row: evaluators, or predictors and their parts."""
    if told["experiment"] == "fit":
        return [
            {
                "name": one["evaluator"],
                "fitted": one["fitted"] and one["fitted"]["distance"]["right_tailed"],
                "held_out": one["held_out"] and one["held_out"]["distance"]["right_tailed"],
                "energy": one["held_out"] and one["held_out"]["energy"]["mean"],
                **_behind(one, told["by_energy"][0]),
            }
            for one in told["evaluators"]
        ]
    return [
        {
            "name": predictor["name"],
            "part": part["name"],
            "items": part["items"],
            "mean": part["mean"]["mean"],
            "low": part["mean"]["low"],
            "high": part["mean"]["high"],
            "seen": part["seen"],
            "item_low": part["measure"]["low"],
            "item_high": part["measure"]["high"],
            "right_tailed": part["measure"]["right_tailed"],
            "p_best": None if n else predictor["p_best"],
        }
        for predictor in told["predictors"]
        for n, part in enumerate([predictor["whole"], *predictor["parts"]])
    ]


def _behind(one: dict[str, Any], best: str) -> dict[str, float | None]:
    """How far an evaluator is behind the best one; nothing of the best itself."""
    of = one["behind"] if one["evaluator"] != best else None
    return {
        "behind": of and of["mean"],
        "behind_low": of and of["low"],
        "behind_high": of and of["high"],
    }


def _table(found: FitExperiment | PredictorExperiment, told: dict[str, Any]) -> Table:
    level = f"{100 * found.level:g}%"
    heads: dict[str, tuple[str, str]]
    if isinstance(found, FitExperiment):
        caption = "How close draws come to the predictions; behind: energy score above the best"
        heads = {
            "name": ("Evaluator", "text"),
            "fitted": (f"{level} within, fitted", "error"),
            "held_out": (f"{level} within, held out", "error"),
            "energy": ("Energy score", "error"),
            "behind": ("Behind", "error"),
            "behind_low": (f"{level} from", "error"),
            "behind_high": (f"{level} to", "error"),
        }
    else:
        caption = f"The {found.measure} by draws of {found.evaluator}: its mean, and of an item"
        heads = {
            "name": ("Predictor", "text"),
            "part": ("Part", "text"),
            "items": ("Items", "count"),
            "mean": ("Mean", "error"),
            "low": (f"{level} from", "error"),
            "high": (f"{level} to", "error"),
            "seen": ("Its own mean", "error"),
            "item_low": ("An item from", "error"),
            "item_high": ("to", "error"),
            "right_tailed": ("Right tail", "error"),
        }
        if not any(predictor.parts for predictor in found.predictors):
            del heads["part"]
        if len(found.predictors) > 1:
            heads["p_best"] = ("P(best)", "share")
    columns = tuple(Column(head, f"rows.{{0}}.{key}", kind) for key, (head, kind) in heads.items())
    return Table("measure", caption, columns, [(n,) for n in range(len(told["rows"]))])


def _modes(found: FitExperiment | PredictorExperiment) -> list[tuple[str, str]]:
    """Who has modes apart, and where they are."""
    if isinstance(found, FitExperiment):
        every = [(one.evaluator, one.held_out.distance) for one in found.evaluators if one.held_out]
    else:
        every = [(one.name, one.whole.measure) for one in found.predictors]
    return [(name, modes(of)) for name, of in every if len(of.region) > 1]


def _fits(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The numbers of each fit that has some: convergence of the chains."""
    if told["experiment"] == "fit":
        every = {one["evaluator"]: one["diagnostics"] for one in told["evaluators"]}
    else:
        every = {
            f"{p['name']} {part['name']}": part["diagnostics"]
            for p in told["predictors"]
            for part in (p["parts"] or [p["whole"]])
        }
    return {
        name: {key: one for key, one in found.items() if isinstance(one, int | float | str)}
        for name, found in every.items()
        if found
    }
