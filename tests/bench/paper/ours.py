"""Assay at the paper's settings: plans for `assay simulate`, run as a user runs them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.cases import (
    Method,
    core,
    of_run,
    opened,
    order_of,
    planned,
    prepared,
    spread,
)
from tests.bench.paper.data import load
from worker.core.questions.ranking import ranking
from worker.core.questions.reciprocal_rank import mrr
from worker.simulate.cases import Asked, Case
from worker.simulate.replay import labels
from worker.simulate.schedule import LOG_STEP, log_steps
from worker.simulate.spread import here
from worker.simulate.truths import true_values


def simulated(
    pool: str,
    question: Value,
    n_runs: int,
    groups: str = "predicted_class",
    at: tuple[int, ...] = (),
    until: int | None = None,
) -> Value | None:
    """What `assay simulate --json` says of the default plan; if it cannot, None: why is shown."""
    settings = {"pool": pool, "question": question, "n_runs": n_runs, "groups": groups}
    try:
        return remembered(simulate, core(), at=at, until=until, **settings)
    except subprocess.CalledProcessError:
        return None


def identified(
    pool: str, question: Value, n_runs: int, first: int, with_stops: bool = True
) -> Value | None:
    """As `simulated`, with `first` labels a run, then twice as many, until mean MRR is > .99.

    Without stops the rule is not asked: for costs and calibration errors, whose distributions are
    sampled, that would take longer than all else.
    """
    n_items = load(pool).label.size
    until = min(first, n_items)
    while True:
        if with_stops:
            found = simulated(pool, question, n_runs, until=until)
        else:
            settings: Value = {"question": question, "n_runs": n_runs, "until": until}
            found = remembered(rank, core(), pool=pool, **settings)
        if found is None or found["labels_to_mrr99"] is not None or until == n_items:
            return found
        until = min(2 * until, n_items)


@dataclass(frozen=True, slots=True)
class Stops:
    """What the stop rule did in runs of a pool of n_items: labels, and whether it was right.

    labels: of the runs that stopped with a finding before everything was labelled.
    right: whether each of them was. n_runs: all of them. exhausted: that labelled everything.
    """

    n_items: int
    n_runs: int
    labels: tuple[int, ...]
    right: tuple[bool, ...]
    exhausted: int

    @property
    def n_right(self) -> int:
        """How many findings were right."""
        return sum(self.right)

    @property
    def until_right(self) -> list[int]:
        """Labels of each run until a right finding is out: all of them, if it was wrong or late."""
        early = [n for n, right in zip(self.labels, self.right, strict=True) if right]
        return early + [self.n_items] * (self.n_runs - len(early))

    @property
    def median(self) -> float:
        """Median of `until_right`."""
        return float(np.median(self.until_right))


def stopped(
    pool: str, question: Value, n_runs: int, until: int | None = None, method: Method = "assay"
) -> Stops:
    """Run every run to its stop, or `until`; with all of the pool labelled, nothing is claimed."""
    settings = {"pool": pool, "question": question, "n_runs": n_runs, "method": method}
    found = remembered(stop, core(), until=until, **settings)
    ends = [end for end in found["ends"] if end is not None]
    early = [(n, right) for n, right, reason in ends if reason == "answered"]
    return Stops(
        n_items=found["n_items"],
        n_runs=n_runs,
        labels=tuple(n for n, _ in early),
        right=tuple(right for _, right in early),
        exhausted=sum(reason == "exhausted" for _, _, reason in ends),
    )


def simulate(
    pool: str, question: Value, n_runs: int, groups: str, at: tuple[int, ...], until: int | None
) -> Value:
    """Run `assay simulate`; what it says on standard error is shown."""
    with planned(load(pool), question, groups) as plan:
        command = [str(Path(sys.executable).with_name("assay")), "simulate", str(plan)]
        command += ["--truth", "truth", "--json", "--runs", str(n_runs), "--seed", "0"]
        command += ["--at", ",".join(map(str, at))] if at else []
        command += ["--until", str(until)] if until else []
        home = os.environ | {"ASSAY_HOME": str(plan.parent)}
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=home)
    result: Value = json.loads(said.stdout)["results"][0]
    return result


def rank(pool: str, question: Value, n_runs: int, until: int) -> Value:
    """Labels to mean MRR > .95 and > .99 in the runs that `assay simulate` would take."""
    with prepared(load(pool), question, Asked(truth="truth", seed=0)) as case:
        curve = np.mean(spread(_ranks, [(case, n, until) for n in range(n_runs)]), axis=0)
    steps, marks = log_steps(until), {"labels_to_mrr95": 0.95, "labels_to_mrr99": 0.99}
    reached = {key: curve > mark for key, mark in marks.items()}
    return {key: steps[int(r.argmax())] if r.any() else None for key, r in reached.items()}


def _ranks(order: tuple[Case, int, int]) -> list[float]:
    case, number, until = order
    assessment, outcome = opened(case)
    assessment = of_run(assessment, case, number)
    truth, asked = true_values(assessment, outcome), assessment.question
    curve: list[float] = []
    revealed = labels(assessment, outcome, order_of(assessment))
    for n, (_, belief) in enumerate(islice(revealed, until), start=1):
        if n % LOG_STEP == 0 or n == until:
            ranked = ranking(belief, asked.which)
            curve.append(float(mrr(ranked, truth[None], asked.top, asked.which)[0]))
    return curve


def stop(pool: str, question: Value, n_runs: int, until: int | None, method: Method) -> Value:
    """Labels, correctness and reason of every run's stop; None for runs that went on."""
    asked = Asked(truth="truth", seed=0, until=until, only_stop=True)
    with prepared(load(pool), question, asked, method) as case:
        runs = sorted((run for _, run in here([case], n_runs)), key=lambda run: run.number)
    ends = [r.stop and (r.stop.labels, r.stop.is_right, r.stop.reason) for r in runs]
    return {"n_items": case.n_items, "ends": ends}
