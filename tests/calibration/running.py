"""Runs: a truth, labels revealed through the code that runs live, and what came true on the way."""

from __future__ import annotations

import csv
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from tests.calibration.made import (
    TOLD,
    Floats,
    Ints,
    Made,
    Truth,
    made,
)
from tests.calibration.made_models import (
    MANY,
    REAL_MANY,
    made_of_many,
    made_of_real,
    made_of_two,
)
from tests.calibration.prompts import JUDGED_PROMPTS, PROMPTS, made_of_prompts
from tests.calibration.statistics import Revealed, of_report
from tests.calibration.way import Way, plan_of
from worker.assessment import Assessment, assess
from worker.core.confidence_sequences.guarantee import ConfidenceSequence
from worker.core.posterior.rates import draw_cells
from worker.core.stopping.schedule import is_look
from worker.findings.foreseen import labels_more
from worker.plan import load_plan
from worker.pool import check_question, compile_pool
from worker.simulate.against_truth import STATISTICS, Held, held
from worker.simulate.best_model import all_classes_known, plausible_classes
from worker.simulate.findings import is_least_right
from worker.simulate.found import Found
from worker.simulate.jointly import all_counted, plausible_outcomes
from worker.simulate.measuring import Log, Measures
from worker.simulate.replay import labels, run_seed, shuffled
from worker.simulate.truths import (
    cell_of_rows,
    drawn_from,
    estimates,
    outcomes,
    plausible_prior,
    right_of_cells,
    true_values,
)

BANDS = "any-time bands"
_SEED, _USUAL = 16, 0.95
# (statistic, labels, said, came, n) of one run; labels 0: at the stop
Line = tuple[str, int, float, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A way with its pool. row: (N,) the place of each of the pool's rows in the made arrays."""

    way: Way
    pool: Made
    work: Assessment
    row: Ints


@contextmanager
def opened(way: Way, kind: str) -> Iterator[Opened | None]:
    """Write, compile and open the pool of a way; None where its data is missing."""
    if kind in REAL_MANY:
        pool: Made | None = made_of_real(kind)
    elif kind in MANY:
        pool = made_of_many(kind)
    elif kind in (*PROMPTS, *JUDGED_PROMPTS):
        pool = made_of_prompts(kind)
    else:
        pool = made(kind, way.size) if way.n_models == 1 else made_of_two(kind)
    if pool is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        classes = tuple(f"c{k:02d}" for k in range(pool.n_classes))
        _write(here, pool, classes, way)
        (here / "plan.yaml").write_text(yaml.safe_dump(plan_of(way, pool, classes)))
        plan = load_plan(here / "plan.yaml", for_simulation=True)
        compiled = compile_pool(plan, here / "pools")
        check_question(plan, compiled)
        row = np.array([int(item) for item in compiled.item_ids.to_pylist()], dtype=np.int64)
        yield Opened(way, pool, assess(plan, compiled), row)


def _write(here: Path, pool: Made, classes: Sequence[str], way: Way) -> None:
    _predictions(here / "predictions.csv", pool, pool.predicted, pool.score, way.has_probabilities)
    if pool.second is not None and pool.second_score is not None and way.n_models > 1:
        _predictions(here / "second.csv", pool, pool.second, pool.second_score, False)
    scores = pool.other_scores or (pool.score,) * len(pool.others)
    for m, (said, score) in enumerate(zip(pool.others, scores, strict=True)):
        _predictions(here / f"other-{m}.csv", pool, said, score, False)
    k = pool.n_classes
    costs = 1.0 + 4.0 * (np.subtract.outer(np.arange(k), np.arange(k)) % 3 == 1)
    np.fill_diagonal(costs, 0.0)
    np.savetxt(here / "costs.csv", costs, delimiter=",", fmt="%g")


def _predictions(
    path: Path, pool: Made, predicted: Ints, score: Floats, has_probabilities: bool
) -> None:
    k = pool.n_classes
    names = [f"c{of:02d}" for of in range(k)]
    opinions = _opinions(pool, names)
    if pool.prompt is not None:
        opinions["prompt"] = [f"q{of}" for of in pool.prompt.tolist()]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["item_id", "predicted", "score", "site"]
            + [f"p_{n}" for n in names] * has_probabilities
            + list(opinions)
        )
        said = zip(predicted.tolist(), score.tolist(), pool.site.tolist(), strict=True)
        for n, (of, sure, site) in enumerate(said):
            row = [n, names[of], f"{sure:.6f}", f"s{site}"]
            if has_probabilities:
                shares = np.full(k, (1 - sure) / (k - 1))
                shares[of] = sure
                row += [f"{share:.6f}" for share in shares]
            rows.writerow(row + [column[n] for column in opinions.values()])


def _opinions(pool: Made, names: Sequence[str]) -> dict[str, list[object]]:
    """The columns of `tests.calibration.way.opinions_of`, of any pool."""
    rng, n = np.random.default_rng(21), pool.score.size
    said = rng.integers(len(names), size=n) if pool.second is None else pool.second
    sure = rng.beta(8, 2, n) if pool.second_score is None else pool.second_score
    is_told = pool.told is not None and pool.kind in TOLD
    right = pool.told if is_told else rng.beta(8, 2, n)
    return {
        "o_class": [names[of] for of in said.tolist()],
        "o_score": [f"{of:.6f}" for of in sure.tolist()],
        "o_right": [f"{of:.6f}" for of in right.tolist()],
        "o_number": [f"{of:.6f}" for of in rng.lognormal(size=n).tolist()],
        "o_category": rng.choice(["a", "b", "c"], n).tolist(),
    }


def truth_of(
    case: Opened, work: Assessment, rng: np.random.Generator
) -> tuple[Ints, Floats, Truth | None]:
    """(N,) outcomes in the order of the pool's rows, and (G,) what is true of the groups."""
    is_infinite = work.plan.population == "infinite"
    is_several = work.several is not None
    is_of_models = is_several or work.best_model is not None
    cell, told = cell_of_rows(work) if not is_of_models else np.zeros(0, np.int64), None
    if case.pool.rates is None and case.pool.label is None and case.pool.kind == "a model":
        if is_several:
            outcome = plausible_outcomes(work.several, rng)
        elif work.best_model is not None:
            outcome = plausible_classes(work.best_model, rng)
        else:
            prior = plausible_prior(work, rng)
            if is_infinite:
                rate = draw_cells(prior, rng)[cell]
                outcome = (rng.random(cell.size) >= rate).astype(np.int64)
            else:
                outcome = drawn_from(prior, rng)
    else:
        told = case.pool.truth(rng)
        rate = told.rate[case.row]
        if case.way.has_verdict:  # whose kinds go with the topic
            failure = np.where(told.label == case.pool.predicted, 0, 1 + told.label % 3)
            told = replace(told, label=failure[case.row])
            outcome = outcomes(work, told.label)
        else:
            outcome = outcomes(work, told.label[case.row])
    if is_several:
        return outcome, estimates(all_counted(work.several, outcome)), told
    if work.best_model is not None:
        return outcome, estimates(all_classes_known(work.best_model, outcome)), told
    if not is_infinite:
        return outcome, true_values(work, outcome), told
    group = work.pool.cell_group[cell]
    n_groups = len(work.pool.group_names)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.bincount(group, rate, n_groups) / np.bincount(group, minlength=n_groups)
    return outcome, mean, told


def run(
    case: Opened, number: int, at: Sequence[int], until: int, levels: Sequence[float]
) -> list[Line]:
    """Take one run.

    Args:
        at: label counts at which everything that is published is held against the truth.
        until: labels after which the run ends, whatever has stopped by then.
        levels: of the claims of which the stops are looked at.
    """
    seed = run_seed(_SEED, number)
    work = replace(case.work, plan=case.work.plan.model_copy(update={"seed": seed}))
    rng = np.random.default_rng([seed, 7])
    outcome, truth, told_of = truth_of(case, work, rng)
    right = None if work.several or work.best_model else right_of_cells(work, outcome)
    order = shuffled(work, rng)
    logs = {
        level: Log(_claiming(work, level), truth, Measures(until, (), True)) for level in levels
    }
    found: dict[tuple[str, int], Held] = {}
    bands: Held | None = None
    rows: list[int] = []
    foreseen: list[tuple[int, list[float]]] = []
    for n, revealed in enumerate(labels(work, outcome, order), start=1):
        rows.append(revealed.row)
        for log in logs.values():
            if log.stop is None:
                log.take(n, revealed.belief)
        if n in at or (work.confidence_sequence is not None and is_look(n)):
            state = Found(work, revealed.belief, truth, right=right)
            if n in at:
                found |= {(name, n): of for name, of in held(state).items()}
                more = labels_more(work, state.belief, state.verdict)
                if more is not None:
                    foreseen.append((n, more))
                if case.way.has_report or case.way.has_verdict:
                    shown = Revealed(work, revealed.belief, np.array(rows), outcome, told_of)
                    found |= {(name, n): of for name, of in of_report(shown).items()}
            bands = _at_all_times(bands, state)
            if bands is not None and n in at:
                found[BANDS, n] = bands
        if n >= until or (n >= max(at) and all(log.stop is not None for log in logs.values())):
            break
    told = [
        (name, count, float(of.said.sum()), int(of.came.sum()), len(of.came))
        for (name, count), of in found.items()
    ]
    told += _forecasts(foreseen, logs.get(_USUAL), n)
    if work.rule.confidence is None and work.confidence_sequence is None:
        return told  # an error or a width that is small enough is no claim
    for level, log in logs.items():
        stop = log.stop
        if stop is not None and stop.is_conclusive and stop.reason == "answered":
            at = Found(log.assessment, log.belief, truth)  # each claim is so sure, not all together
            is_so = is_least_right(log.assessment, at.verdict, log.belief, truth)
            told.append((f"claim of {level:g}", 0, level, int(is_so), 1))
    return told


def _forecasts(
    foreseen: Sequence[tuple[int, list[float]]], log: Log | None, until: int
) -> Iterator[Line]:
    """Whether the stop came within the labels that were foreseen; the run has `until`.

    What was foreseen for after the end of the run is left open, and the last decimal is nobody's.
    """
    if log is None:
        return
    for n, (low, _, high) in foreseen:
        stop = log.stop
        if stop is None and n + high >= until:
            continue
        if stop is not None and stop.labels <= n:
            continue
        came = stop is not None and np.floor(low) <= stop.labels - n <= np.ceil(high)
        yield "forecast", n, 2 / 3, int(came), 1


def _claiming(work: Assessment, level: float) -> Assessment:
    """The same with a stop rule that asks for this confidence."""
    if work.rule.confidence is None:
        return work
    rule = replace(work.rule, confidence=level)
    if work.confidence_sequence is None:
        return replace(work, rule=rule)
    return replace(
        work,
        rule=rule,
        confidence_sequence=ConfidenceSequence(work.confidence_sequence.forecast, 1 - level),
    )


def _at_all_times(before: Held | None, state: Found) -> Held | None:
    now = STATISTICS[BANDS](state)
    if now is None or before is None:
        return now
    return Held(now.said, now.came & before.came)


def gathered(runs: Sequence[Sequence[Line]]) -> dict[tuple[str, int], list[tuple[float, int, int]]]:
    """(statistic, labels) -> what each run said, what came true of it, and how many numbers."""
    found: dict[tuple[str, int], list[tuple[float, int, int]]] = defaultdict(list)
    for lines in runs:
        for name, count, said, came, n in lines:
            found[name, count].append((said, came, n))
    return dict(found)
