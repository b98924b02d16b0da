"""How often a judge of outputs says what people say, from labels that tell of all outputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.covariates import effect_groups, scores
from worker.core.posterior.belief import Belief
from worker.core.posterior.completing import completions
from worker.findings.evidence import tells_whole
from worker.findings.opinions_drawn import fitted, labels_of
from worker.findings.opinions_strata import can_be_chosen
from worker.metrics import METRICS
from worker.report.contents_people import JudgeRate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SEED = 401  # the same draws for the same tally


def judge_of(work: Assessment, belief: Belief) -> tuple[JudgeRate, ...]:
    """TPR and TNR of the judge of a pool's outputs: medians and 95% intervals.

    Of draws of the whole pool, in which each of the judge's two words has an effect of its own in
    every group. From one curve and one level a group, as reliability has them, the TNR of a judge
    whom one topic fools held in .42 of 12 runs after 320 labels; so in all of them.

    None where labels do not tell of the whole pool, without a judge, where they themselves are
    asked for, and where the pool is not cut by what the judge says (of a calibration error).
    """
    pool = work.pool
    is_asked_for = METRICS[work.plan.question.metric].judge_says is not None
    if not pool.is_judged or is_asked_for or not tells_whole(work, belief):
        return ()
    # the two effects of a group are independent: each is one of a group of its own
    of = replace(scores(pool), second=None)
    tallies = [
        (v.right.astype(np.int64), v.wrong.astype(np.int64)) for v in belief.variants or (belief,)
    ]
    blocks = completions(
        fitted(pool, labels_of(pool, belief)), of, effect_groups(pool), pool.cell_size, tallies,
        can_be_chosen(pool), np.random.default_rng(_SEED),
    )  # fmt: skip
    right, said = np.concatenate(list(blocks)), pool.cell_unit == 1
    found = {"TPR": _share_of(right, said), "TNR": _share_of(pool.cell_size - right, ~said)}
    return tuple(JudgeRate(name, *share) for name, share in found.items())


def _share_of(outputs: Ints, said: NDArray[np.bool_]) -> tuple[float, ...]:
    """Median and interval of the share of outputs (n, C), by cell, that the judge says it of."""
    found, whole = outputs[:, said].sum(axis=1), outputs.sum(axis=1)
    share = np.divide(found, whole, out=np.ones(whole.size), where=whole > 0)
    low, middle, high = np.quantile(share, [0.025, 0.5, 0.975]).round(6).tolist()
    return middle, low, high
