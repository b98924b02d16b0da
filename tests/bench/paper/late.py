"""`guarantee: anytime` with ten annotators, whose answers come late, or never, or both by outcome.

`assay simulate` has one item open at a time, so the loop is driven here by hand.
"""

import heapq
from dataclasses import replace
from typing import Literal

import numpy as np

from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.cases import core, of_run, opened, order_of, prepared, spread
from tests.bench.paper.data import load
from worker.core.confidence_sequences.guarantee import ConfidenceSequence
from worker.core.posterior.hypothetical import labelled
from worker.core.stopping.schedule import is_refit
from worker.core.strategies import NothingLeft
from worker.simulate.cases import Asked, Case
from worker.simulate.findings import is_right
from worker.simulate.schedule import looks
from worker.simulate.truths import true_values

Delay = Literal["late", "slow when wrong", "some wrong ones skipped"]
DELAYS: tuple[Delay, ...] = ("late", "slow when wrong", "some wrong ones skipped")
OPEN = 10  # items that are with annotators at any time
SKIPPED = 0.02  # of the wrong ones, never to come back
_DELAYING = 5  # beside the streams of `worker.simulate.replay`


def delayed(pool: str, top: int, delay: Delay, n_runs: int) -> Value:
    """Every run's labels at its stop and whether it was right; None where it never stopped."""
    return remembered(delay_runs, core(), pool=pool, top=top, delay=delay, n_runs=n_runs)


def delay_runs(pool: str, top: int, delay: Delay, n_runs: int) -> Value:
    """Run after run of the worst `top` predicted classes, under the guarantee."""
    question: Value = {"task": "identify", "which": "lowest", "top": top}
    with prepared(load(pool), question, Asked("truth", seed=0), "anytime") as case:
        ends = spread(_end, [(case, delay, number) for number in range(n_runs)])
        return {"n_items": case.n_items, "ends": ends}


def _end(order: tuple[Case, Delay, int]) -> tuple[int, bool] | None:
    case, delay, number = order
    assessment, outcome = opened(case)
    assert assessment.confidence_sequence is not None
    assessment = of_run(assessment, case, number)
    # a sequence remembers its last bands: choosing and deciding see different counts
    judging = replace(
        assessment,
        confidence_sequence=ConfidenceSequence(
            assessment.confidence_sequence.forecast, assessment.confidence_sequence.miss
        ),
    )
    truth = true_values(assessment, outcome)
    rows = order_of(assessment)
    rng = np.random.default_rng([assessment.plan.seed, _DELAYING])
    belief, pool = assessment.first, assessment.pool
    left, pending = np.array(pool.cell_size), np.zeros_like(pool.cell_size)
    ends = pool.cell_start + pool.cell_size
    queue: list[tuple[float, int, int, int]] = []
    now, claim, n = 0.0, 0, 0
    wanted = looks(pool.n_items, None)
    next_look = next(wanted)
    while True:
        while pending.sum() < OPEN:
            try:
                cell = assessment.choose(belief, left, pending, claim).cell
            except NothingLeft:
                break
            answer = int(outcome[rows[ends[cell] - left[cell]]])
            left[cell] -= 1
            pending[cell] += 1
            mean = 60.0 if delay == "slow when wrong" and answer else 10.0
            heapq.heappush(queue, (now + rng.exponential(mean), claim, cell, answer))
            claim += 1
        if not queue:
            return None
        now, _, cell, answer = heapq.heappop(queue)
        pending[cell] -= 1
        if answer and delay == "some wrong ones skipped" and rng.random() < SKIPPED:
            continue
        belief = labelled(belief, cell, answer)
        n += 1
        if is_refit(n):
            belief = assessment.refitted(belief)
        if n < next_look:
            continue
        next_look = next(wanted, pool.n_items)
        verdict = judging.decide(belief, int(left.sum() + pending.sum()), (), left)
        if verdict.stop:
            return n, is_right(assessment, verdict, belief, truth)
