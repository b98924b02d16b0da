"""A plan at work: the plan, the pool and the numbers that follow from them and a tally."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.core import priors
from worker.core.posterior import Belief
from worker.core.question import Question, StopRule
from worker.core.stopping import Verdict, decide
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.ledger import Header
from worker.plan import Plan
from worker.pool import Pool, compared_pairs, open_pool

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
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]

    def believe(self, tally: Mapping[str, int]) -> Belief:
        """Tally + prior = posterior."""
        right = np.zeros(len(self.pool.cell_size), dtype=np.int64)
        wrong = np.zeros_like(right)
        for key, count in tally.items():
            cell, predicted, label = key.split(":", 2)
            is_right = label == self.pool.classes[int(predicted)]
            (right if is_right else wrong)[int(cell)] += count
        return Belief(
            group=self.pool.cell_group,
            size=self.pool.cell_size,
            right=right,
            wrong=wrong,
            alpha=self.alpha,
            beta=self.beta,
            n_groups=len(self.pool.group_names),
            population=self.plan.population,
        )

    def decide(self, belief: Belief, left: int) -> Verdict:
        """Ask the stop rule; the same tally always gets the same answer.

        Args:
            left: items that can still get a label: not yet claimed, or claimed and open.
        """
        rng = np.random.default_rng([self.plan.seed, _DECIDING])
        spent = int((belief.right + belief.wrong).sum())
        return decide(belief, self.question, self.rule, spent, left, rng)

    def choose(
        self,
        belief: Belief,
        left: NDArray[np.int64],
        pending: NDArray[np.int64],
        claim: int,
    ) -> Choice:
        """Choose the cell of one claim; seed, claim number, belief and queue fix the choice."""
        rng = np.random.default_rng([self.plan.seed, _CHOOSING, claim])
        return self.strategy(belief, self.question, left, pending, rng)


def assess(plan: Plan, pool: Pool) -> Assessment:
    """Join a plan with its compiled pool."""
    if plan.prior.kind == "informative":
        alpha, beta = priors.informative(pool.cell_mean_score, plan.prior.strength)
    else:
        alpha, beta = priors.uniform(len(pool.cell_size), plan.prior.strength)
    return Assessment(
        plan=plan,
        pool=pool,
        question=_question(plan, pool),
        rule=StopRule(plan.stop.kind, plan.stop.target, plan.stop.confidence, plan.stop.budget),
        strategy=STRATEGIES[plan.strategy],
        alpha=alpha,
        beta=beta,
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
