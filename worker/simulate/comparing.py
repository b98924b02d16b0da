"""Strategies side by side: their curves with bands, and paired tests between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from worker.simulate.cases import Case
from worker.simulate.measuring import Measures, Run
from worker.simulate.schedule import log_steps

_MOST_POINTS = 200  # of a curve
_BAND = 1.959964  # standard errors: 95%


def curve(runs: Sequence[Run], measures: Measures) -> dict[str, Any] | None:
    """MRR and success (the right groups lead, in any order), means with 95% bands; at most 200.

    Source:
        Of the success rate Wilson's interval (1927); of the MRR two standard errors of the mean.
    """
    if not runs or not runs[0].mrr:
        return None
    steps = np.array(log_steps(measures.until))
    some = np.unique(np.linspace(0, steps.size - 1, _MOST_POINTS).astype(int))
    curves, n = np.array([run.mrr for run in runs])[:, some], len(runs)
    mean = curves.mean(axis=0)
    reach = _BAND * curves.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.ones_like(mean)
    success = (curves == 1).mean(axis=0)
    middle = (success + _BAND**2 / (2 * n)) / (1 + _BAND**2 / n)
    half = np.sqrt(success * (1 - success) / n + _BAND**2 / (4 * n**2)) / (1 + _BAND**2 / n) * _BAND
    return {
        "labels": steps[some].tolist(),
        "mrr": mean.tolist(),
        "mrr_band": [np.maximum(mean - reach, 0).tolist(), np.minimum(mean + reach, 1).tolist()],
        "success": success.tolist(),
        "success_band": [
            np.clip(middle - half, 0, 1).tolist(),
            np.clip(middle + half, 0, 1).tolist(),
        ],
    }


def paired_tests(cases: Sequence[Case], runs: Sequence[Sequence[Run]]) -> Iterator[dict[str, Any]]:
    """The first result against each other one, run by run: less is better for both.

    Source:
        Wilcoxon's signed-rank test, two-sided, as the paper's experiments have it (Ji, Logan, Smyth
        & Steyvers, AAAI 2021).
    """
    of = [{run.number: run for run in of_case} for of_case in runs]
    until = cases[0].measures.until
    for case, other in list(zip(cases, of, strict=True))[1:]:
        both = sorted(of[0].keys() & other.keys())
        for what, measured in _measured(cases[0].measures):
            pairs = [(measured(of[0][n], until), measured(other[n], until)) for n in both]
            told = np.array([pair for pair in pairs if None not in pair], dtype=np.float64)
            if not told.size:
                continue
            apart = told[:, 0] - told[:, 1]
            p = float(stats.wilcoxon(apart).pvalue) if apart.any() else 1.0
            yield {
                "what": what,
                "first": f"{cases[0].named}, {cases[0].prior}",
                "second": f"{case.named}, {case.prior}",
                "means": told.mean(axis=0).tolist(),
                "first_less": float((apart < 0).mean()),
                "runs": len(told),
                "p": p,
            }


def _measured(
    measures: Measures,
) -> Iterator[tuple[str, Callable[[Run, int], float | None]]]:
    """What runs are compared by; None where a run has no such number."""

    def error_at(i: int) -> Callable[[Run, int], float | None]:
        return lambda run, _: run.rmse[i] if run.rmse else None

    yield "labels to a right finding", _labels_to_right
    yield "1 - MRR, mean over the labels", _unranked
    for i, n in enumerate(measures.at):
        yield f"error after {n:,} labels", error_at(i)


def _unranked(run: Run, _: int) -> float | None:
    return 1 - float(np.mean(run.mrr)) if run.mrr else None


def _labels_to_right(run: Run, until: int) -> float | None:
    """All of them, if there is none."""
    stop = run.stop
    return stop.labels if stop is not None and stop.is_conclusive and stop.is_right else until
