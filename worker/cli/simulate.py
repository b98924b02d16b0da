"""The commands that need no annotator: `assay simulate` and `assay plan-labels`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from worker.cli.ends import leave
from worker.cli.parts import JSON, PLAN, context_here
from worker.formats import counted
from worker.nearest import did_you_mean

if TYPE_CHECKING:
    from worker.simulate.cases import Asked, Case
    from worker.simulate.measuring import Run

_Convert = Callable[[click.Context, click.Parameter, str | None], Any]


def _names(known: Callable[[], Sequence[str]]) -> _Convert:
    """Read `a,b`, each of them one of those that are known."""

    def convert(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
        names = [name.strip() for name in text.split(",")] if text is not None else []
        for name in names:
            if name not in known():
                raise click.BadParameter(
                    f"came {name!r}, expected some of {', '.join(known())}, separated by commas"
                    f"{did_you_mean(name, known())}"
                )
        return tuple(dict.fromkeys(names))

    return convert


def _strategies() -> Sequence[str]:
    from worker.core.strategies import STRATEGIES

    return list(STRATEGIES)


def _priors() -> Sequence[str]:
    from worker.plan.prior_part import PriorPlan

    return get_args(PriorPlan.model_fields["kind"].annotation)


def _label_counts(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, ...]:
    counts = [count.strip() for count in text.split(",")] if text is not None else []
    for count in counts:
        if not count.isdecimal() or int(count) < 1:
            raise click.BadParameter(
                f"came {count!r}, expected numbers of labels from 1, separated by commas: 100,200"
            )
    return tuple(sorted({int(count) for count in counts}))


def _strengths(_: click.Context, __: click.Parameter, text: str | None) -> tuple[float, ...]:
    found = []
    for word in text.split(",") if text is not None else []:
        try:
            found.append(float(word))
        except ValueError:
            found.append(0.0)
        if not 0 < found[-1] < float("inf"):
            raise click.BadParameter(
                f"came {word.strip()!r}, expected numbers above 0, separated by commas: 2,10,100"
            )
    return tuple(dict.fromkeys(found))


def _number(option: str, what: str) -> Callable[[Any], Any]:
    """An option for the number of a strategy."""
    inside = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(option, type=inside, help=f"{what}.")


RUNS = click.option(
    "--runs", type=click.IntRange(min=1), default=200, show_default=True, help="How many runs."
)
SEED = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Of the simulation; else the plan's."
)
PROCESSES = click.option(
    "--processes", type=click.IntRange(min=1), help="Processes on this machine; else all cores."
)
RQ = click.option(
    "--rq", "over_rq", is_flag=True, help="Let the workers of the Redis in REDIS_URL take the runs."
)


@click.command()
@PLAN
@click.option(
    "--truth",
    metavar="COLUMN",
    help="The predictions' column of true classes, or FILE:COLUMN of a file with the items' ids; "
    "without it, truths are drawn from the prior.",
)
@click.option("--strategies", callback=_names(_strategies), help="As in random,thompson.")
@click.option("--priors", callback=_names(_priors), help="As in uniform,informative.")
@click.option(
    "--strengths", callback=_strengths, help="Of the priors, in labels a group, as in 2,10,100."
)
@_number("--beta", "How often top-two keeps its first draw")
@_number("--epsilon", "How often epsilon-greedy takes any item")
@_number("--quantile", "Which posterior quantile bayes-ucb goes by")
@RUNS
@SEED
@click.option("--until", type=click.IntRange(min=1), help="Labels a run; else the whole pool.")
@click.option("--at", callback=_label_counts, help="Where errors are measured, as in 100,200.")
@PROCESSES
@RQ
@click.option(
    "--report",
    metavar="FILE.html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write a page with the curves beside.",
)
@JSON
def simulate(
    plan: Path,
    truth: str | None,
    strategies: tuple[str, ...],
    priors: tuple[str, ...],
    strengths: tuple[float, ...],
    beta: float | None,
    epsilon: float | None,
    quantile: float | None,
    runs: int,
    seed: int | None,
    until: int | None,
    at: tuple[int, ...],
    processes: int | None,
    over_rq: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    """Replay a labelled pool: what would a PLAN have cost, and would it have been right?

    Needs neither Label Studio nor (without --rq) Redis. Ctrl-C reports on the finished runs.
    """
    from worker.simulate.cases import Asked
    from worker.simulate.report import simulated
    from worker.simulate.texts import simulated_text

    given = {"top-two": beta, "epsilon-greedy": epsilon, "bayes-ucb": quantile}
    numbers = {name: number for name, number in given.items() if number is not None}
    asked = Asked(truth, strategies, priors, strengths, numbers, seed, until, at)
    cases, finished = _run(plan, asked, runs, processes, over_rq)
    found = simulated(cases, finished, runs, truth)
    click.echo(json.dumps(found) if as_json else simulated_text(found))
    if report is not None:
        from worker.files import write_whole
        from worker.simulate.page import page

        write_whole(report, page(found))
        click.echo(f"The page: {report}", err=True)
    leave(is_whole=all(len(one) == runs for one in finished))


@click.command(name="plan-labels")
@PLAN
@RUNS
@SEED
@PROCESSES
@RQ
@JSON
def plan_labels(
    plan: Path, runs: int, seed: int | None, processes: int | None, over_rq: bool, as_json: bool
) -> None:
    """Say how many labels the question of a PLAN will cost, before there is any.

    Pools are drawn from the plan's prior. Ctrl-C reports on the finished runs.
    """
    from worker.plan import load_plan
    from worker.simulate.cases import Asked
    from worker.simulate.report import planned
    from worker.simulate.texts import planned_text

    budget = load_plan(plan, for_simulation=True).stop.budget
    (case,), (finished,) = _run(plan, Asked(seed=seed, only_stop=True), runs, processes, over_rq)
    report = planned(case, finished, budget)
    click.echo(json.dumps(report) if as_json else planned_text(report))
    leave(is_whole=len(finished) == runs)


def _check_numbers(cases: Sequence[Case], asked: Asked) -> None:
    """Refuse numbers that nothing would come of."""
    option = {"top-two": "--beta", "epsilon-greedy": "--epsilon", "bayes-ucb": "--quantile"}
    for name in asked.numbers:
        if all(case.strategy != name for case in cases):
            raise click.BadParameter(
                f"it is a number of {name}, which is not simulated; add {name} to --strategies",
                param_hint=option[name],
            )
    if asked.strengths and all(case.prior == "empirical" for case in cases):
        raise click.BadParameter(
            "the strength of an empirical prior is fitted to the labels; add --priors uniform",
            param_hint="--strengths",
        )


def _run(
    plan: Path, asked: Asked, n_runs: int, n_processes: int | None, over_rq: bool
) -> tuple[list[Case], list[list[Run]]]:
    """Prepare, take the runs, and return those that are finished, by case."""
    from worker.simulate import spread
    from worker.simulate.cases import prepare
    from worker.store.settings import read_settings

    cases = prepare(plan, read_settings().pools, asked)
    _check_numbers(cases, asked)
    last, n_items = cases[0].measures.until, cases[0].n_items
    if asked.at and max(asked.at) > last:
        cure = ", or raise --until" if last < n_items else f": the pool has {n_items:,} items"
        raise click.BadParameter(
            f"came {max(asked.at)}, but runs end at {counted(last, 'label')}; leave it out{cure}",
            param_hint="--at",
        )
    finished: list[list[Run]] = [[] for _ in cases]
    wanted = n_runs * len(cases)
    place: AbstractContextManager[Any] = context_here() if over_rq else nullcontext()
    with place as context:
        if context is None:
            runs = spread.here(cases, n_runs, n_processes)
        else:
            runs = spread.over_rq(cases, n_runs, context)
        try:
            with (
                closing(runs),
                click.progressbar(
                    length=wanted, label="Runs", file=sys.stderr, hidden=not sys.stderr.isatty()
                ) as bar,
            ):
                for at, run in runs:
                    finished[at].append(run)
                    bar.update(1)
        except KeyboardInterrupt:
            if not all(finished):
                raise  # there is nothing to report
            done = sum(map(len, finished))
            click.echo(f"Interrupted: the report is of {done} of {wanted} runs.", err=True)
    return cases, finished
