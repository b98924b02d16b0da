"""One run: the pool's labels revealed one after the other, through the very core that runs live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import labelled
from worker.core.stopping.schedule import is_refit
from worker.simulate.best_model import all_classes_known, of_models, plausible_classes
from worker.simulate.jointly import all_counted, jointly, plausible_outcomes
from worker.simulate.measuring import Log, Measures, Run
from worker.simulate.revealing import revealed
from worker.simulate.truths import Ints, estimates, plausible, right_of_cells, true_values

# Which stream of a run's random numbers is for what; 1 and 2 are the assessment's own.
_SHUFFLING, _DRAWING_TRUTH = 3, 4


class Revealed(NamedTuple):
    """One label: the row of its item, and the belief after it."""

    row: int
    belief: Belief


def run_seed(seed: int, number: int) -> int:
    """The seed of a run, 0..2^63 - 1, from the simulation's seed and the run's number."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> 1)


def replay(
    assessment: Assessment, outcome: Ints | None, measures: Measures, seed: int, number: int
) -> Run:
    """Take one run; its seed and number fix all of it.

    Args:
        outcome: (N,) in the order of the pool's rows (`truths`); None to draw a plausible one.
        seed: of the simulation.
        number: of the run, >= 0.
    """
    began = time.process_time()
    own = run_seed(seed, number)
    assessment = replace(assessment, plan=assessment.plan.model_copy(update={"seed": own}))
    several, rng = assessment.several, np.random.default_rng([own, _DRAWING_TRUTH])
    order = shuffled(assessment, np.random.default_rng([own, _SHUFFLING]))
    best = assessment.best_model
    if best is not None:
        outcome = plausible_classes(best, rng) if outcome is None else outcome
        truth, right = estimates(all_classes_known(best, outcome)), None
    elif several is None:
        outcome = plausible(assessment, rng) if outcome is None else outcome
        truth = true_values(assessment, outcome)
        right = right_of_cells(assessment, outcome)
    else:
        outcome = plausible_outcomes(several, rng) if outcome is None else outcome
        truth, right = estimates(all_counted(several, outcome)), None
    log = Log(assessment, truth, measures, right)
    for n, label in enumerate(labels(assessment, outcome, order), start=1):
        log.take(n, label.belief)
        if log.is_full:
            break
    return log.run(number, time.process_time() - began)


def labels(assessment: Assessment, outcome: Ints, order: Ints | None = None) -> Iterator[Revealed]:
    """Reveal one label after the other, until none would help.

    The choices are those of an assessment with one item open at a time, whose annotator answers
    `outcome`.

    Args:
        order: (N,) rows, cell after cell, in which the items of a cell are offered; None for the
            compiled pool's own order, in which they are offered live.
    """
    pool = assessment.pool
    rows = range(pool.n_items) if order is None else order.tolist()
    outcomes = (outcome if order is None else outcome[order]).tolist()

    pairs = assessment.pairing
    labels_of_pairs = None if pairs is None else pairs.known.copy()

    def learn(before: Belief, cell: int, at: int, n: int) -> Belief:
        belief = labelled(before, cell, outcomes[at])
        belief = assessment.refitted(belief) if is_refit(n) else belief
        if pairs is None or labels_of_pairs is None:
            return belief
        labels_of_pairs[rows[at]] = outcomes[at] > 0
        return pairs.outputs.joined(belief, labels_of_pairs)

    if assessment.several is not None:
        found = jointly(assessment, assessment.several, outcomes)
    elif assessment.best_model is not None:
        codes = pool.predicted if order is None else pool.predicted[order]
        found = of_models(assessment, assessment.best_model, codes, outcomes)
    else:
        found = revealed(assessment, learn)
    for at, belief in found:
        yield Revealed(rows[at], belief)


def shuffled(assessment: Assessment, rng: np.random.Generator) -> Ints:
    """(N,) the pool's rows, cell after cell, in a fresh random order within each cell; of pairs
    the same one in all cells."""
    pool = assessment.pool
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    number = rng.random(pool.n_prompts)[pool.code] if pool.n_prompts else rng.random(cell.size)
    order: Ints = np.lexsort((number, cell))
    return order
