"""Are claims true as often as they say, where truths are such as the model expects?

A posterior is right on average over truths, not on each hard one. So the model is fitted to all of
a pool's labels, truths are drawn from it, and each is assessed as any pool would be, from the usual
prior.
"""

from collections import deque
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.cases import core, of_run, opened, prepared, spread
from tests.bench.paper.data import load
from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_tally
from worker.core.questions.question import StopRule
from worker.core.stopping.refuting import is_far_from_holding
from worker.core.stopping.schedule import is_look
from worker.simulate.cases import Asked, Case
from worker.simulate.findings import is_right
from worker.simulate.replay import labels
from worker.simulate.schedule import looks
from worker.simulate.truths import all_labelled, drawn_from, true_values

LEVELS = (0.8, 0.9, 0.95, 0.99)
CONFIRMED = "confirmed"  # the plan's own rule: .95, at its looks
_DRAWING_TRUTH = 4  # as in `worker.simulate.replay`


class Claim(NamedTuple):
    """The first look at which a level was reached: labels so far, what was claimed, the truth."""

    labels: int
    confidence: float
    is_right: bool


def claimed(pool: str, n_truths: int) -> Value:
    """Of `n_truths` runs: each level's claims, [labels, confidence, is_right] each."""
    return remembered(claim, core(), pool=pool, n_truths=n_truths)


def claim(pool: str, n_truths: int) -> Value:
    """A run on each drawn truth, until all levels are reached or all items labelled."""
    question: Value = {"task": "identify", "which": "lowest", "top": 1}
    with prepared(load(pool), question, Asked("truth", seed=0)) as case:
        runs = spread(_claims, [(case, number) for number in range(n_truths)])
        n_items = case.n_items
    return {"n_items": n_items, "claims": {key: [run[key] for run in runs] for key in runs[0]}}


def _claims(order: tuple[Case, int]) -> dict[str, Claim | None]:
    case, number = order
    assessment, _ = opened(case)
    assessment = of_run(assessment, case, number)
    seed = assessment.plan.seed
    outcome = drawn_from(_model(case), np.random.default_rng([seed, _DRAWING_TRUTH]))
    truth = true_values(assessment, outcome)
    at_once = _looking(assessment, 1)
    found: dict[str, Claim | None] = dict.fromkeys([*map(str, LEVELS), CONFIRMED])
    earlier: deque[Belief] = deque(maxlen=assessment.plan.stop.looks)
    before, n_items = assessment.first, assessment.pool.n_items
    wanted = looks(n_items, None)
    next_look = next(wanted)
    for n, (_, belief) in enumerate(labels(assessment, outcome), start=1):
        if is_look(n - 1):
            earlier.appendleft(before)
        before = belief
        if n < next_look:
            continue
        next_look = next(wanted, 0)
        open_levels = [level for level in LEVELS if found[str(level)] is None]
        least = min([*open_levels, 0.95])
        if n < n_items and is_far_from_holding(belief, assessment.question, _at(assessment, least)):
            continue
        verdict = at_once.decide(belief, n_items - n)
        assert verdict.confidence is not None, "mrr claims a probability"
        now = Claim(n, verdict.confidence, is_right(assessment, verdict, belief, truth))
        found |= {str(x): now for x in open_levels if verdict.confidence >= x - 1e-12}
        if found[CONFIRMED] is None and verdict.confidence >= 0.95 - 1e-12:
            found[CONFIRMED] = now if assessment.decide(belief, n_items - n, earlier).stop else None
        if None not in found.values():
            break
    return found


@lru_cache(maxsize=2)
def _model(case: Case) -> Belief:
    """The model fitted to the truth of the whole pool, without a label."""
    assessment, outcome = opened(case)
    fitted = assessment.refitted(all_labelled(assessment, outcome))
    width = 1 + max(assessment.meaning.n_kinds, 1)
    return with_tally(fitted, np.zeros((fitted.group.size, width), np.int64))


def _looking(assessment: Assessment, n: int) -> Assessment:
    stop = assessment.plan.stop.model_copy(update={"looks": n})
    return replace(assessment, plan=assessment.plan.model_copy(update={"stop": stop}))


def _at(assessment: Assessment, confidence: float) -> StopRule:
    return replace(assessment.rule, confidence=confidence)
