"""An evaluation for a terminal: the answer, a table, what is confused, and the remarks."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from worker.evaluation.evaluating import Evaluation
from worker.evaluator.experiments import PredictorExperiment
from worker.evaluator.fit_experiment import FitExperiment
from worker.evaluator.summaries import Estimate
from worker.evaluator.texts import (
    between,
    confusions,
    headline,
    name_of,
    number,
    remarks,
)
from worker.formats import counted

WIDTH = 100
_NOTHING = "-"


def evaluation_text(evaluation: Evaluation) -> str:
    """What an experiment found, for people."""
    found = evaluation.found
    votes = f"{evaluation.votes:,.1f} votes" if evaluation.votes is not None else "frequencies"
    items = counted(found.items, "item")
    classes = counted(len(evaluation.classes), "class", "classes")
    several = f", {found.predictions} predictions each" if found.predictions > 1 else ""
    lines = [*textwrap.wrap(headline(found), WIDTH), ""]
    lines.append(
        f"{items} with {votes} each on average{several}, {classes}."
        if evaluation.votes is not None
        else f"{items} with {votes}{several}, {classes}."
    )
    lines += [line for note in evaluation.notes for line in textwrap.wrap(note, WIDTH)]
    table = _fit(found) if isinstance(found, FitExperiment) else _predictors(found)
    lines += ["", table]
    if isinstance(found, PredictorExperiment):
        for predictor in found.predictors:
            told = confusions(found, predictor, 3 if len(found.predictors) == 1 else 1)
            if told:
                lines += ["", f"{predictor.name}: what it confuses with what"]
                lines += [line for text in told for line in _item(text)]
    told = remarks(found)
    if told:
        lines += ["", *(line for text in told for line in _item(text))]
    return "\n".join(lines)


def _item(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")


def _fit(found: FitExperiment) -> str:
    level = f"{100 * found.level:g}%"
    heads = (f"{level} within", "held out", "energy score", "behind the best", "with noise")
    n_folds = max((len(one.folds) for one in found.evaluators), default=0)
    folds = (f"{level} within, {n_folds} folds",) if n_folds else ()
    table = _table("evaluator", (*heads, *folds))
    for one in found.evaluators:
        if one.fitted is None or one.held_out is None or one.behind is None:
            table.add_row(one.evaluator, "refused")
            continue
        of, noisy = one.held_out, one.held_out.with_noise
        ends = [fold.right_tailed for fold in one.folds]
        table.add_row(
            one.evaluator,
            number(one.fitted.distance.right_tailed),
            number(of.distance.right_tailed),
            f"{number(of.energy.mean)} ± {number(of.energy.high - of.energy.mean)}",
            _NOTHING
            if one.behind.mean == 0
            else f"{number(one.behind.mean)} ± {number(one.behind.high - one.behind.mean)}",
            number(noisy.mean) if noisy is not None else _NOTHING,
            *((between(min(ends), max(ends)),) if ends else ()),
        )
    return _printed(table)


def _predictors(found: PredictorExperiment) -> str:
    level = f"{100 * found.level:g}%"
    of_items = found.predictors[0].whole.seen_distribution is not None
    heads = ("items", "mean", f"{level} HPDI of the mean", "its own")
    more = ("HPDI of an item", "right tail") if of_items else ()
    chance = ("P(best)",) if len(found.predictors) > 1 else ()
    table = _table("predictor", (*heads, *more, *chance))
    for predictor in found.predictors:
        for part in (predictor.whole, *predictor.parts):
            is_whole = part is predictor.whole
            p_best = predictor.p_best if is_whole else None
            table.add_row(
                name_of(found, predictor, part),
                f"{part.items:,}",
                number(part.mean.mean),
                _interval(part.mean),
                number(part.seen),
                *(
                    (
                        between(part.measure.low, part.measure.high),
                        number(part.measure.right_tailed),
                    )
                    if of_items
                    else ()
                ),
                *((_NOTHING if p_best is None else f"{p_best:.3f}",) if chance else ()),
            )
    return _printed(table)


def _interval(of: Estimate) -> str:
    return between(of.low, of.high)


def _table(first: str, heads: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _printed(table: Table) -> str:
    out = io.StringIO()
    Console(file=out, width=WIDTH, highlight=False, markup=False).print(table)
    return out.getvalue().rstrip()
