"""A plan at work: the plan, the pool and the numbers that follow from them and a tally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from worker.assessment.best_model import BestModel
from worker.assessment.kind import Kind, OneModel
from worker.assessment.outcomes import Outcomes, n_labelled
from worker.assessment.pairing import Pairing
from worker.assessment.randomness import CHOOSING, DECIDING, GOLD, numbered
from worker.assessment.resolving import Resolved
from worker.assessment.several import Several
from worker.assessment.single import Single
from worker.assessment.soft_labels import SoftLabels
from worker.core.confidence_sequences.guarantee import ConfidenceSequence
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import decide
from worker.core.stopping.schedule import n_looks_before
from worker.core.stopping.several import decide_each
from worker.core.stopping.shortlist import Shortlist, shortlist
from worker.core.stopping.verdict import Reason, Verdict
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.strategies.blocking import blocking
from worker.plan import Plan
from worker.pool import Pool
from worker.store.rules import Rules

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """Everything that does not change while an assessment runs.

    confidence_sequence: of a claim that holds at any time.
    """

    plan: Plan
    pool: Pool
    question: Question
    rule: StopRule
    strategy: Strategy
    meaning: Outcomes
    rules: Rules
    confidence_sequence: ConfidenceSequence | None
    kind: Kind

    @property
    def first(self) -> Belief:
        """The belief before the first label."""
        return self.kind.first

    @property
    def group_names(self) -> tuple[str, ...]:
        """Of the belief's groups: the pool's, or of several models what is asked of them."""
        return self.kind.names

    @property
    def several(self) -> Several | None:
        """The models, if there is more than one."""
        return self.kind if isinstance(self.kind, Several) else None

    @property
    def best_model(self) -> BestModel | None:
        """Of the question which of many models is best."""
        return self.kind if isinstance(self.kind, BestModel) else None

    @property
    def soft_labels(self) -> SoftLabels | None:
        """Of the task evaluate."""
        return self.kind if isinstance(self.kind, SoftLabels) else None

    @property
    def pairing(self) -> Pairing | None:
        """The outputs of the same prompts, where they are compared in pairs."""
        return self.kind.pairing if isinstance(self.kind, Single) else None

    def believe(self, tally: Mapping[str, int]) -> Belief:
        """Tally + prior = posterior; the empirical prior is fitted to the tally's early claims."""
        return self.kind.believe(tally, self.plan.seed)

    def believed_at(self, tally: Mapping[str, int], stage: int) -> Belief:
        """What was believed when `stage` began: after the labels of the first claims alone."""
        return self.kind.believed_at(tally, stage, self.plan.seed)

    def earlier(self, tally: Mapping[str, int]) -> Iterator[Belief]:
        """What was believed at the looks that may confirm what is found now, latest first.

        As far as the tally knows: from the labels of the first claims, whatever came after them.
        """
        for k in range(n_looks_before(n_labelled(tally)), 0, -1):
            yield self.believed_at(tally, k)

    def votes(self, tally: Mapping[str, int]) -> Resolved | None:
        """What the votes of a tally come to; None if every label in it is one class."""
        return self.kind.votes(tally, self.plan.seed)

    def refitted(self, belief: Belief) -> Belief:
        """The belief, of one model, with its empirical prior fitted to all of its labels."""
        assert isinstance(self.kind, OneModel), "several models are fitted by their tally"
        return self.kind.refitted(belief)

    def n_helpful(self, cells: Ints) -> int:
        """How many items of the cells (C,) can tell something.

        All, but for those on which models agree, and those of groups that are not compared.
        """
        return int(self.kind.helpful(cells).sum())

    def decide(
        self,
        belief: Belief,
        left: int,
        earlier: Iterable[Belief] = (),
        unclaimed: Ints | None = None,
        bound_suffices: bool = False,
    ) -> Verdict:
        """Ask the stop rule; the same tally always gets the same answer.

        Args:
            left: items that can still get a label: not yet claimed, or claimed and open; those that
                can tell something (`n_helpful`).
            earlier: as `self.earlier` gives them; asked only if the plan wants several looks and
                the rule holds now. Unless it held at all of them, with the same finding, the
                question stays open.
            unclaimed: (C,) items of each cell that nobody claimed; None if every claimed item has
                its outcome. The others' outcomes are taken at the worst by `guarantee: anytime`.
            bound_suffices: as of `stopping.rule.decide`.
        """
        rule, spent = self.rule, self.spent(belief)
        verdict = self.ask(belief, left, rule, unclaimed, bound_suffices)
        if verdict.reason != "answered" or verdict.certain or self._was_found(verdict, earlier):
            return verdict
        if belief.soft_labels is not None and left == 0:
            return verdict  # no vote is left that could confirm it
        is_spent = rule.budget is not None and spent >= rule.budget
        reason: Reason = "exhausted" if left == 0 else "budget" if is_spent else "open"
        return replace(verdict, reason=reason, stop=reason != "open")

    def _was_found(self, verdict: Verdict, earlier: Iterable[Belief]) -> bool:
        """Whether the rule held at the looks before this one too, each with the same finding."""
        wanted = self.plan.stop.looks - 1
        unlimited = replace(self.rule, budget=None)
        looks = [
            self.ask(before, 1, unlimited, bound_suffices=True)
            for before in islice(earlier, wanted)
        ]
        return len(looks) == wanted and all(
            look.reason == "answered" and _finding(look) == _finding(verdict) for look in looks
        )

    def ask(
        self,
        belief: Belief,
        left: int,
        rule: StopRule,
        unclaimed: Ints | None = None,
        bound_suffices: bool = False,
    ) -> Verdict:
        """Ask the rule once, at one look; arguments as of `decide`.

        Of the same belief it says the same, so that idle turns, and looks that a finding waits for,
        do not work it out again.
        """
        asked = belief._memo.setdefault("asked", {})
        open_cells = None if unclaimed is None else unclaimed.tobytes()
        of = (
            self.question,
            self.plan.seed,
            self.confidence_sequence,
            rule,
            left,
            open_cells,
            bound_suffices,
        )
        if of not in asked:
            asked[of] = self._asked(belief, left, rule, unclaimed, bound_suffices)
        verdict: Verdict = asked[of]
        return verdict

    def _asked(
        self,
        belief: Belief,
        left: int,
        rule: StopRule,
        unclaimed: Ints | None,
        bound_suffices: bool,
    ) -> Verdict:
        rng = np.random.default_rng([self.plan.seed, DECIDING])
        spent = self.spent(belief)
        if belief.parts:
            seed = self.plan.seed, DECIDING
            return decide_each(belief.parts, self.question, rule, spent, left, seed, bound_suffices)
        return decide(
            belief, self.question, rule, spent, left, rng, self.confidence_sequence,
            self._unknown(belief, unclaimed), bound_suffices, self.kind.beforehand,
        )  # fmt: skip

    def shortlists(self, belief: Belief, unclaimed: Ints | None = None) -> tuple[Shortlist, ...]:
        """The fewest groups that surely have the answer among them; () if none is looked for.

        Of several models one each, of its own groups.

        Args:
            unclaimed: (C,) as of `decide`.
        """
        if self.question.task != "identify":
            return ()
        confidence, unknown = self.rule.confidence, self._unknown(belief, unclaimed)
        assert confidence is not None, "a rule of this task has one"
        return tuple(
            shortlist(part, self.question, confidence, self.confidence_sequence, unknown)
            for part in belief.parts or (belief,)
        )

    def _unknown(self, belief: Belief, unclaimed: Ints | None) -> Ints | None:
        """(C,) claimed items without an outcome, as far as the guarantee asks."""
        if self.confidence_sequence is None or unclaimed is None:
            return None
        return unlabelled(belief) - unclaimed

    def spent(self, belief: Belief) -> int:
        """How many labels the assessment took: known items cost none."""
        if belief.n_labels is not None:
            return belief.n_labels
        n_labels = int((belief.right + belief.wrong).sum())
        before = self.pool.beforehand
        return n_labels if before is None else n_labels - int(before.sum())

    def choose(self, belief: Belief, left: Ints, pending: Ints, claim: int) -> Choice:
        """Choose the cell of one claim; seed, claim number, belief and queue fix the choice."""
        strategy, rng = self.strategy, self.numbers_of(claim)
        if self.confidence_sequence is not None and strategy is STRATEGIES["assay"]:
            strategy = partial(blocking, sequence=self.confidence_sequence)
        return self.kind.choose(belief, self.question, left, pending, rng, strategy)

    def numbers_of(self, claim: int) -> np.random.Generator:
        """The random numbers by which a claim is chosen; valid until the next claim's."""
        return numbered(self.plan.seed, CHOOSING, claim)

    def is_gold_due(self, claim: int) -> bool:
        """Whether a claim is to be of a gold item; seed and claim number say it."""
        gold = self.plan.annotation.gold
        return gold is not None and bool(numbered(self.plan.seed, GOLD, claim).random() < gold.rate)


def _finding(verdict: Verdict) -> tuple[frozenset[int], tuple[str, ...]]:
    return frozenset(verdict.chosen), tuple(pair.region for pair in verdict.pairs)
