"""A plan at work: the plan, the pool and the numbers that follow from them and a tally."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.believing import first_belief, fitted
from worker.core.anytime.bands import forecast
from worker.core.anytime.blocking import blocking
from worker.core.anytime.guarantee import Guard
from worker.core.belief import Belief, unlabelled
from worker.core.question import Question, StopRule
from worker.core.schedule import POINTS
from worker.core.stopping import Reason, Verdict, decide
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.supposing import retallied, with_tally
from worker.ledger import Header
from worker.outcomes import Outcomes, count, outcomes
from worker.plan import Plan
from worker.pool import Pool, compared_pairs, open_pool

Ints = NDArray[np.int64]

# Which stream of random numbers is for what; together with the plan's seed and, for choices, the
# claim number, they fix every draw.
_DECIDING, _CHOOSING = 1, 2
_BAND_CONFIDENCE = 0.95  # of bands whose width is the rule: it names no confidence itself


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
    guard: Guard | None  # of a claim that holds at any time
    # The last belief and the early claims that its prior was fitted to: the next one differs in a
    # few groups. It is the same as one that is made anew.
    _last: dict[bytes, Belief] = field(default_factory=dict, repr=False)

    def believe(self, tally: Mapping[str, int]) -> Belief:
        """Tally + prior = posterior; the empirical prior is fitted to the tally's early claims."""
        counts = count(tally, self.meaning, self.pool.n_cells)
        early = counts.early.tobytes() if counts.stage else b""
        before = self._last.get(early)
        if before is None:
            before = self._fitted(self.first, counts.early) if counts.stage else self.first
        belief = retallied(before, counts.all)
        self._last.clear()
        self._last[early] = belief
        return belief

    def refitted(self, belief: Belief) -> Belief:
        """The belief with its empirical prior fitted to all of its labels."""
        kinds = belief.wrong[:, None] if belief.errors is None else belief.errors.counts
        return self._fitted(belief, np.concatenate([belief.right[:, None], kinds], axis=1))

    def earlier(self, tally: Mapping[str, int]) -> Iterator[Belief]:
        """What was believed at the points of the schedule before the latest label, latest first.

        As far as the tally knows: from the labels of the first claims, whatever came after them.
        """
        for k in range(bisect_left(POINTS, sum(tally.values())), 0, -1):
            counts = count(tally, self.meaning, self.pool.n_cells, before=k)
            yield self._fitted(with_tally(self.first, counts.all), counts.all)

    def decide(
        self,
        belief: Belief,
        left: int,
        earlier: Iterable[Belief] = (),
        unclaimed: Ints | None = None,
        may_be_rough: bool = False,
    ) -> Verdict:
        """Ask the stop rule; the same tally always gets the same answer.

        Args:
            left: items that can still get a label: not yet claimed, or claimed and open.
            earlier: as `self.earlier` gives them; asked only if the plan wants several looks and
                the rule holds now. Unless it held at all of them, with the same finding, the
                question stays open.
            unclaimed: (C,) items of each cell that nobody claimed; None if every claimed item has
                its outcome. The others' outcomes are taken at the worst by `guarantee: anytime`.
            may_be_rough: the confidence may be rough while nothing is decided.
        """
        rule, spent = self.rule, int((belief.right + belief.wrong).sum())
        verdict = self._asked(belief, left, rule, unclaimed, may_be_rough)
        if verdict.reason != "answered" or verdict.certain or self._was_found(verdict, earlier):
            return verdict
        is_spent = rule.budget is not None and spent >= rule.budget
        reason: Reason = "exhausted" if left == 0 else "budget" if is_spent else "open"
        return replace(verdict, reason=reason, stop=reason != "open")

    def _was_found(self, verdict: Verdict, earlier: Iterable[Belief]) -> bool:
        """Whether the rule held at the looks before this one too, each with the same finding."""
        wanted = self.plan.stop.looks - 1
        unlimited = replace(self.rule, budget=None)
        looks = [self._asked(before, 1, unlimited) for before in islice(earlier, wanted)]
        return len(looks) == wanted and all(
            look.reason == "answered" and _finding(look) == _finding(verdict) for look in looks
        )

    def _asked(
        self,
        belief: Belief,
        left: int,
        rule: StopRule,
        unclaimed: Ints | None = None,
        may_be_rough: bool = False,
    ) -> Verdict:
        rng = np.random.default_rng([self.plan.seed, _DECIDING])
        spent = int((belief.right + belief.wrong).sum())
        unknown = None if unclaimed is None else unlabelled(belief) - unclaimed
        return decide(
            belief, self.question, rule, spent, left, rng, self.guard, unknown, may_be_rough
        )

    def choose(self, belief: Belief, left: Ints, pending: Ints, claim: int) -> Choice:
        """Choose the cell of one claim; seed, claim number, belief and queue fix the choice."""
        rng = _numbered(self.plan.seed, _CHOOSING, claim)
        if self.guard is not None and self.strategy is STRATEGIES["assay"]:
            lost = unlabelled(belief) - left - pending
            return blocking(belief, self.question, left, pending, rng, lost=lost, guard=self.guard)
        return self.strategy(belief, self.question, left, pending, rng)

    def _fitted(self, belief: Belief, early: Ints) -> Belief:
        return fitted(belief, early, self.plan, self.pool, self.meaning)


def _numbered(seed: int, stream: int, number: int) -> np.random.Generator:
    """The random numbers of one choice; seed and stream are the key, the number is counted in.

    Philox needs no mixing of its seed, which takes as long as some strategies do.
    """
    return np.random.Generator(np.random.Philox(key=[seed, stream], counter=[0, 0, 0, number]))


def _finding(verdict: Verdict) -> tuple[frozenset[int], tuple[str, ...]]:
    return frozenset(verdict.chosen), tuple(pair.region for pair in verdict.pairs)


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
        guard=_guard(plan, pool),
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


def _guard(plan: Plan, pool: Pool) -> Guard | None:
    if plan.stop.guarantee == "posterior":
        return None
    confidence = plan.stop.confidence or _BAND_CONFIDENCE
    return Guard(forecast(pool.cell_mean_logit), 1 - confidence)


def _question(plan: Plan, pool: Pool) -> Question:
    asked = plan.question
    if asked.task == "compare":
        return Question("compare", pairs=compared_pairs(plan, pool), epsilon=plan.stop.target)
    return Question(asked.task, which=asked.which, top=asked.top, tolerance=asked.tolerance)
