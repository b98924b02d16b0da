"""Outputs that people judge: what a judge of 85% is worth, against random sampling and PPI++.

6,000 outputs of 3 models in 20 topics, a truth and a judge of its own in every run. First all
groups' pass rates: labels until their root mean squared error is .03, over those of random sampling
with plain means. Then the pass rate of all outputs: labels to the same width of the 95% interval,
over those of PPI++. `ASSAY_BENCH_RUNS` asks for other than 6 runs.

Limits are those of stratified sampling by one who knows every output's chance to be right, and puts
the labels where they tell most (Neyman), but estimates from the labels alone: in our strata, and in
twenty of outputs whose chances are alike, as nobody can cut them. A prior may do better.
"""

import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy import special, stats

from tests.bench.measuring import line, say
from tests.bench.oracle import Strata, errors_at
from worker.assessment import Assessment, assess
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import whole
from worker.core.posterior.summary import mean
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.simulate.replay import labels, run_seed, shuffled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "6"))
TOPICS, MODELS, EACH = 20, 3, 100
N = TOPICS * MODELS * EACH
JUDGED_RIGHT = 0.85
RMSE = 0.03
AT = tuple(range(200, 4400, 200))
AT_SAMPLED = tuple(range(200, 6000, 200))
AT_ALL = (100, 200, 400, 800)
Z = 1.959964


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """is_right, judge, group: (N,) whether an output is right, what the judge says, its group.

    chance: (N,) that it is right, given its group's rate and what the judge says.
    """

    is_right: NDArray[np.bool_]
    judge: Floats
    group: Ints
    chance: Floats


def made(rng: np.random.Generator) -> Made:
    """Outputs whose chances to be right depend on topic and model, and a bit on both together."""
    topic, model = np.divmod(np.repeat(np.arange(TOPICS * MODELS), EACH), MODELS)
    level = 1.2 + rng.normal(0, 0.8, TOPICS)[topic] + np.array([-0.4, 0.1, 0.5])[model]
    group = topic * MODELS + model
    rate = special.expit(level + rng.normal(0, 0.3, TOPICS * MODELS)[group])
    is_right = rng.random(N) < rate
    says = is_right == (rng.random(N) < JUDGED_RIGHT)
    judge = np.where(says, rng.beta(8, 1.5, N), rng.beta(1.5, 8, N))
    high, low = stats.beta(8, 1.5).pdf(judge), stats.beta(1.5, 8).pdf(judge)
    of_right, of_wrong = (d * high + (1 - d) * low for d in (JUDGED_RIGHT, 1 - JUDGED_RIGHT))
    chance = rate * of_right / (rate * of_right + (1 - rate) * of_wrong)
    return Made(is_right, judge, group, chance)


def opened(one: Made, folder: Path, **pool: object) -> tuple[Assessment, Ints]:
    """The assessment, and the outcomes (0: right, 1: wrong) of its rows."""
    with (folder / "o.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "judge_p", "topic", "model"])
        said = zip(one.judge.tolist(), *np.divmod(one.group, MODELS), strict=True)
        rows.writerows([n, f"{p:.6f}", f"t{t:02d}", f"m{m}"] for n, (p, t, m) in enumerate(said))
    plan = {
        "assessment": "verdicts",
        "pool": {"predictions": "o.csv", "score": "judge_p", **pool},
        "annotation": {"verdict": {"right": ["Correct"], "wrong": ["Wrong"]}},
        "question": {"task": "estimate"},
        "stop": {"rmse": 1e-6},
    }
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan))
    read = load_plan(folder / "plan.yaml", for_simulation=True)
    work = assess(read, compile_pool(read, folder / "pools"))
    row = np.array(work.pool.item_ids.to_pylist(), dtype=np.int64)
    return work, (~one.is_right[row]).astype(np.int64)


def beliefs(
    work: Assessment, outcome: Ints, number: int, at: Sequence[int]
) -> Iterator[tuple[int, Belief]]:
    """What is believed after so many labels."""
    seed = run_seed(1, number)
    work = replace(work, plan=work.plan.model_copy(update={"seed": seed}))
    order = shuffled(work, np.random.default_rng(seed))
    for n, revealed in enumerate(labels(work, outcome, order), start=1):
        if n in at:
            yield n, revealed.belief
        if n >= max(at):
            return


def least_errors(work: Assessment, one: Made, at: Sequence[int]) -> list[float]:
    """Those of one who knows all chances, in our strata."""
    pool = work.pool
    row = np.array(pool.item_ids.to_pylist(), dtype=np.int64)
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    total = np.bincount(cell, one.chance[row])
    strata = Strata.of(pool.cell_group, pool.cell_size, total, total, len(pool.group_names))
    return errors_at(strata, tuple(at))


def least_errors_of_all(one: Made, at: Sequence[int]) -> list[float]:
    """Those of the pass rate of all, in strata of outputs whose chances are alike."""
    parts = np.array_split(np.sort(one.chance), 20)
    size = np.array([part.size for part in parts])
    total = np.array([part.sum() for part in parts])
    return errors_at(Strata.of(np.zeros_like(size), size, total, total, 1), tuple(at))


def error_of_sampling(one: Made, order: Ints, n: int) -> float:
    """The groups' root mean squared error of plain means of a random sample of n."""
    some, k = order[:n], TOPICS * MODELS
    count = np.bincount(one.group[some], minlength=k)
    right = np.bincount(one.group[some], one.is_right[some], k)
    rate = np.where(count > 0, right / np.maximum(count, 1), one.is_right[some].mean())
    return float(np.sqrt(np.mean((rate - true_rates(one)) ** 2)))


def true_rates(one: Made) -> Floats:
    found: Floats = np.bincount(one.group, one.is_right) / np.bincount(one.group)
    return found


def ppi(one: Made, some: Ints) -> tuple[float, float]:
    """Estimate and half-width by PPI++ of the mean over this very pool.

    Source: Angelopoulos, Duchi & Zrnic, "PPI++: efficient prediction-powered inference" (2023), the
    mean with power tuning; the pool is finite here, so that the judge's mean over it is known, and
    the labelled part is taken off the variance.
    """
    y, f = one.is_right[some].astype(np.float64), one.judge[some]
    power = np.cov(y, f)[0, 1] / np.var(one.judge)
    rest = y - power * f
    estimate = power * one.judge.mean() + rest.mean()
    return float(estimate), float(Z * np.sqrt(rest.var(ddof=1) / len(some) * (1 - len(some) / N)))


def first_below(at: Sequence[int], errors: Floats, least: float) -> float:
    """Labels at which errors fall below a value, between those that were looked at."""
    below = np.flatnonzero(errors <= least)
    if not below.size:
        return float("inf")
    k = int(below[0])
    if not k:
        return float(at[0])
    part = (errors[k - 1] - least) / (errors[k - 1] - errors[k])
    return at[k - 1] + float(part) * (at[k] - at[k - 1])


def run() -> None:
    """Print both."""
    of_groups()
    of_all()


def of_groups() -> None:
    """Print labels to the error of the groups' pass rates."""
    ours, sampled, limit = (np.zeros((N_RUNS, len(at))) for at in (AT, AT_SAMPLED, AT))
    for number in range(N_RUNS):
        rng = np.random.default_rng([7, number])
        one = made(rng)
        order = rng.permutation(N)
        with tempfile.TemporaryDirectory() as name:
            work, outcome = opened(one, Path(name), groups=["topic", "model"])
            truth, limit[number] = true_rates(one), least_errors(work, one, AT)
            for k, (_, belief) in enumerate(beliefs(work, outcome, number, AT)):
                ours[number, k] = np.sqrt(np.mean((mean(belief) - truth) ** 2))
        sampled[number] = [error_of_sampling(one, order, n) for n in AT_SAMPLED]
        say(f"run {number}: rmse {ours[number].round(4).tolist()}")
    errors, plain, least = (np.sqrt(np.mean(table**2, axis=0)) for table in (ours, sampled, limit))
    mine, theirs = first_below(AT, errors, RMSE), first_below(AT_SAMPLED, plain, RMSE)
    say(f"labels to an rmse of {RMSE}: {mine:.0f}, by random sampling {theirs:.0f}")
    line("labels over those of random sampling", f"{mine / theirs:.2f}", "<= .5")
    line("... limit without a prior", f"{first_below(AT, least, RMSE) / theirs:.2f}", "")


def of_all() -> None:
    """Print labels to the width of the interval of the pass rate of all."""
    ratios, held, held_ppi = [], [], []
    wide = np.arange(40, 3000, 20)
    for number in range(N_RUNS):
        rng = np.random.default_rng([7, number])
        one = made(rng)
        order = rng.permutation(N)
        # of one sample the width goes up and down, and would be small enough too early
        orders = np.random.default_rng([8, number]).permuted(np.tile(np.arange(N), (20, 1)), axis=1)
        widths = np.mean([[ppi(one, some[:n])[1] for n in wide] for some in orders], axis=0)
        with tempfile.TemporaryDirectory() as name:
            work, outcome = opened(one, Path(name))
            limits = least_errors(work, one, AT_ALL), least_errors_of_all(one, AT_ALL)
            for k, (n, belief) in enumerate(beliefs(work, outcome, number, AT_ALL)):
                _, low, high = whole(belief)
                halves = [(high - low) / 2, *(Z * of[k] for of in limits)]
                ratios.append([n / first_below(wide.tolist(), widths, half) for half in halves])
                held.append(low <= one.is_right.mean() <= high)
                estimate, half = ppi(one, order[:n])
                held_ppi.append(abs(estimate - one.is_right.mean()) <= half)
    by_n = np.array(ratios).reshape(N_RUNS, len(AT_ALL), 3).mean(axis=0)
    say(f"at {AT_ALL} labels: {by_n[:, 0].round(2).tolist()} of those of PPI++")
    ours, limit, alike = by_n.mean(axis=0)
    line("labels over those of PPI++, at equal width", f"{ours:.2f}", "<= .9")
    line("... limits: in our strata, and of like chances", f"{limit:.2f}; {alike:.2f}", "")
    line("95% intervals of all outputs hold", f"{np.mean(held):.2f}", "")
    line("those of PPI++", f"{np.mean(held_ppi):.2f}", "")
