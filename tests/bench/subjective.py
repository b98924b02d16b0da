"""Evaluators of subjective tasks on CIFAR-10H: which one fits, and which network is best."""

import resource
import time

import numpy as np

from tests.bench.measuring import line, say
from tests.bench.paper.data import folder
from worker.evaluator.asked import Settings
from worker.evaluator.experiments import Cases, predictor_experiment
from worker.evaluator.fit_experiment import fit_experiment
from worker.evaluator.measures import MEASURES

MODELS = ("resnet110", "preresnet110", "densenet190")
NAMES = ("uniform", "dirichlet", "ndod", "zero-mean-ndod", "bnn")
BASELINES, KNOWING = ("uniform", "dirichlet"), ("zero-mean-ndod", "bnn")
SETTINGS = Settings(n_draws=200, folds=0)


def run() -> None:
    """Print the intervals and scores of every evaluator and network, and the order of networks."""
    if not (folder() / "cifar10h").exists():
        say("\nSubjective tasks: CIFAR-10H is not part of the project; set ASSAY_PAPER_DATA")
        return
    cases = pool()
    n_items = cases.human.shape[0]
    say(f"\nSubjective tasks: CIFAR-10H, {n_items:,} items; a half fitted, the other judged")
    say(f"{'':<14} {'evaluator':<16} {'95% fitted':>11} {'held out':>9} {'energy':>8} {'noisy':>8}")
    for model, predicted in cases.predicted.items():
        began = time.perf_counter()
        found = fit_experiment(cases.human, predicted, NAMES, SETTINGS)
        ends = {}
        for one in found.evaluators:
            if one.fitted is None or one.held_out is None:
                say(f"{model:<14} {one.evaluator:<16} {one.refused}")
                continue
            of, noisy = one.held_out, one.held_out.with_noise
            ends[one.evaluator] = of.distance.right_tailed
            say(
                f"{model:<14} {one.evaluator:<16} {one.fitted.distance.right_tailed:>11.4f} "
                f"{of.distance.right_tailed:>9.4f} {of.energy.mean:>8.4f} "
                f"{f'{noisy.mean:.4f}' if noisy else '-':>8}"
            )
        known = [ends[name] for name in KNOWING if name in ends]
        is_lower = len(known) == len(KNOWING) and max(known) < min(ends[n] for n in BASELINES)
        line(f"{model}: lower than both baselines", "yes" if is_lower else "NO", "yes")
        line(f"{model}: the experiment", f"{time.perf_counter() - began:.0f} s", "")
    began = time.perf_counter()
    chosen = predictor_experiment(cases, "bnn", MEASURES["l2"], Settings())
    for predictor in chosen.predictors:
        of = predictor.whole
        say(
            f"{predictor.name:<14} L2 {of.mean.mean:.4f} ({of.mean.low:.4f} to {of.mean.high:.4f}),"
            f" own {of.seen:.4f}, of an item {of.measure.low:.4f} to {of.measure.high:.4f},"
            f" best with {predictor.p_best:.3f}"
        )
    same = "the same" if chosen.best_first == chosen.by_l2 else "ANOTHER"
    line("the order of the networks, and that of their own L2", same, "the same")
    line("selection among three networks", f"{time.perf_counter() - began:.0f} s", "")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line("largest memory of the process", f"{peak:.2f} GB", "4 GB")


def pool(n_items: int | None = None) -> Cases:
    """The images, or the first of them, with people's votes and the predictions of three networks.

    Raises:
        FileNotFoundError: the data is not there.
    """
    place = folder() / "cifar10h"
    with np.load(place / "labels.npz") as file:
        counts = file["counts"][:n_items].astype(np.float64)
    predicted = {}
    for model in MODELS:
        with np.load(place / f"{model}.npz") as file:
            rows = file["probs"][:n_items].astype(np.float64)
        predicted[model] = rows / rows.sum(axis=1, keepdims=True)
    human = counts / counts.sum(axis=1, keepdims=True)
    classes = tuple((place / "classes.txt").read_text(encoding="utf-8").split())
    return Cases(human, predicted, np.zeros(len(human), dtype=np.int64), ("all",), classes)
