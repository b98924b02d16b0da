"""What is found of many models of which the best is asked for: how far each is behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.best_model import BestModel
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import equal_tailed
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.summary import draws, mean
from worker.core.stopping.verdict import Verdict
from worker.findings.model_comparison import models_of

Floats = NDArray[np.float64]

_MOST_IN_PAIRS = 10  # models: 45 pairs are a page


def told_of_models(
    assessment: Assessment,
    belief: Belief,
    verdict: Verdict,
    shortlists: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """Everything that is said of several models; None if there is one.

    Args:
        shortlists: as `worker.findings.evidence.among_rows` has them.
    """
    if assessment.best_model is not None:
        return _best(assessment.best_model, belief, verdict)
    if assessment.several is not None:
        return models_of(assessment.several, belief, verdict, shortlists)
    return None


def _best(best: BestModel, belief: Belief, verdict: Verdict) -> dict[str, Any]:
    """As `models_of`, with a row for each model, the likeliest best one first.

    behind, low, high: by how much it is less accurate than the first one (more, if the
    lowest are asked for), with its 95% interval; 0 of the first one. p_best: the probability that
    no model is better than it by more than the plan's tolerance. pairs: by how much each model is
    more accurate than each one after it, of at most 10 models.
    """
    sign = 1.0 if best.question.which == "highest" else -1.0
    drawn, means = sign * draws(belief), sign * mean(belief)
    near = drawn >= drawn.max(axis=1, keepdims=True) - best.question.tolerance - SLACK
    first = verdict.ranking[0]
    bounds = equal_tailed(drawn[:, [first]] - drawn)
    rows = [
        {
            "model": best.names[m],
            "behind": round(float(means[first] - means[m]), 6),
            "low": round(float(bounds[m, 0]), 6),
            "high": round(float(bounds[m, 1]), 6),
            "p_best": round(float(near[:, m].mean()), 4),
            "is_chosen": m in verdict.chosen,
        }
        for m in verdict.ranking
    ]
    return {
        "names": list(best.names),
        "agreed": best.strata.agreed,
        "differences": [],
        "groups": [],
        "shortlists": [],
        "best": rows,
        "pairs": _pairs(best, verdict.ranking, sign * drawn, sign * means),
    }


def _pairs(
    best: BestModel, ranking: Sequence[int], drawn: Floats, means: Floats
) -> list[dict[str, Any]]:
    if len(ranking) > _MOST_IN_PAIRS:
        return []
    pairs = np.array(list(combinations(ranking, 2)))
    bounds = equal_tailed(drawn[:, pairs[:, 0]] - drawn[:, pairs[:, 1]])
    return [
        {
            "first": best.names[first],
            "second": best.names[second],
            "mean": round(float(means[first] - means[second]), 6),
            "low": round(low, 6),
            "high": round(high, 6),
        }
        for (first, second), (low, high) in zip(pairs.tolist(), bounds.tolist(), strict=True)
    ]
