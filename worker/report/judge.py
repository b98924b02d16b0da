"""How often a judge of outputs says what people say, from labels that tell of all outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.reliability.curve import right_answers, score_grid
from worker.findings.evidence import tells_whole
from worker.findings.item_classes import answered
from worker.metrics import METRICS
from worker.pool.judged import SAYS_RIGHT
from worker.report.contents_people import JudgeRate
from worker.store.records import Record

Floats = NDArray[np.float64]

_SEED = 401  # the same draws for the same tally


def judge_of(
    work: Assessment, belief: Belief, tally: Mapping[str, int], records: Sequence[Record]
) -> tuple[JudgeRate, ...]:
    """TPR and TNR of the judge of a pool's outputs: medians and 95% intervals.

    From the regression on score and group of the calibration section, where labels tell of the
    whole pool. None of them without a judge, and where they themselves are asked for.
    """
    pool, plan = work.pool, work.plan
    is_asked_for = METRICS[plan.question.metric].judge_says is not None
    if plan.annotation.verdict is None or not pool.has_scores or is_asked_for:
        return ()
    if not tells_whole(work, belief):
        return ()
    known = answered(work, tally, records)
    group = np.repeat(pool.cell_group, pool.cell_size)
    at = score_grid(pool.score.astype(np.float64), np.array([SAYS_RIGHT]))
    rng = np.random.default_rng(_SEED)
    right = right_answers(at, group, known.rows, known.is_right, rng, tells=known.tells)
    said = at.score >= SAYS_RIGHT
    found = {"TPR": _share_of(right, said), "TNR": _share_of(at.items - right, ~said)}
    return tuple(JudgeRate(name, *share) for name, share in found.items())


def _share_of(outputs: Floats, said: NDArray[np.bool_]) -> tuple[float, ...]:
    """Median and interval of the share of outputs (n, T), by place, that the judge says it of."""
    found, whole = outputs[:, said].sum(axis=1), outputs.sum(axis=1)
    share = np.divide(found, whole, out=np.ones_like(whole), where=whole > 0)
    low, middle, high = np.quantile(share, [0.025, 0.5, 0.975]).round(6).tolist()
    return middle, low, high
