"""The best of many models: labels to the right pick beside Model Picker's, and to a decision.

Three real models of two data sets, and 30 made of them: each takes, item by item and class by
class, what one of the three says, so that the best are .002 apart. A pick is right if its accuracy
is within .005 of the best one's. Data is read in place (see `tests.bench.paper.data`);
`ASSAY_BENCH_RUNS` asks for other numbers of runs than 48 (of 30 models 16).
"""

import csv
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.measuring import say
from tests.bench.models import FAMILIES
from tests.bench.paper.cases import of_run, opened, order_of
from tests.bench.paper.data import folder
from worker.core.questions.ranking import ranking
from worker.pool.models import blocks_of
from worker.simulate.best_model import all_classes_known
from worker.simulate.cases import Asked, prepare
from worker.simulate.measuring import Log, Measures
from worker.simulate.replay import labels
from worker.simulate.truths import estimates

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TOLERANCE, ENOUGH = 0.005, 0.95
# how many models, and labels up to which picks are looked at
POOLS = {
    "cifar10h": (3, 100),
    "cifar100": (3, 1000),
    "cifar10h, 30 made": (30, 400),
    "cifar100, 30 made": (30, 1000),
}
# Model Picker's in the pool, and by what its eta is multiplied in a stream
EPSILON, ETA = (0.4, 0.45, 0.48, 0.49), (1.0, 3.0)


def run() -> None:
    """Print labels to the right pick and to a decision, and whether that is right."""
    if not (folder() / "cifar100").is_dir():
        say(f"\nThe best of many models: no data in {folder()}; set ASSAY_PAPER_DATA")
        return
    say(f"\nThe best of many models, to within {TOLERANCE}, at {ENOUGH:.0%}")
    with tempfile.TemporaryDirectory() as name:
        for pool, (n_models, most) in POOLS.items():
            n_runs = int(os.environ.get("ASSAY_BENCH_RUNS", "48" if n_models == 3 else "16"))
            said, score, label = models_of(pool, n_models)
            accuracy = (said == label[:, None]).mean(axis=0)
            is_near = accuracy >= accuracy.max() - TOLERANCE - 1e-12
            best = np.sort(accuracy)[::-1][:3].round(4).tolist()
            say(f"  {pool}: the best {best}, {is_near.sum()} near, {n_runs} runs")
            theirs = _of_model_picker(said, label, is_near, most, n_runs)
            ours = _of_ours(Path(name), pool, (said, score, label), is_near, most, n_runs)
            pick, decision = ours[0] / theirs, ours[1] / theirs
            say(f"    over Model Picker's: pick {pick:.2f}, decision {decision:.2f}")


def models_of(pool: str, n_models: int) -> tuple[Ints, Floats, Ints]:
    """(n, M) what each model says, (n, M) its score, (n,) the true classes."""
    family = pool.partition(",")[0]
    files = [np.load(folder() / family / f"{model}.npz") for model in FAMILIES[family]]
    said = np.stack([file["pred"] for file in files], axis=1).astype(np.int64)
    score = np.stack([file["score"] for file in files], axis=1).astype(np.float64)
    label = files[0]["label"].astype(np.int64)
    if n_models == len(files):
        return said, score, label
    rng, items = np.random.default_rng(1), np.arange(label.size)
    of = np.empty((label.size, n_models), dtype=np.int64)
    for m in range(n_models):
        share = (rng.dirichlet(np.ones(3), label.max() + 1) + rng.dirichlet(np.ones(3))) / 2
        upto = np.cumsum(share, axis=1)[said[:, rng.integers(3)]]
        of[:, m] = (rng.random((label.size, 1)) > upto).sum(axis=1).clip(0, 2)
    return said[items[:, None], of], score[items[:, None], of], label


def until_right(picks: Sequence[Sequence[bool]], most: int) -> int:
    """Labels from which on the pick is right in enough of the runs, up to `most`."""
    right = np.zeros((len(picks), most))
    for own, row in zip(picks, right, strict=True):
        row[: len(own)] = own[:most]
        row[len(own) :] = own[-1]
    bad = np.flatnonzero(right.mean(axis=0) < ENOUGH)
    return 1 if not bad.size else int(bad[-1]) + 2


def _of_ours(
    here: Path,
    pool: str,
    models: tuple[Ints, Floats, Ints],
    is_near: Bools,
    most: int,
    n_runs: int,
) -> tuple[int, float]:
    case = prepare(
        _plan(here, pool, *models), here / "pools", Asked("truth", seed=1, only_stop=True)
    )[0]
    work, outcome = opened(case)
    best = work.best_model
    assert best is not None, "the plan asks for it"
    truth = estimates(all_classes_known(best, outcome))
    picks, stops = [], []
    for number in range(n_runs):
        own = of_run(work, case, number)
        log, picked = Log(own, truth, Measures(work.pool.n_items, (), True)), []
        for n, revealed in enumerate(labels(own, outcome, order_of(own)), start=1):
            picked.append(bool(is_near[ranking(revealed.belief, "highest")[0]]))
            if log.stop is None:
                log.take(n, revealed.belief)
            if n >= most and log.stop is not None:
                break
        picks.append(picked)
        stops.append(log.run(number, 0.0).stop)
    found = [stop for stop in stops if stop is not None]
    pick, taken = until_right(picks, most), float(np.mean([stop.labels for stop in found]))
    right = np.mean([stop.is_right for stop in found])
    say(f"    assay: pick {pick}, decision {taken:.0f} (mean), right in {right:.3f}")
    return pick, taken


def _plan(here: Path, pool: str, said: Ints, score: Floats, label: Ints) -> Path:
    stem, models = pool.replace(", ", "-").replace(" ", "-"), []
    for m in range(said.shape[1]):
        file = f"{stem}-{m}.csv"
        with (here / file).open("w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["item_id", "p", "s", "truth"])
            for i, (of, sure, true) in enumerate(zip(said[:, m], score[:, m], label, strict=True)):
                rows.writerow([i, f"c{of:03d}", f"{sure:.6f}", f"c{true:03d}"])
        models.append({"name": f"m{m}", "predictions": file, "predicted": "p", "score": "s"})
    question = {"task": "identify", "of": "models", "which": "highest", "tolerance": TOLERANCE}
    path = here / f"{stem}.yaml"
    path.write_text(json.dumps({"question": question, "models": models, "stop": {}, "pool": {}}))
    return path


def _of_model_picker(said: Ints, label: Ints, is_near: Bools, most: int, n_runs: int) -> int:
    found = {}
    for epsilon in EPSILON:
        found[f"pool, epsilon {epsilon:g}"] = [
            list(_in_pool(said, label, is_near, epsilon, most, np.random.default_rng(n)))
            for n in range(n_runs)
        ]
    for times in ETA:
        found[f"stream, eta times {times:g}"] = [
            list(_in_stream(said, label, is_near, times, most, np.random.default_rng(n)))
            for n in range(n_runs)
        ]
    taken = {name: until_right(picks, most) for name, picks in found.items()}
    say("    Model Picker: " + "; ".join(f"{name}: {n}" for name, n in taken.items()))
    return min(taken.values())


def _in_stream(
    said: Ints, label: Ints, is_near: Bools, times: float, most: int, rng: np.random.Generator
) -> Iterator[bool]:
    """Whether the pick is right after each label; the stream begins again where it ends.

    Source: Karimi et al., "Online Active Model Selection for Pre-trained Classifiers" (AISTATS
    2021), algorithm 1, with eta = sqrt(log M / 2t).
    """
    n, m = said.shape
    loss, is_asked = np.zeros(m), (said == said[:, :1]).all(axis=1)
    n_asked, t = 0, 0
    while n_asked < most and not is_asked.all() and t < 4 * n:
        for i in rng.permutation(n):
            t += 1
            if is_asked[i]:
                continue
            weight = np.exp(-times * np.sqrt(np.log(m) / (2 * t)) * (loss - loss.min()))
            mass = np.bincount(said[i], weights=weight / weight.sum())
            chance = float((mass * (1 - mass)).max())
            if rng.random() < chance:
                loss += (said[i] != label[i]) / chance
                is_asked[i] = True
                n_asked += 1
                yield bool(is_near[rng.choice(np.flatnonzero(loss == loss.min()))])
                if n_asked == most:
                    return


def _in_pool(
    said: Ints, label: Ints, is_near: Bools, epsilon: float, most: int, rng: np.random.Generator
) -> Iterator[bool]:
    """The same of a pool: the item whose label is expected to leave the least entropy.

    Source: Okanovic et al., "All models are wrong, some are useful" (2024), whose Model Selector is
    the form for pools: a right answer makes a model (1 - epsilon) / epsilon times as likely.
    """
    items = rng.permutation(np.flatnonzero((said != said[:, :1]).any(axis=1)))
    # which models agree is all that counts, whatever the classes are
    kinds, of = np.unique(blocks_of(said[items]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    queues = [items[of == t].tolist() for t in range(len(kinds))]
    left = np.bincount(of)
    block = (kinds[:, None, :] == np.arange(kinds.max() + 1)[:, None]).astype(float)
    is_block = block.any(axis=2)
    n_others = int(said.max()) + 1 - is_block.sum(axis=1)
    factor = (1 - epsilon) / epsilon
    right = np.zeros(said.shape[1])
    for _ in range(min(most, items.size)):
        log = np.log(factor) * (right - right.max())
        weight = np.exp(log) / np.exp(log).sum()
        information = weight * np.log(np.maximum(weight, 1e-300))
        inside, of_inside = block @ weight, block @ information
        norm = 1 + (factor - 1) * inside
        summed = factor * (of_inside + np.log(factor) * inside) + information.sum() - of_inside
        entropy = np.log(norm) - summed / norm
        expected = (entropy * is_block).sum(axis=1) - n_others * information.sum()
        expected = np.where(left > 0, expected, np.inf)
        likely = np.flatnonzero(expected <= expected.min() + 1e-12)
        t = int(rng.choice(likely, p=left[likely] / left[likely].sum()))
        i = queues[t].pop()
        left[t] -= 1
        right += said[i] == label[i]
        yield bool(is_near[rng.choice(np.flatnonzero(right == right.max()))])
