"""A plan at work: the plan, the pool and the numbers that follow from them and a tally."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.believing import first_belief, fitted
from worker.core.belief import Belief
from worker.core.question import Question, StopRule
from worker.core.stopping import Verdict, decide
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.supposing import with_tally
from worker.ledger import Header
from worker.outcomes import Outcomes, count, outcomes
from worker.plan import Plan
from worker.pool import Pool, compared_pairs, open_pool

Ints = NDArray[np.int64]

# Which stream of random numbers is for what; together with the plan's seed and, for choices, the
# claim number, they fix every draw.
_DECIDING, _CHOOSING = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """Everything that does not change while an assessment runs."""

    plan: Plan
    pool: Pool
    question: Question
    rule: StopRule
    strategy: Strategy
    meaning: Outcomes
    first: Belief  # before the first label

    def believe(self, tally: Mapping[str, int]) -> Belief:
        """Tally + prior = posterior; the empirical prior is fitted to the tally's early claims."""
        counts = count(tally, self.meaning, self.pool.n_cells)
        belief = with_tally(self.first, counts.all)
        return self._fitted(belief, counts.early) if counts.stage else belief

    def refitted(self, belief: Belief) -> Belief:
        """The belief with its empirical prior fitted to all of its labels."""
        kinds = belief.wrong[:, None] if belief.errors is None else belief.errors.counts
        return self._fitted(belief, np.concatenate([belief.right[:, None], kinds], axis=1))

    def decide(self, belief: Belief, left: int) -> Verdict:
        """Ask the stop rule; the same tally always gets the same answer.

        Args:
            left: items that can still get a label: not yet claimed, or claimed and open.
        """
        rng = np.random.default_rng([self.plan.seed, _DECIDING])
        spent = int((belief.right + belief.wrong).sum())
        return decide(belief, self.question, self.rule, spent, left, rng)

    def choose(self, belief: Belief, left: Ints, pending: Ints, claim: int) -> Choice:
        """Choose the cell of one claim; seed, claim number, belief and queue fix the choice."""
        rng = np.random.default_rng([self.plan.seed, _CHOOSING, claim])
        return self.strategy(belief, self.question, left, pending, rng)

    def _fitted(self, belief: Belief, early: Ints) -> Belief:
        return fitted(belief, early, self.plan, self.pool, self.meaning)


def assess(plan: Plan, pool: Pool) -> Assessment:
    """Join a plan with its compiled pool."""
    meaning = outcomes(plan, pool)
    return Assessment(
        plan=plan,
        pool=pool,
        question=_question(plan, pool),
        rule=StopRule(
            plan.stop.kind,
            plan.stop.target,
            plan.stop.confidence,
            plan.stop.budget,
            plan.stop.min_per_group,
        ),
        strategy=STRATEGIES[plan.strategy],
        meaning=meaning,
        first=first_belief(plan, pool, meaning),
    )


def reopen(header: Header, pools: Path) -> Assessment:
    """Rebuild the assessment that a ledger's header describes.

    Args:
        pools: where to look for the compiled pool if it is not where the header says (another
            machine with the same files).

    Raises:
        PoolChanged: the compiled pool is gone or was altered.
    """
    plan = Plan.model_validate_json(header.plan)
    path = Path(header.pool_file)
    if not path.exists():
        path = pools / path.name
    return assess(plan, open_pool(path, header.pool_sha256, header.pool_stat))


def _question(plan: Plan, pool: Pool) -> Question:
    asked = plan.question
    if asked.task == "compare":
        return Question("compare", pairs=compared_pairs(plan, pool), epsilon=plan.stop.target)
    return Question(asked.task, which=asked.which, top=asked.top, tolerance=asked.tolerance)
