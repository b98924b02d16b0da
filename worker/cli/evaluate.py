"""The command that compares predictors with the votes of people: `assay evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worker.cli.parts import JSON, PLAN, context_here, quiet_if
from worker.errors import PlanError

if TYPE_CHECKING:
    from worker.evaluator.frequencies import Frequencies
    from worker.plan import Plan

if TYPE_CHECKING:
    from worker.evaluation.evaluating import Experiment


# Said here and not imported: a command's options are needed by all commands, at every start.
EXPERIMENTS = ("fit", "uncertainty", "selection")
EVALUATORS = ("uniform", "dirichlet", "ndod", "zero-mean-ndod", "bnn")


@click.command()
@PLAN
@click.option(
    "--experiment",
    type=click.Choice(EXPERIMENTS),
    required=True,
    help="Which evaluator fits; how certain the predictor is; which of several is best.",
)
@click.option("--evaluator", type=click.Choice(EVALUATORS), help="Instead of the plan's.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a page there, with its JSON beside it.",
)
@JSON
def evaluate(
    plan: Path, experiment: Experiment, evaluator: str | None, folder: Path | None, as_json: bool
) -> None:
    """Compare the predictor of a PLAN with the votes of many people (subjective tasks).

    Fits an evaluator, P(prediction | human label), and reports the distribution of a measure. The
    votes are those of `evaluate.human`, or what the running assessment has collected so far.
    """
    from worker.evaluation.evaluating import evaluate as experiment_of
    from worker.evaluation.printing import evaluation_text
    from worker.plan import load_plan
    from worker.plan.evaluate_part import EvaluatePlan
    from worker.pool.remote import localised
    from worker.store.settings import read_settings

    read = load_plan(plan, for_simulation=True)
    if read.question.task != "evaluate":
        text = f"came {read.question.task}, but `assay evaluate` compares with the votes of people"
        raise PlanError([f"question.task: {text}; write `question: {{task: evaluate}}`"], str(plan))
    asked = read.evaluate or EvaluatePlan()
    found = experiment_of(
        localised(read, read_settings().pools).pool,
        asked,
        experiment,
        seed=read.seed,
        evaluator=evaluator,
        human=_live(read) if asked.human is None else None,
        say=quiet_if(as_json),
    )
    value, text = found.to_json() | {"assessment": read.assessment}, evaluation_text(found)
    if folder is not None:
        from worker.report.evaluation import write_evaluation

        page = write_evaluation(found, read.assessment, folder)
        value |= {"page": str(page)}
        text += f"\n\nWrote {page}."
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False) if as_json else text)


def _live(plan: Plan) -> Frequencies:
    """The votes that the plan's own assessment has collected."""
    from worker.assessment import reopen
    from worker.assessment.soft_labels import collected
    from worker.service.context import NoSuchAssessment

    with context_here() as context:
        try:
            header = context.header(plan.assessment)
        except NoSuchAssessment as error:
            raise PlanError(
                [
                    "evaluate.human: missing; give a table of votes, or begin the assessment: "
                    "then its own votes are used"
                ]
            ) from error
        pool = reopen(header, context.settings.pools).pool
        return collected(context.ledger(plan.assessment).state().tally, pool)
