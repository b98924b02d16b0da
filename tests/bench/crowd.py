"""Several annotators: replays of two real crowds, coverage with simulated and real ones, speed."""

import time

import numpy as np

from tests.bench.measuring import line, say
from tests.core.crowd.majority import majority, shares
from tests.core.crowd.simulated import (
    DATA,
    METHODS,
    SETS,
    Recorded,
    covered,
    first_votes,
    recorded,
    replayed,
    simulated,
    without_classifier,
)
from worker.core.crowd.agreement import agreement
from worker.core.crowd.inference import Crowd, Rates, infer
from worker.core.crowd.votes import Ints, Votes, counts

REPLAYS, REAL_REPLAYS, ORDERS, LEVELS = 200, 40, 10, (0.9, 0.95)
NO_POOL = Rates(np.zeros(0, np.int64), np.ones((0, 1)), np.ones((0, 1)), np.ones(1))


def run() -> None:
    """Print all numbers; the simulations take about half an hour."""
    if not (DATA / "crowd-labelme").is_dir():
        say(f"\nCrowds: no data in {DATA}; set ASSAY_PAPER_DATA")
        return
    crowds = {name: recorded(name) for name in SETS}
    say("\nCrowds: right items, votes alone, one at a time in random order; seeds 1 to 3")
    for name, of in crowds.items():
        _replay(name, of)
    say("\nCrowds: seconds of one inference, 128 draws, one thread")
    _speed(crowds["labelme"])
    say(f"\nCrowds: accuracy's 90% and 95% intervals hold it, {REPLAYS} simulated crowds (width)")
    for name, (n_items, n_labelled) in {"labelme": (1000, 500), "bluebirds": (400, 200)}.items():
        for per_item in (3, 5, 10):
            cases = [
                simulated(
                    np.random.default_rng([7, per_item, r]),
                    crowds[name], n_items, n_labelled, per_item,
                )
                for r in range(REPLAYS)
            ]  # fmt: skip
            _coverage(f"like {name}, {per_item} votes", cases)
    say(
        f"\nCrowds: the same with the real votes, {REAL_REPLAYS} classifiers of accuracy .7, .8, .9"
    )
    for name, votes in (("labelme", None), ("bluebirds", 5), ("bluebirds", None)):
        for gold in (0.0, 0.1, 0.2):
            cases = [
                replayed(
                    np.random.default_rng([8, r]), crowds[name], (0.7, 0.8, 0.9)[r % 3], gold, votes
                )
                for r in range(REAL_REPLAYS)
            ]
            _coverage(f"{name}, {votes or 'all'} votes, {gold:.0%} gold", cases)


def _replay(name: str, of: Recorded) -> None:
    """Accuracy as votes come, and at the end beside crowd-kit's, where that is installed."""
    truth, all_votes = of.truth, without_classifier(of)
    for part in (0.2, 0.4, 0.6, 0.8, 1.0):
        votes = first_votes(of, part, 9)
        found = [infer(votes, NO_POOL, seed=seed) for seed in (1, 2, 3)]
        pairs = [_accuracies(votes, c, truth) for c in found]
        told = " ".join(f"{accuracy:.3f}" for accuracy, _ in pairs)
        what = f"{name}, {votes.item.size:,} votes"
        line(f"{what}: dawid-skene; majority", f"{told}; {pairs[0][1]:.3f}", "")
        if part < 1:
            ahead = np.zeros(ORDERS)
            for order in range(ORDERS):
                votes = first_votes(of, part, 10 + order)
                ours, most = _accuracies(votes, infer(votes, NO_POOL, seed=1), truth)
                ahead[order] = 100 * (ours - most)
            told = f"{ahead.mean():+.1f} ({ahead.min():+.1f}, {ahead.max():+.1f})"
            line(f"{what}: points ahead of majority, {ORDERS} orders", told, "")
    settled = found[0].probability.max(axis=1) >= 0.95
    right = (found[0].likeliest == truth)[settled].mean()
    line(f"{name}: settled at .95, of which right", f"{settled.mean():.2f}, {right:.3f}", "")
    got = agreement(counts(all_votes), seed=1)
    line(f"{name}: alpha, interval", f"{got.alpha:.3f} ({got.low:.3f}, {got.high:.3f})", "")
    try:
        import pandas as pd
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        line(f"{name}: crowd-kit is not installed", "", "")
        return
    frame = pd.DataFrame({"task": of.item, "worker": of.annotator, "label": of.label})
    for n_iter in (10, 100):
        theirs = DawidSkene(n_iter=n_iter).fit_predict(frame).reindex(range(truth.size))
        accuracy = (theirs.to_numpy() == truth).mean()
        line(f"{name}: crowd-kit's DawidSkene, {n_iter} iterations", f"{accuracy:.3f}", "")


def _accuracies(votes: Votes, found: Crowd, truth: Ints) -> tuple[float, float]:
    """Of the items with votes: right by the inference, and by majority with ties at random."""
    voted = counts(votes)
    seen = voted.sum(axis=1) > 0
    most = shares(voted)[np.arange(truth.size), truth]
    return float((found.likeliest == truth)[seen].mean()), float(most[seen].mean())


def _speed(of: Recorded) -> None:
    case = replayed(np.random.default_rng(1), of, 0.8)
    rng = np.random.default_rng(2)
    predicted, item = rng.integers(0, 8, 10_000), np.repeat(np.arange(10_000), 3)
    label = np.where(rng.random(item.size) < 0.8, predicted[item], rng.integers(0, 8, item.size))
    none = np.full(10_000, -1)
    large = Votes(item, rng.integers(0, 59, item.size), label, predicted, predicted, none, 59, 8)
    flat = np.ones((8, 1))
    for what, votes, goal in (
        ("1,000 items, 2,547 votes, 8 classes", case.votes, "0.5 s"),
        ("10,000 items, 30,000 votes, 8 classes", large, "3 s"),
    ):
        began = time.process_time()
        found = infer(votes, Rates(np.arange(8), flat, flat, np.ones(1)), seed=1)
        line(f"{what}; R-hat {found.r_hat:.2f}", f"{time.process_time() - began:.2f} s", goal)
    began = time.process_time()
    majority(counts(large))
    line("10,000 items: majority", f"{(time.process_time() - began) * 1e3:.1f} ms", "")


def _coverage(what: str, cases: list) -> None:  # type: ignore[type-arg]
    found = covered(cases, list(METHODS), LEVELS, seed=1)
    for method, (holds, width) in found.items():
        line(f"{what}: {method}", f"{holds[0]:.3f} {holds[1]:.3f} ({width:.3f})", "")
