"""Outputs of two models for the same prompts: what it is worth to compare them in pairs.

1,000 prompts, whose difficulty makes the models' outcomes go together (correlation about .4); a
truth of its own in every run. The same truths are assessed with
`pool.pairs_by` and without it. `ASSAY_BENCH_RUNS` asks for other than 30 runs.
"""

import csv
import os
import tempfile
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy import special

from tests.bench.measuring import line, say
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.simulate.found import Found
from worker.simulate.replay import labels, run_seed, shuffled
from worker.simulate.truths import true_values

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "30"))
N_PROMPTS, DIFFICULTY = 1000, 2.2
AT = (60, 120, 240)


def made(rng: np.random.Generator) -> NDArray[np.bool_]:
    """(P, 2) whether the outputs are right."""
    shape = N_PROMPTS, 2
    level = np.array([0.8, 1.6]) + rng.normal(0, 0.3, 2)
    rate = special.expit(level + rng.normal(0, DIFFICULTY, (N_PROMPTS, 1)))
    is_right: NDArray[np.bool_] = rng.random(shape) < rate
    return is_right


def opened(folder: Path, **pool: str) -> Assessment:
    with (folder / "o.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "model", "prompt"])
        rows.writerows([2 * p + m, f"m{m}", f"q{p}"] for p in range(N_PROMPTS) for m in (0, 1))
    plan = {
        "pool": {"predictions": "o.csv", "groups": "model", **pool},
        "annotation": {"verdict": {"right": ["Correct"], "wrong": ["Wrong"]}},
        "question": {"task": "compare", "compare": "all"},
    }
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan))
    read = load_plan(folder / "plan.yaml", for_simulation=True)
    return assess(read, compile_pool(read, folder / "pools"))


def told(
    work: Assessment, is_right: NDArray[np.bool_], number: int
) -> dict[int, tuple[float, float, bool]]:
    """After so many labels: width of the difference's interval, its error, whether it holds."""
    seed = run_seed(1, number)
    work = replace(work, plan=work.plan.model_copy(update={"seed": seed}))
    outcome = (~is_right.ravel()[np.array(work.pool.item_ids.to_pylist(), int)]).astype(np.int64)
    truth = true_values(work, outcome)
    order = shuffled(work, np.random.default_rng(seed))
    found = {}
    for n, revealed in enumerate(islice(labels(work, outcome, order), max(AT)), start=1):
        if n in AT:
            differences = Found(work, revealed.belief, truth).differences
            assert differences is not None, "two groups are compared"
            (one,) = differences.of
            apart = float(truth[one.first] - truth[one.second])
            found[n] = one.high - one.low, one.mean - apart, one.low <= apart <= one.high
    return found


def run() -> None:
    """Print widths with pairs over those without, and how often the intervals hold."""
    found = defaultdict[tuple[bool, int], list[tuple[float, float, bool]]](list)
    together = []
    for number in range(N_RUNS):
        is_right = made(np.random.default_rng([9, number]))
        together.append(np.corrcoef(is_right.T)[0, 1])
        for is_paired in (True, False):
            pool = {"pairs_by": "prompt"} if is_paired else {}
            with tempfile.TemporaryDirectory() as folder:
                work = opened(Path(folder), **pool)
                for n, numbers in told(work, is_right, number).items():
                    found[is_paired, n].append(numbers)
    say(f"correlation of the models' outcomes {np.mean(together):.2f}, {N_RUNS} runs")
    for n in AT:
        (paired, alone) = (np.array(found[is_paired, n]).T for is_paired in (True, False))
        width = paired[0].mean() / alone[0].mean()
        line(f"... width of the interval after {n} labels over that without", f"{width:.2f}", "")
        error = np.sqrt((paired[1] ** 2).mean() / (alone[1] ** 2).mean())
        line("... likewise the root mean squared error", f"{error:.2f}", "")
        line("... intervals hold", f"{paired[2].mean():.2f}, {alone[2].mean():.2f}", "")
