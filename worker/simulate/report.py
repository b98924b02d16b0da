"""What many runs come to, as values for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.simulate.cases import Case
from worker.simulate.comparing import curve, paired_tests
from worker.simulate.measuring import Measures, Run, Stop
from worker.simulate.schedule import log_steps

Floats = NDArray[np.float64]


def simulated(
    cases: Sequence[Case], runs: Sequence[Sequence[Run]], n_runs: int, truth: str | None
) -> dict[str, Any]:
    """The report of a simulation, JSON-able.

    Args:
        runs: the finished runs of each case, in any order.
        n_runs: how many were asked for.
        truth: the column of the true classes; None if truths were drawn.
    """
    first = cases[0]
    return {
        "pool": first.predictions,
        "items": first.n_items,
        "truth": truth,
        "seed": first.seed,
        "until": first.measures.until,
        "tolerance": json.loads(first.plan)["question"].get("tolerance", 0.0),
        "per_item": first.per_item,
        "runs": n_runs,
        "finished": min(map(len, runs)),
        "results": [_result(case, of_case) for case, of_case in zip(cases, runs, strict=True)],
        "tests": list(paired_tests(cases, runs)),
    }


def _result(case: Case, runs: Sequence[Run]) -> dict[str, Any]:
    ordered = sorted(runs, key=lambda run: run.number)  # so that a mean has one value, to the bit
    measures = case.measures
    return {
        "strategy": case.named,
        "prior": case.prior,
        "runs": len(ordered),
        **_ranked(ordered, measures, case.n_items),
        "curve": curve(ordered, measures),
        "rmse_at": _at([run.rmse for run in ordered], measures, _mean_of),
        "rmse_quartiles_at": _at([run.rmse for run in ordered], measures, _quartiles_of),
        "whole_error_at": _at([run.pooled for run in ordered], measures, _mean_of),
        "ece_error_at": _at(_relative(case, ordered), measures, _mean_of),
        "stop": _stops(case, ordered),
        "held": _held(ordered),
        "cpu_s_per_run": _mean([run.cpu_s for run in ordered]),
    }


def _ranked(runs: Sequence[Run], measures: Measures, n_items: int) -> dict[str, Any]:
    """How soon the ranking is right; nothing to say where no ranking is asked for."""
    if not runs or not runs[0].mrr:
        return {"labels_to_mrr95": None, "labels_to_mrr99": None, "regret": None}
    curve = np.mean([run.mrr for run in runs], axis=0)
    steps = np.array(log_steps(measures.until))
    return {
        "labels_to_mrr95": _first(curve > 0.95, steps),
        "labels_to_mrr99": _first(curve > 0.99, steps),
        "regret": float((1 - curve) @ np.diff(steps, prepend=0) / n_items),
    }


def _first(reached: NDArray[np.bool_], steps: NDArray[np.int64]) -> int | None:
    return int(steps[reached.argmax()]) if reached.any() else None


def _relative(case: Case, runs: Sequence[Run]) -> list[tuple[float, ...]]:
    """Errors of the pool's ECE as shares of it."""
    if json.loads(case.plan)["question"].get("metric") != "ece":
        return []
    return [tuple(error / (run.whole or np.nan) for error in run.pooled) for run in runs]


def _at(
    curves: Sequence[tuple[float, ...]], measures: Measures, told: Callable[[Floats], Any]
) -> dict[str, Any]:
    """What is told of all runs' numbers, by label count."""
    measured = np.array([curve for curve in curves if curve])
    return (
        {str(n): told(measured[:, i]) for i, n in enumerate(measures.at)} if len(measured) else {}
    )


def _mean_of(numbers: Floats) -> float | None:
    return _number(float(np.mean(numbers)))


def _quartiles_of(numbers: Floats) -> list[float | None]:
    return [_number(float(q)) for q in np.quantile(numbers, [0.25, 0.5, 0.75])]


def _stops(case: Case, runs: Sequence[Run]) -> dict[str, Any]:
    """What the stop rule did: `stopped` with a finding that it stands for, or `inconclusive`.

    `budget`: how many of the latter ended because it was spent. `right` is how many findings were;
    `claimed` what the plan asks findings to be sure of, and `confidence_mean` the mean of what they
    said of themselves; None for estimates, which claim no probability.
    """
    stops = [run.stop for run in runs if run.stop is not None]
    found = [stop for stop in stops if stop.is_conclusive]
    claims = [stop.confidence for stop in found if stop.confidence is not None]
    return {
        "stopped": len(found),
        "right": sum(stop.is_right for stop in found),
        "labels_median": _quantile(found, 0.5),
        "labels_quartiles": [_quantile(found, 0.25), _quantile(found, 0.75)],
        "claimed": case.claimed,
        "confidence_mean": _mean(claims),
        "exhausted": sum(stop.reason == "exhausted" for stop in found),
        "inconclusive": len(stops) - len(found),
        "budget": sum(stop.reason == "budget" for stop in stops),
    }


def _held(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Of everything that would be published how much was true, at the label counts and at the stop.

    labels: None at the stop. said: how probable it was said to be, on average. came: the share that
    was true, of `n` numbers in `runs` runs: what one run publishes is not independent.
    """
    found: dict[tuple[str, int], list[tuple[float, int, int]]] = {}
    for run in runs:
        for labels, name, said, came, n in run.held:
            found.setdefault((name, labels), []).append((said, came, n))
    rows = []
    for (name, labels), of in found.items():
        said, came, n = map(sum, zip(*of, strict=True))
        row = {"what": name, "labels": labels or None, "said": said / n, "came": came / n}
        rows.append(row | {"n": n, "runs": len(of)})
    return rows


def _quantile(stops: Sequence[Stop], q: float) -> int | None:
    """A number of labels that occurred."""
    labels = [stop.labels for stop in stops]
    return int(np.quantile(labels, q, method="inverted_cdf")) if labels else None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def planned(case: Case, runs: Sequence[Run], budget: int | None) -> dict[str, Any]:
    """How many labels the question will cost, JSON-able.

    Args:
        runs: finished ones of `Measures.only_stop`, without a budget.
        budget: the plan's.
    """
    stops = [run.stop for run in runs if run.stop is not None]
    answered = [stop for stop in stops if stop.reason == "answered"]
    within = None
    if budget is not None:
        within = _mean([float(stop.is_conclusive and stop.labels <= budget) for stop in stops])
    return {
        "items": case.n_items,
        "per_item": case.per_item,
        "strategy": case.strategy,
        "prior": case.prior,
        "seed": case.seed,
        "runs": len(runs),
        "labels_median": _quantile(stops, 0.5),
        "labels_quartiles": [_quantile(stops, 0.25), _quantile(stops, 0.75)],
        "answered_before_all_are_labelled": len(answered) / len(runs) if runs else None,
        "budget": budget,
        "answered_within_budget": within,
        "right": sum(stop.is_right for stop in stops) / len(stops) if stops else None,
        "cpu_s_per_run": _mean([run.cpu_s for run in runs]),
    }
