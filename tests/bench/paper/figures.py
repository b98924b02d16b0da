"""The papers' figures that no table stands for, each with the numbers that its curves come to.

Ji, Logan, Smyth & Steyvers: Figures 8, 12, 13 and 14 of the AAAI 2021 supplement (`rivals`,
`reliability`); Figures 3 and 7 of the ICML 2019 workshop paper and its footnote 2. Figure 4 there
is a drawing without data, Figure 10 is of dialogues that are not to be had: here of 20 Newsgroups.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import beta

from tests.bench.paper import rivals
from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.classwise import bins_of
from tests.bench.paper.data import N_BINS, load
from tests.bench.paper.replaying import shuffles
from tests.bench.paper.section import Section, Size, number, shown
from tests.bench.paper.svg import claims_plot, line_plot

TOPS = {"cifar100": (1, 10), "svhn": (1, 3), "20newsgroups": (1, 3)}
COUNTS = (100, 200, 500, 1000)
STRENGTHS = (10, 100)
Curve = tuple[str, rivals.Way, bool]  # its name, how classes are chosen, whether scores are a prior
ADAPTIVE: tuple[Curve, ...] = (
    ("TS", "TS", False),
    ("epsilon-greedy", "epsilon-greedy", False),
    ("Bayes-UCB", "Bayes-UCB", False),
)


def top_two(size: Size) -> Section:
    """Figure 8."""
    curves: tuple[Curve, ...] = (("TS", "TS", False), ("TTTS", "TTTS", False))
    return _ranked(
        "Figure 8: Thompson sampling and top-two, least accurate class", curves, (0,), size
    )


def adaptive(size: Size) -> Section:
    """Figure 12."""
    title = "Figure 12: Thompson sampling, epsilon-greedy and Bayes-UCB, least accurate classes"
    return _ranked(title, ADAPTIVE, (0, 1), size)


def informed(size: Size) -> Section:
    """Figure 13."""
    title = "Figure 13: uninformative and informative prior, both with Thompson sampling"
    curves: tuple[Curve, ...] = (("uninformative", "TS", False), ("informative", "TS", True))
    return _ranked(title, curves, (0, 1), size)


def success(size: Size) -> Section:
    """Figures 3, 7 and 10 of the 2019 paper."""
    rows, plots = list[tuple[str, ...]](), {}
    worst: tuple[rivals.Worst, ...] = ("accuracy", "bias")
    ways: tuple[rivals.Way, ...] = ("TS", "random")
    for pool in TOPS:
        for of in worst:
            found = {
                way: remembered(
                    rivals.identify, pool=pool, way=way, top=1, n_runs=min(size.runs, 100), of=of
                )
                for way in ways
            }
            what = "least accurate" if of == "accuracy" else "most biased"
            cells = [number(_first(found[way]["success"], 0.95), 0) for way in ways]
            rows.append((f"{shown(pool)}, {what}", *cells))
            plots[f"success-{pool}-{of}"] = line_plot(
                f"{shown(pool)}, {what} class found",
                {way: found[way]["success"] for way in ways},
                "labels",
                "share of runs",
                y_range=(0, 1),
            )
    return Section(
        "2019, Figures 3, 7 and 10: how often the class is found",
        f"Labels until it is first in more than 95% of {min(size.runs, 100)} runs. Bias: mean "
        "score less accuracy. Figure 10 is of medical dialogues that are not to be had.",
        ("pool, class", *ways),
        rows,
        plots,
    )


def reliability(size: Size) -> Section:
    """Figure 14."""
    rows, plots = list[tuple[str, ...]](), {}
    for pool in TOPS:
        for strength in STRENGTHS:
            found = remembered(
                binned, name=pool, strength=strength, at=COUNTS, n_runs=min(size.runs, 100)
            )
            cells = [number(found[str(n)]["held"], 2) for n in COUNTS]
            rows.append((shown(pool), str(strength), *cells))
            plots[f"reliability-{pool}-{strength}"] = claims_plot(
                f"{shown(pool)}: prior of strength {strength}",
                {f"{n} labels": found[str(n)]["points"] for n in (COUNTS[0], COUNTS[-1])},
            )
    return Section(
        "Figure 14: Bayesian reliability diagrams",
        "Ten bins of equal width, random labels, Beta priors at the bins' mean scores. The share "
        f"of 95% intervals that hold the accuracy of the bin's items, {min(size.runs, 100)} runs: "
        "a strong belief in the scores is as right as they are.",
        ("pool", "strength", *(f"{n} labels" for n in COUNTS)),
        rows,
        plots,
    )


def true_class(size: Size) -> Section:
    """Footnote 2 of the 2019 paper."""
    rows = list[tuple[str, ...]]()
    for pool in TOPS:
        found = remembered(by_true_class, name=pool, at=COUNTS, n_runs=min(size.runs, 100))
        cells = [" / ".join(number(100 * x) for x in found[str(n)]) for n in COUNTS]
        rows.append((shown(pool), *cells))
    return Section(
        "2019, footnote 2: accuracy and bias within each true class",
        "RMSE x 100 of the posterior means of accuracy / bias (mean score less accuracy) "
        f"after random labels, true classes weighted by size, {min(size.runs, 100)} runs, prior "
        "strength 2 at the pool's mean score. Which class an item is in is known once it is "
        "labelled, so that its score counts only then, and no class can be asked for.",
        ("pool", *(f"{n} labels" for n in COUNTS)),
        rows,
    )


def binned(name: str, strength: float, at: Sequence[int], n_runs: int) -> Value:
    """Of each count: how often bins' 95% intervals hold, and the first run's points.

    A point is (mean score, posterior mean, its 95% interval), bin after bin that has items.
    """
    pool = load(name)
    bins, right = bins_of(pool.score), (pool.predicted == pool.label).astype(float)
    size = np.bincount(bins, minlength=N_BINS)
    some = size > 0
    score = np.bincount(bins, pool.score, N_BINS)[some] / size[some]
    accuracy = np.bincount(bins, right, N_BINS)[some] / size[some]
    result: Value = {}
    orders = shuffles(bins.size, range(n_runs))
    for n in at:
        held, points = [], list[list[float]]()
        for order in orders:
            hits = np.bincount(bins[order[:n]], right[order[:n]], N_BINS)[some]
            count = np.bincount(bins[order[:n]], minlength=N_BINS)[some]
            of = beta(strength * score + hits, strength * (1 - score) + count - hits)
            low, high = of.ppf(0.025), of.ppf(0.975)
            held.append(((low <= accuracy) & (accuracy <= high)).mean())
            points = points or np.stack([score, of.mean(), low, high], axis=1).tolist()
        result[str(n)] = {"held": float(np.mean(held)), "points": points}
    return result


def by_true_class(name: str, at: Sequence[int], n_runs: int) -> Value:
    """Of each count: RMSE of the true classes' accuracies and biases."""
    pool = load(name)
    k, right = pool.n_classes, (pool.predicted == pool.label).astype(float)
    size = np.bincount(pool.label, minlength=k)
    share, mean = size / size.sum(), pool.score.mean()
    accuracy = np.bincount(pool.label, right, k) / np.maximum(size, 1)
    score = np.bincount(pool.label, pool.score, k) / np.maximum(size, 1)
    result: Value = {}
    orders = shuffles(pool.label.size, range(n_runs))
    for n in at:
        errors = []
        for order in orders:
            of = pool.label[order[:n]]
            known = 2 + np.bincount(of, minlength=k)
            rate = (2 * mean + np.bincount(of, right[order[:n]], k)) / known
            said = (2 * mean + np.bincount(of, pool.score[order[:n]], k)) / known
            gaps = np.stack([rate - accuracy, said - rate - (score - accuracy)])
            errors.append(np.sqrt(gaps**2 @ share))
        result[str(n)] = np.mean(errors, axis=0).tolist()
    return result


def _ranked(title: str, curves: Sequence[Curve], which: Sequence[int], size: Size) -> Section:
    rows, plots = list[tuple[str, ...]](), {}
    for pool, tops in TOPS.items():
        for top in (tops[at] for at in which):
            found = {
                name: remembered(
                    rivals.identify, pool=pool, way=way, top=top, n_runs=size.runs, is_informed=said
                )
                for name, way, said in curves
            }
            cells = [
                " / ".join(number(of[f"labels_to_mrr{mark}"], 0) for mark in (95, 99))
                for of in found.values()
            ]
            rows.append((f"{shown(pool)}, {top}", *cells))
            plots[f"{title.split(':')[0].lower().replace(' ', '-')}-{pool}-{top}"] = line_plot(
                f"{shown(pool)}, {top} least accurate",
                {name: of["curve"] for name, of in found.items()},
                "labels",
                "mean MRR",
                y_range=(0, 1),
            )
    return Section(
        title,
        f"Labels to mean MRR > .95 / > .99, prior strength 2, {size.runs} runs.",
        ("pool, m", *(name for name, _, _ in curves)),
        rows,
        plots,
    )


def _first(curve: Sequence[Sequence[float]], mark: float) -> int | None:
    """Labels from which on the curve stays above the mark; None if it never does."""
    below = [int(labels) for labels, share in curve if share <= mark]
    after = [int(labels) for labels, _ in curve if not below or labels > below[-1]]
    return after[0] if after else None
