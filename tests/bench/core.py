"""The core without anything around it: a label chosen and counted, a stop rule, a belief's size."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from tests.bench.measuring import line, say
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.hypothetical import labelled, with_prior
from worker.core.posterior.metrics import ACCURACY, Errors, Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.rates import draw_cells
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Fit, Scores, unfitted
from worker.core.questions.comparison import lookahead
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import decide
from worker.core.stopping.schedule import is_refit
from worker.core.strategies import STRATEGIES
from worker.metrics import METRICS

GROUPS, STRATA, BINS, CLASSES, ITEMS = 100, 16, 10, 100, 100
STRATA_OF_BINS = METRICS["ece"].strata or 1
LABELS, WARM = 1_500, 50
LOWEST, WORST_10 = Question("identify"), Question("identify", top=10)
HIGHEST, ESTIMATE = Question("identify", which="highest"), Question("estimate")
MRR = StopRule("mrr", 0.99, 0.95)

PASSES = 5

Refit = Callable[[Belief], Belief]
Row = tuple[str, NDArray[np.float64], float]


def run() -> None:
    """Print all numbers: of each label the shortest of some passes; other work only adds."""
    say(f"\nThe core: {GROUPS} groups of {ITEMS} items, {LABELS:,} labels, one thread, CPU time;")
    say(f"of each label the shortest of {PASSES} passes that choose the same ones, in a process of")
    say("its own each (of a stop rule the shortest median), and how long each pass took")
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        passes = list(fresh.map(one_pass, range(PASSES)))
    for (what, _, goal), *took in zip(passes[0], *passes, strict=True):
        each = ", ".join(f"{1e3 * seconds.mean():.3g}" for _, seconds, _ in took)
        least = np.min([seconds for _, seconds, _ in took], axis=0).mean()
        line(what, f"{1e3 * least:.3g} ms ({each})", f"<= {goal:g} ms")
    size = n_bytes(labels_counted(believed(STRATA), 200)) / 1e6
    line(f"a belief, {STRATA} strata, with all that is derived", f"{size:.2f} MB", "O(cells)")


def one_pass(_: int) -> list[Row]:
    """All rows, each measured once."""
    return list(rows())


def rows() -> Iterator[Row]:
    """What is measured, how many seconds each of its parts took, and the goal in milliseconds."""
    plain = believed(1)
    for name, question in (("1", LOWEST), ("10", WORST_10)):
        yield f"thompson, lowest {name}", labels(plain, question, "thompson"), 0.1
    strata, refit = believed(STRATA), refitting(STRATA)
    for name, question in (("lowest 1", LOWEST), ("lowest 10", WORST_10), ("estimate", ESTIMATE)):
        chosen, fits = labels_and_fits(strata, question, "assay", refit)
        yield f"assay, {STRATA} strata, {name}", chosen, 1.0
        yield "... with the fits of the prior", chosen + fits, 1.0
    for strategy in ("assay", "thompson"):
        matrix = with_kinds(Metric("confusion"))
        yield f"confusion, {CLASSES} classes, {strategy}", labels(matrix, ESTIMATE, strategy), 1.0
        cost = with_kinds(Metric("cost", values=np.tile(np.arange(float(CLASSES)), (GROUPS, 1))))
        yield f"cost, {CLASSES} classes, {strategy}", labels(cost, HIGHEST, strategy), 1.0
        for parts, told in ((1, ""), (STRATA_OF_BINS, f" in {STRATA_OF_BINS} strata")):
            binned = believed(BINS * parts, binning(parts))
            what = f"classwise ECE, {BINS} bins{told}, {strategy}"
            yield what, labels(binned, HIGHEST, strategy), 1.0
    for name, start in (("", plain), (f", {STRATA} strata", strata)):
        yield f"comparison: look-ahead{name}", lookaheads(start), 1.0
    for name, rule, question in (
        ("lowest 1", MRR, LOWEST),
        ("lowest 10", MRR, WORST_10),
        ("rmse", StopRule("rmse", 0.001), ESTIMATE),
        ("all pairs", StopRule("rope", 0.05, 0.95), Question("compare")),
    ):
        fresh, next_one = decisions(strata, refit, question, rule)
        yield f"stop rule, {STRATA} strata, {name}, after a refit", fresh, 50.0
        yield f"stop rule, {STRATA} strata, {name}, a label later", next_one, 50.0


def believed(n_cells: int, metric: Metric = ACCURACY) -> Belief:
    """No label yet; uniform without strata, else the empirical prior."""
    group = np.repeat(np.arange(GROUPS), n_cells)
    size = ITEMS // n_cells + (np.arange(group.size) % n_cells < ITEMS % n_cells).astype(np.int64)
    none = np.zeros(group.size, np.int64)
    ones = np.ones(group.size)
    first = Belief(group, size, none, none, ones, ones, GROUPS, metric=metric)
    return first if n_cells == 1 else with_fit(first, unfitted(), scores(n_cells))


def with_fit(b: Belief, found: Fit, of: Scores) -> Belief:
    """The same labels with the empirical prior, and what of it all groups share."""
    prior = prior_of(found.mode, of, found.covariance)
    if b.metric.kind == "ece":
        return with_prior(b, *prior)
    return with_prior(b, *prior, shared=shared_of(found, of, b.size, b.group, GROUPS))


def scores(n_cells: int) -> Scores:
    """Made-up logit scores: cells from unsure to sure, groups a little apart."""
    of_group = np.random.default_rng(1).normal(0, 0.7, GROUPS)
    of_cell = np.linspace(-0.5, 5, n_cells)
    return Scores((of_group[:, None] + of_cell).ravel(), np.repeat(of_group, n_cells))


def refitting(n_cells: int) -> Refit:
    """Fit the prior to the labels of a belief."""
    of = scores(n_cells)

    def refit(b: Belief) -> Belief:
        return with_fit(b, fit(b.right, b.wrong, b.group, of), of)

    return refit


def binning(n_strata: int) -> Metric:
    """The calibration error over the bins of every class, each in so many strata."""
    bins = np.tile(np.repeat(np.arange(BINS), n_strata), GROUPS)
    return Metric("ece", score=(bins + 0.5) / BINS, unit=bins)


def with_kinds(metric: Metric) -> Belief:
    """A group a class, and an error of any of the other classes."""
    group, none = np.arange(GROUPS), np.zeros(GROUPS, np.int64)
    kinds = np.random.default_rng(2).gamma(0.2, size=(GROUPS, CLASSES - 1)) + 1e-3
    errors = Errors(np.zeros(kinds.shape, np.int64), 2 * kinds / kinds.sum(axis=1, keepdims=True))
    return Belief(
        group, none + ITEMS, none, none, np.full(GROUPS, 4.0), np.full(GROUPS, 2.0), GROUPS,
        metric=metric, errors=errors,
    )  # fmt: skip


def truths(b: Belief) -> NDArray[np.float64]:
    """(C,) rates of right answers, drawn from the prior."""
    return draw_cells(b, np.random.default_rng(3))


def outcome(b: Belief, rate: float, rng: np.random.Generator) -> int:
    """What a label turns out to be: right, or some kind of error."""
    if rng.random() < rate:
        return 0
    return 1 if b.errors is None else 1 + int(rng.integers(b.errors.counts.shape[1]))


def labels(b: Belief, question: Question, strategy: str) -> NDArray[np.float64]:
    """Seconds that each label takes: chosen, counted."""
    return labels_and_fits(b, question, strategy, None)[0]


def labels_and_fits(
    b: Belief, question: Question, strategy: str, refit: Refit | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds that each label takes, and that the prior's fit takes where one is due after it."""
    rng, rates, choose = np.random.default_rng(4), truths(b), STRATEGIES[strategy]
    none, (seconds, fits) = np.zeros(b.group.size, np.int64), np.zeros((2, LABELS))
    for n in range(1, LABELS + 1):
        began = time.process_time()
        cell = choose(b, question, unlabelled(b), none, rng).cell
        b = labelled(b, cell, outcome(b, rates[cell], rng))
        seconds[n - 1] = time.process_time() - began
        if refit is not None and is_refit(n):
            began = time.process_time()
            b = refit(b)
            fits[n - 1] = time.process_time() - began
    return seconds[WARM:], fits[WARM:]


def labels_counted(b: Belief, n: int) -> Belief:
    """The belief after `n` labels of random items, everything derived."""
    rng, rates = np.random.default_rng(5), truths(b)
    for cell in rng.choice(b.group.size, n, p=b.size / b.size.sum()):
        if unlabelled(b)[cell]:
            b = labelled(b, int(cell), outcome(b, rates[cell], rng))
    moments(b)
    return b


def lookaheads(b: Belief) -> NDArray[np.float64]:
    """Seconds that each look-ahead of two groups takes, every one after another label."""
    b = labels_counted(b, 20 * GROUPS)
    rng, rates, seconds = np.random.default_rng(6), truths(b), np.zeros(40)
    left = [c for c in range(b.group.size) if b.group[c] < 2 and unlabelled(b)[c]]
    for n in range(seconds.size):
        b = labelled(b, left[n % len(left)], int(rng.random() > rates[0]))
        theta = draw_cells(b, rng)
        began = time.process_time()
        lookahead(b, 0, 1, 0.05, theta)
        seconds[n] = time.process_time() - began
        left = [c for c in left if unlabelled(b)[c]]
    return seconds


def decisions(
    b: Belief, refit: Refit, question: Question, rule: StopRule
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds (median) of a decision with a new prior, and of one with one label more."""
    fresh, later = [], []
    for n in (300, 1000, 2000, 3000):
        # no distribution is known yet
        now = refit(labels_counted(b, n + len(rule.kind) + question.top))
        one_more = labelled(now, int(unlabelled(now).argmax()), 0)
        for belief, seconds in ((now, fresh), (one_more, later)):
            began = time.process_time()
            decide(belief, question, rule, n, 1)
            seconds.append(time.process_time() - began)
    return np.median(fresh, keepdims=True), np.median(later, keepdims=True)


def n_bytes(b: Belief) -> int:
    """The bytes of all arrays that a belief holds."""
    known = moments(b)
    held = [getattr(b, name) for name in b.__slots__ if name != "_memo"]
    held += [getattr(known, name) for name in known.__slots__] + list(b._memo.values())
    return sum(array.nbytes for array in held if isinstance(array, np.ndarray))
