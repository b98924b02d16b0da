"""Votes until a mean distance is known: whether its intervals hold the truth, and their cost."""

import time

import numpy as np

from tests.bench import subjective
from tests.bench.measuring import line, say
from tests.bench.paper.data import folder
from tests.core.soft_labels.people import Pool, narrowest, replay
from tests.core.soft_labels.people import subjective as broad
from worker.assessment.soft_labels import distance_measure
from worker.core.soft_labels.known import DistanceMeasure

REPLAYS, STRATA = 40, 16
N_ITEMS, N_CLASSES = 10_000, 10
LEVELS = (0.8, 0.95)


def run() -> None:
    """Print the numbers; the simulations take about twenty minutes."""
    say(f"\nVotes: seconds of one belief, {N_ITEMS:,} items, {N_CLASSES} classes, 5 votes an item")
    pool = Pool(*broad(N_ITEMS, N_CLASSES), STRATA)
    for n in (100, 1000, N_ITEMS):
        line(f"{n:,} items with votes", f"{_seconds(pool, n):.2f} s", "<= 0.5 s")
    pools = {"broad": Pool(*broad(5_000, 5, spread=2.0), STRATA)}
    if (folder() / "cifar10h").exists():
        cases = subjective.pool()
        pools["cifar10h"] = Pool(cases.human, cases.predicted["resnet110"], STRATA)
    else:
        say("CIFAR-10H is not part of the project; set ASSAY_PAPER_DATA")
    say(f"\nVotes: 80% and 95% HPDI of the mean hold it, {REPLAYS} replays; (error, width)")
    for name, of in pools.items():
        for measure in ("l2", "kl"):
            for votes in (5, 10, 20):
                for n in (100, 300, 1000):
                    found = coverage(of, distance_measure(measure), n, votes)
                    line(f"{name}, {measure}, {votes} votes on each of {n:,}", found, "80%, 95%")


def coverage(pool: Pool, distance: DistanceMeasure, n: int, votes: int) -> str:
    """Carry assessments to so many items, and hold their intervals against all items' mean."""
    design, truth = pool.design(distance), float(pool.truth(distance).mean())
    hits, errors, widths = dict.fromkeys(LEVELS, 0), list[float](), list[float]()
    for seed in range(REPLAYS):
        draws = replay(pool, design, n, votes, seed, batch=-(-n // 3), distance=distance)
        for level in LEVELS:
            low, high = narrowest(draws, level)
            hits[level] += low <= truth <= high
        errors.append(float(draws.mean()) - truth)
        widths.append(high - low)
    rates = ", ".join(f"{100 * hits[level] / REPLAYS:.0f}%" for level in LEVELS)
    off, error = np.mean(errors), np.sqrt(np.mean(np.square(errors)))
    return f"{rates} ({error:.4f}, {np.mean(widths):.4f}; off by {off:+.4f} of {truth:.4f})"


def _seconds(pool: Pool, n: int) -> float:
    """Processor time, the best of three."""
    rng, design = np.random.default_rng(0), pool.design()
    vote_counts = pool.vote_counts(rng.choice(N_ITEMS, n, replace=False), 5, rng)
    took = []
    for _ in range(3):
        began = time.process_time()
        pool.known(vote_counts, design=design)
        took.append(time.process_time() - began)
    return min(took)
