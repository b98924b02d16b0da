"""Recall by site: what choosing wins over random items, on the calibration's pools."""

from dataclasses import replace

import numpy as np
from scipy import stats

from tests.bench.measuring import line, say
from tests.bench.oracle import Floats, Strata, errors_at, even_errors_at
from tests.bench.paper.cases import spread
from tests.calibration.made import MADE
from tests.calibration.running import opened, truth_of
from tests.calibration.way import Way
from worker.simulate.findings import rms_error
from worker.simulate.replay import labels, run_seed, shuffled

AT = (40, 100, 200, 320)
QUESTION = {"task": "estimate", "metric": "recall", "positive": "c00"}
STRATEGIES = ("assay", "random")
KINDS = tuple(kind for kind in MADE if kind != "f few items")  # all 36 labelled at the first count


def run(n_runs: int) -> None:
    """Errors at label counts, kind after kind of truth."""
    say(f"estimate recall, six sites, 1,500 items, at {'/'.join(map(str, AT))} labels")
    ratios, oracles = [], []
    for kind in KINDS:
        orders = [(who, kind, number) for who in STRATEGIES for number in range(n_runs)]
        squared = np.array(spread(_squared_errors, orders)).reshape(len(STRATEGIES), n_runs, -1)
        ours, of_random = np.sqrt(squared.mean(axis=1))
        ratios.append(ours / of_random)
        _line(f"... {kind}: error over random's", ratios[-1])
        if (known := _strata(kind)) is not None:
            oracles.append(np.divide(errors_at(known, AT), even_errors_at(known, AT)))
            _line("... of an oracle over that of labels as the items lie", oracles[-1])
    line("... geometric mean", f"{stats.gmean(np.concatenate(ratios)):.2f}", "<= 0.8")
    line("... of the oracle's", f"{stats.gmean(np.concatenate(oracles)):.2f}", "")


def _line(what: str, numbers: Floats) -> None:
    line(what, " ".join(f"{number:.2f}" for number in numbers), "")


def _strata(kind: str) -> Strata | None:
    """What an oracle knows: how probable positive answers are in each stratum of a truth.

    An item is worth how far it moves its site's rate, linear near what that is. None where the
    truth is drawn from the model.
    """
    with opened(_way("random"), kind) as case:
        assert case is not None, "made pools are always there"
        work, rng = case.work, np.random.default_rng(0)
        outcome, value, told = truth_of(case, work, rng)
        if told is None:
            return None
        pool = work.pool
        cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
        site, is_hit = pool.cell_group[cell], pool.cell_unit[cell] == 1
        is_positive = outcome == np.where(is_hit, 0, 1)
        n_positive = np.bincount(site, is_positive, value.size)
        rate = told.rate[case.row]
        chance = np.where(is_hit, rate, (1 - rate) / (len(pool.classes) - 1))
        worth = np.where(is_hit, 1 - value[site], -value[site])
        worth *= (np.bincount(site) / np.maximum(n_positive, 1))[site]
        sums = (np.bincount(cell, chance * of, pool.n_cells) for of in (worth, worth**2))
        return Strata.of(pool.cell_group, pool.cell_size, *sums, value.size)


def _way(strategy: str) -> Way:
    values = {"question": QUESTION, "pool": {"groups": "site"}, "strategy": strategy}
    return Way("recall", values | {"stop": {"rmse": 0.001}}, has_probabilities=True)


def _squared_errors(order: tuple[str, str, int]) -> list[float]:
    """Of one run at every count; that of its last label where it has fewer."""
    strategy, kind, number = order
    found: list[float] = []
    with opened(_way(strategy), kind) as case:
        assert case is not None, "made pools are always there"
        seed = run_seed(0, number)
        work = replace(case.work, plan=case.work.plan.model_copy(update={"seed": seed}))
        rng = np.random.default_rng([seed, 7])
        outcome, truth, _ = truth_of(case, work, rng)
        for n, revealed in enumerate(labels(work, outcome, shuffled(work, rng)), 1):
            if n in AT:
                found.append(rms_error(revealed.belief, truth) ** 2)
            if n == AT[-1]:
                return found
        found.append(rms_error(revealed.belief, truth) ** 2)
    return (found + found[-1:] * len(AT))[: len(AT)]
