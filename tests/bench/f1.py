"""F1 of two binary classifiers, of rare and of balanced positives, beside OASIS on the same items.

And beside an oracle that knows every stratum's rate of right answers before it labels. The data are
not part of the project: `tests.bench.paper.data` says where they are looked for.
"""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from tests.bench.measuring import line, say
from tests.bench.oracle import Floats, Ints
from tests.bench.paper.data import folder
from worker.assessment import assess
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.simulate.replay import labels, run_seed, shuffled
from worker.simulate.truths import outcomes, right_of_cells, true_values

AT = (500, 1000, 2500, 5000)
N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "8"))
THEIRS = 5  # times as many of OASIS, which take less: of 12 errors were up to a third too small
LEAST = 1e-4  # of an error, for ratios: ours is 0 where all positives are found
N_STRATA, N_BINS, EXPLORE = 30, 5000, 1e-3  # of OASIS, as its package has them
MOST_DRAWS = 200_000  # it draws with replacement, and 5,000 items are never reached
PLAN = """\
pool: {predictions: pairs.csv, probabilities: ['no', 'yes']}
question: {task: estimate, metric: f1, positive: 'yes'}
stop: {rmse: 0.0001}
"""


def run() -> None:
    """Errors at label counts over those of OASIS, and how often 95% intervals hold."""
    say(f"\nF1, {N_RUNS} runs, at {'/'.join(map(str, AT))} labels")
    ratios, held = [], []
    for name in ("restaurant", "tweets"):
        data = np.load(folder() / "matching" / f"{name}.npz")
        truth, chance = data["label"].astype(np.int64), data["prob"].astype(np.float64)
        ours, came, limit = _ours(truth, chance)
        found = [_oasis(truth, chance, n) for n in range(THEIRS * N_RUNS)]
        theirs = _rms(found, _f1(truth, chance))
        line(f"... {name}: error", _digits(ours), "")
        line("... of OASIS", _digits(theirs), "")
        line("... of an oracle on our strata", _digits(limit), "")
        line("... 95% intervals hold", _digits(came), ">= 0.93")
        ratios.append(np.maximum(ours, LEAST) / np.maximum(theirs, LEAST))
        held.append(came)
    line(
        "error over that of OASIS: geometric mean", f"{stats.gmean(np.ravel(ratios)):.2f}", "<= .7"
    )
    line("... the largest", f"{np.max(ratios):.2f}", "<= 1")
    line("95% intervals hold", f"{np.mean(held):.3f}", ">= 0.93")


def _digits(numbers: Floats) -> str:
    return " ".join(f"{number:.4f}" for number in numbers)


def _rms(estimates: list[list[float]], true: float) -> Floats:
    errors: Floats = np.sqrt(np.square(np.array(estimates) - true).mean(axis=0))
    return errors


def _f1(truth: Ints, chance: Floats) -> float:
    said = chance > 0.5
    return float(2 * (said & (truth == 1)).sum() / (said.sum() + truth.sum()))


def _ours(truth: Ints, chance: Floats) -> tuple[Floats, Floats, Floats]:
    """Errors, shares of intervals that hold, and errors of the oracle, at every count."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        rows = (f"{n},{1 - of:.9f},{of:.9f}\n" for n, of in enumerate(chance.tolist()))
        (here / "pairs.csv").write_text("item_id,no,yes\n" + "".join(rows))
        (here / "plan.yaml").write_text(PLAN)
        plan = load_plan(here / "plan.yaml", for_simulation=True)
        work = assess(plan, compile_pool(plan, here / "pools"))
        order = np.array([int(item) for item in work.pool.item_ids.to_pylist()])
        outcome = outcomes(work, truth[order])
        (true,) = true_values(work, outcome)
        found = np.empty((N_RUNS, len(AT), 3))
        for number in range(N_RUNS):
            seed = run_seed(0, number)
            own = replace(work, plan=plan.model_copy(update={"seed": seed}))
            of_run = labels(own, outcome, shuffled(own, np.random.default_rng([seed, 3])))
            for n, revealed in enumerate(of_run, start=1):
                if n in AT:
                    b = revealed.belief
                    found[number, AT.index(n)] = mean(b)[0], *interval(b)[0]
                if n == AT[-1]:
                    break
    holds = (found[..., 1] <= true) & (true <= found[..., 2])
    errors = np.sqrt(np.square(found[..., 0] - true).mean(axis=0))
    limit = _oracle(
        work.pool.cell_size, work.pool.cell_unit == 1, right_of_cells(work, outcome), float(true)
    )
    return errors, holds.mean(axis=0), limit


def _oracle(size: Ints, said: NDArray[np.bool_], right: Ints, true: float) -> Floats:
    """Errors of the stratified estimate where labels go by the strata's true rates.

    Args:
        size, said, right: (C,) items, whether they are predicted positive, and how many rightly.

    Source:
        Neyman's allocation, of F1 linearised: Cochran, "Sampling Techniques" (1977), 5.5 and 6.3.
    """
    truly = right[said].sum() + (size - right)[~said].sum()
    below = (size[said].sum() + truly) / 2
    worth = np.where(said, 1 - true / 2, true / 2)
    spread = worth * np.sqrt(right * (size - right))
    is_mixed = spread > 0  # what is all right or all wrong takes no label
    size, spread = size[is_mixed], spread[is_mixed]

    def labels_at(t: float) -> Floats:
        allocated: Floats = np.minimum(size, t * spread)
        return allocated

    found = []
    for n in AT:
        most = float((size / spread).max())
        is_all = n >= size.sum()
        t = most if is_all else optimize.brentq(lambda t, n=n: labels_at(t).sum() - n, 0, most)
        variance = spread**2 * size / np.maximum(size - 1, 1) * (1 / labels_at(t) - 1 / size)
        found.append(np.sqrt(variance.sum()) / below)
    return np.array(found)


def _oasis(truth: Ints, chance: Floats, number: int) -> list[float]:
    """Its estimates at every count of different items.

    Source:
        Marchant & Rubinstein, "In search of an entity resolution OASIS" (VLDB 2017): strata by
        cumulative sqrt F, a Beta a stratum of strength 2 that decays, epsilon-greedy.
    """
    found: dict[int, float] = {}
    last = np.nan
    for n_items, estimate in _estimates(truth, chance, np.random.default_rng(number)):
        found.setdefault(n_items, estimate)
        last = estimate
        if n_items == AT[-1]:
            break
    return [found.get(n, last) for n in AT]


def _estimates(
    truth: Ints, chance: Floats, rng: np.random.Generator
) -> Iterator[tuple[int, float]]:
    """How many different items were drawn, and the estimate, after every draw."""
    stratum, said = _strata(chance), chance > 0.5
    size = np.bincount(stratum)
    share, items = size / size.sum(), [np.flatnonzero(stratum == k) for k in range(size.size)]
    positive, guess = np.bincount(stratum, said) / size, np.bincount(stratum, chance) / size
    # its loop is taken some hundred thousand times: what is the same in all rounds comes first
    if_not, explored = (1 - positive) / 4, EXPLORE * share
    of_stratum, of_item = rng.random((2, MOST_DRAWS)).tolist()
    counts, seen = np.zeros(size.size), set[int]()
    f = (share * positive * guess).sum() / (share * (positive + guess)).sum() * 2
    hits = below = 0.0
    drawn, rate = np.zeros(size.size), guess.copy()
    for at, within in zip(of_stratum, of_item, strict=True):
        found = positive * (f**2 / 4 * (1 - rate) + (1 - f) ** 2 * rate) + if_not * f**2 * rate
        due = share * np.sqrt(found)
        upto = ((1 - EXPLORE) / due.sum() * due + explored).cumsum()
        k = min(int(upto.searchsorted(at)), size.size - 1)
        item = int(items[k][int(within * items[k].size)])
        weight, is_true = share[k] / (upto[k] - (upto[k - 1] if k else 0.0)), int(truth[item])
        hits += weight * is_true * said[item]
        below += weight * (is_true + said[item]) / 2
        drawn[k] += 1
        counts[k] += is_true
        behind = 2 / drawn[k]
        rate[k] = (behind * guess[k] + counts[k]) / (behind + drawn[k])
        f = hits / below if below else f
        seen.add(item)
        yield len(seen), f


def _strata(chance: Floats) -> Ints:
    counts, edges = np.histogram(chance, bins=N_BINS)
    upto = np.cumsum(np.sqrt(counts))
    of_bin = np.minimum(upto / upto[-1] * N_STRATA, N_STRATA - 1).astype(np.int64)
    bin_ = np.clip(np.searchsorted(edges, chance, side="right") - 1, 0, N_BINS - 1)
    return np.unique(of_bin[bin_], return_inverse=True)[1]
