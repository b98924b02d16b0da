"""How good forecasts are: labels foreseen over labels it took, on the sample pool, on real ones."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.bench.measuring import line, say
from tests.bench.paper.cases import SUPERCLASS, planned
from tests.bench.paper.data import FILES, MORE_FILES, folder, load
from worker.assessment import Assessment, assess
from worker.core.stopping.schedule import is_look
from worker.findings.foreseen import labels_more
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.simulate.cases import Asked, prepare
from worker.simulate.replay import labels, run_seed
from worker.simulate.spread import here
from worker.simulate.truths import plausible

RUNS = 20
CLASSES = "predicted_class"
BINS = "equal_mass_bin(10)"
ASKED: tuple[tuple[dict[str, object], str], ...] = (
    ({"task": "estimate"}, CLASSES),
    ({"task": "estimate"}, BINS),
    ({"task": "identify"}, CLASSES),
)
FORESEEN: tuple[tuple[str, dict[str, object], str], ...] = (
    *((name, *asked) for name in (FILES | MORE_FILES) if name != "imagenet" for asked in ASKED),
    ("imagenet", {"task": "estimate"}, BINS),
    ("20newsgroups", {"task": "compare", "compare": ["c0000", "c0019"]}, CLASSES),
    ("svhn", {"task": "compare", "compare": ["c0003", "c0008"]}, CLASSES),
    ("cifar100", {"task": "identify"}, SUPERCLASS),
    ("cifar100", {"task": "estimate"}, SUPERCLASS),
)
PLAN = Path(__file__).parents[2] / "samples" / "digits" / "plan.yaml"
PARTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


def run() -> None:
    """Print the quantiles of the ratio, by how far the assessment was."""
    say(f"\nForecasts: {RUNS} assessments of the sample pool, truths drawn from the prior")
    with tempfile.TemporaryDirectory() as name:
        plan = load_plan(PLAN, for_simulation=True)
        work = assess(plan, compile_pool(plan, Path(name)))
        found = np.concatenate([_run(work, number) for number in range(RUNS)])
    for low, high in zip(PARTS, (*PARTS[1:], 1.0), strict=True):
        ratio, is_inside = found[(found[:, 0] >= low) & (found[:, 0] < high), 1:].T
        q = np.quantile(ratio, [0.1, 0.5, 0.9])
        what = f"{low:.0%} to {high:.0%} labelled: foreseen / needed (10, 50, 90%), in range"
        line(what, f"{' '.join(f'{x:.2f}' for x in q)}, {is_inside.mean():.0%}", "")
    if folder().exists():
        _before_any_label()


def _before_any_label() -> None:
    """What `assay plan-labels` says of real pools, beside what they take."""
    say(f"Before any label (`assay plan-labels`), {RUNS} runs each")
    ratios = []
    for pool, question, groups in FORESEEN:
        said, took = (_at_the_stop(pool, question, groups, truth) for truth in (None, "truth"))
        ratios.append(said[1] / took[1])
        what = f"... {pool}, {question['task']}, by {groups}: foreseen (10, 50, 90%); needed"
        line(what, f"{said[0]:,.0f} {said[1]:,.0f} {said[2]:,.0f}; {took[1]:,.0f}", "")
    line("... foreseen over needed, median", f"{np.median(ratios):.2f}", "0.8 to 1.25")


def _at_the_stop(
    pool: str, question: dict[str, object], groups: str, truth: str | None
) -> np.ndarray:
    """(3,) quantiles of labels at the stop."""
    with planned(load(pool), question, groups) as path:
        cases = prepare(path, path.parent / "pools", Asked(truth, seed=0, only_stop=True))
        ends = [one.stop.labels for _, one in here(cases, RUNS) if one.stop is not None]
    return np.quantile(ends, [0.1, 0.5, 0.9])


def _run(work: Assessment, number: int) -> np.ndarray:
    """(n, 3) part of the way, labels foreseen in all over those needed, whether in the range."""
    own = replace(work, plan=work.plan.model_copy(update={"seed": run_seed(1, number)}))
    outcome = plausible(own, np.random.default_rng([1, number]))
    unlimited, held, seen = replace(own.rule, budget=None), [], []
    for n, (_, belief) in enumerate(labels(own, outcome), start=1):
        if not is_look(n):
            continue
        verdict = own.ask(belief, 1, unlimited, bound_suffices=True)
        seen.append((n, labels_more(own, belief, verdict)))
        held = [*held, verdict.chosen] if verdict.reason == "answered" else []
        if len(held) >= own.plan.stop.looks and len(set(held[-own.plan.stop.looks :])) == 1:
            break
    rows = [
        (at / n, (at + more[1]) / n, float(more[0] <= n - at <= more[2]))
        for at, more in seen
        if more is not None and at < n
    ]
    return np.array(rows)
