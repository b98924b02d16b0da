"""Parents of groups on CIFAR-100: pooling across siblings or none."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.bench.measuring import line, say
from tests.bench.paper.cases import of_run, opened, order_of, planned
from tests.bench.paper.data import folder, load
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.replay import labels, replay
from worker.simulate.truths import true_values

AT = (100, 200, 500, 1000)
RUNS = 20
STOPS_ONE, STOPS_TEN = 20, 6
MAP = "map.csv"
WITHOUT: dict[str, Any] = {}
WITH = {"pool": {"parents": f"superclass({MAP})"}}


def run() -> None:
    """Print errors, coverage and labels to a stop of each way."""
    say(f"\nClasses in superclasses (CIFAR-100, ResNet-110): {RUNS} runs, means")
    ways = ("alone", WITHOUT), ("pooled with siblings", WITH)
    for name, way in ways:
        _estimate(f"classes {name}", way)
    for top in (1, 10):
        for name, way in ways:
            _identify(f"worst {top} class, {name}", way, top)


@contextmanager
def _case(question: dict[str, Any], way: dict[str, Any], only_stop: bool) -> Iterator[Case]:
    with planned(load("cifar100"), question) as path:
        _write_map(path.with_name(MAP))
        plan = yaml.safe_load(path.read_text(encoding="utf-8"))
        for part, values in way.items():
            plan[part] |= values
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        asked = Asked(truth="truth", seed=0, only_stop=only_stop)
        yield prepare(path, path.parent / "pools", asked)[0]


def _write_map(path: Path) -> None:
    """The superclass of every class, in the plan's words."""
    with (folder() / "cifar100" / "superclasses.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    lines = "".join(f"c{int(k):04d},{name}\n" for k, name, *_ in rows)
    path.write_text(f"class,superclass\n{lines}", encoding="utf-8")


def _estimate(what: str, way: dict[str, Any]) -> None:
    with _case({"task": "estimate"}, way, only_stop=False) as case:
        found = []
        for number in range(RUNS):
            work, outcome = opened(case)
            work = of_run(work, case, number)
            truth = true_values(work, outcome)
            share = work.pool.group_size / work.pool.n_items
            shown = islice(labels(work, outcome, order_of(work)), AT[-1])
            for n, (_, belief) in enumerate(shown, start=1):
                if n in AT:
                    low, high = interval(belief).T
                    error = np.sqrt(np.nansum(share * (mean(belief) - truth) ** 2))
                    holds = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
                    found.append((error, holds[share > 0].mean()))
    by_label = np.array(found).reshape(RUNS, len(AT), 2)
    errors, holds = by_label.mean(axis=0).T
    se = by_label[:, :, 0].std(axis=0) / np.sqrt(RUNS)
    at = "/".join(map(str, AT))
    line(f"{what}: RMSE at {at} labels", " ".join(f"{e:.4f}" for e in errors), "")
    line("    standard errors", " ".join(f"{e:.4f}" for e in se), "")
    line("    95% intervals that hold", " ".join(f"{h:.2f}" for h in holds), ">= .95")


def _identify(what: str, way: dict[str, Any], top: int) -> None:
    n_runs = STOPS_ONE if top == 1 else STOPS_TEN
    with _case({"task": "identify", "top": top}, way, only_stop=True) as case:
        work, outcome = opened(case)
        stops = [replay(work, outcome, case.measures, 0, n).stop for n in range(n_runs)]
    spent = [stop.labels for stop in stops if stop is not None]
    claims = [stop.is_right for stop in stops if stop is not None and stop.is_conclusive]
    said = f"{np.median(spent):,.0f}, {np.mean(spent):,.0f}"
    line(f"{what}: labels (median, mean)", said, "")
    line("    right claims", f"{sum(claims)} of {len(claims)}", ">= .95")
