"""True positive rates by site: what choosing wins over random items, on the calibration's pools."""

from dataclasses import replace

import numpy as np
from scipy import stats

from tests.bench.measuring import line, say
from tests.bench.paper.cases import spread
from tests.calibration.made import MADE
from tests.calibration.running import opened, truth_of
from tests.calibration.ways import Way
from worker.simulate.findings import rms_error
from worker.simulate.replay import labels, run_seed, shuffled

AT = (40, 100, 200, 320)
QUESTION = {"task": "estimate", "metric": "tpr", "positive": "c00"}
STRATEGIES = ("assay", "random")
KINDS = tuple(kind for kind in MADE if kind != "f few items")  # all 36 labelled at the first count


def run(n_runs: int) -> None:
    """Errors at label counts, kind after kind of truth."""
    say(f"estimate tpr, six sites, 1,500 items, at {'/'.join(map(str, AT))} labels")
    ratios = []
    for kind in KINDS:
        orders = [(who, kind, number) for who in STRATEGIES for number in range(n_runs)]
        squared = np.array(spread(_squared_errors, orders)).reshape(len(STRATEGIES), n_runs, -1)
        ours, of_random = np.sqrt(squared.mean(axis=1))
        ratios.append(ours / of_random)
        line(f"... {kind}: error over random's", " ".join(f"{x:.2f}" for x in ratios[-1]), "")
    line("... geometric mean", f"{stats.gmean(np.concatenate(ratios)):.2f}", "<= 0.8")


def _squared_errors(order: tuple[str, str, int]) -> list[float]:
    """Of one run at every count; that of its last label where it has fewer."""
    strategy, kind, number = order
    values = {"question": QUESTION, "pool": {"groups": "site"}, "strategy": strategy}
    way = Way("tpr", values | {"stop": {"rmse": 0.001}}, has_probabilities=True)
    found: list[float] = []
    with opened(way, kind) as case:
        assert case is not None, "made pools are always there"
        seed = run_seed(0, number)
        work = replace(case.work, plan=case.work.plan.model_copy(update={"seed": seed}))
        rng = np.random.default_rng([seed, 7])
        outcome, truth, _ = truth_of(case, work, rng)
        for n, revealed in enumerate(labels(work, outcome, shuffled(work, rng)), 1):
            if n in AT:
                found.append(rms_error(revealed.believe(), truth) ** 2)
            if n == AT[-1]:
                return found
        found.append(rms_error(revealed.believe(), truth) ** 2)
    return (found + found[-1:] * len(AT))[: len(AT)]
