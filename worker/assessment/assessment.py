"""A plan at work: the plan, the pool and the numbers that follow from them and a tally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import continuing
from worker.assessment.believing import fitted
from worker.assessment.judging import Judging, judged
from worker.assessment.outcomes import (
    Begun,
    Counts,
    Outcomes,
    count,
    n_labelled,
)
from worker.assessment.resolving import Resolved, is_plain, resolve, until
from worker.assessment.several import Several
from worker.core.confidence_sequences.guarantee import Guard
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.counts import LawCache
from worker.core.posterior.mixing import likeliest, with_variants
from worker.core.posterior.supposing import retallied, with_tally
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import Reason, Verdict, decide
from worker.core.stopping.schedule import fitted_at, n_looks_before, stage
from worker.core.stopping.several import decide_each
from worker.core.stopping.shortlist import Shortlist, shortlist
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.strategies.blocking import blocking
from worker.plan import Plan
from worker.pool import Pool
from worker.store.rules import Rules

Ints = NDArray[np.int64]

# Which stream of random numbers is for what; together with the plan's seed and, for choices, the
# claim number, they fix every draw.
_DECIDING, _CHOOSING, _GOLD = 1, 2, 3
# What votes came to: an inference takes some tenths of a second, and a turn looks three times.
_resolved = LawCache(1 << 23)


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """Everything that does not change while an assessment runs."""

    plan: Plan
    pool: Pool
    question: Question
    rule: StopRule
    strategy: Strategy
    meaning: Outcomes
    rules: Rules
    first: Belief  # before the first label
    guard: Guard | None  # of a claim that holds at any time
    judging: Judging | None = None  # of the task evaluate
    begun: Begun | None = None  # labels that were there before the first one
    several: Several | None = None  # models, if there is more than one
    # The last belief and the early claims that its prior was fitted to: the next one differs in a
    # few groups. It is the same as one that is made anew.
    _last: dict[bytes, Belief] = field(default_factory=dict, repr=False)
    # Those at the points of the schedule before, by their tallies: of many groups each takes a
    # second, and every turn that waits for a finding to be confirmed asks for the same ones.
    _past: dict[bytes, Belief] = field(default_factory=dict, repr=False)

    def believe(self, tally: Mapping[str, int]) -> Belief:
        """Tally + prior = posterior; the empirical prior is fitted to the tally's early claims."""
        if self.judging is not None:
            return judged(tally, self.plan, self.pool, self.judging)
        if self.several is not None:
            return self._of_several(self._counts(tally))
        if not is_plain(tally, self.rules):
            return self._in_doubt(tally, self._prior_at(tally, stage(n_labelled(tally))))
        counts = self._counts(tally)
        is_fitted = bool(counts.early.any())
        early = counts.early.tobytes() if is_fitted else b""
        before = self._last.get(early)
        if before is None:
            before = self._fitted(self.first, counts.early) if is_fitted else self.first
        belief = retallied(before, counts.all)
        self._last.clear()
        self._last[early] = belief
        return belief

    def _of_several(self, counts: Counts) -> Belief:
        """Tally + prior = posterior, of several models."""
        assert self.several is not None, "asked of several models"
        early = counts.early.tobytes()
        belief = self.several.believe(counts, self._last.get(early))
        self._last.clear()
        self._last[early] = belief
        return belief

    @property
    def group_names(self) -> tuple[str, ...]:
        """Of the belief's groups: the pool's, or of several models what is asked of them."""
        return self.pool.group_names if self.several is None else self.several.names

    def n_helpful(self, cells: Ints) -> int:
        """How many items of the cells (C,) can tell something.

        All, but for those on which models agree, and those of groups that are not compared.
        """
        if self.several is not None:
            return int(self.several.helpful(cells).sum())
        if self.question.task == "compare":
            cells = cells[np.isin(self.pool.cell_group, self.question.pairs)]
        return int(cells.sum())

    def refitted(self, belief: Belief) -> Belief:
        """The belief with its empirical prior fitted to all of its labels."""
        return self._fitted(belief, self._telling(belief))

    def _telling(self, belief: Belief) -> Ints:
        """(C, 1 + L) outcomes of the belief's labels that tell of others."""
        kinds = belief.wrong[:, None] if belief.errors is None else belief.errors.counts
        counts: Ints = np.concatenate([belief.right[:, None], kinds], axis=1)
        return counts if self.begun is None else counts - self.begun.untold

    def earlier(self, tally: Mapping[str, int]) -> Iterator[Belief]:
        """What was believed at the looks that may confirm what is found now, latest first.

        As far as the tally knows: from the labels of the first claims, whatever came after them.
        """
        for k in range(n_looks_before(n_labelled(tally)), 0, -1):
            yield self.believed_at(tally, k)

    def believed_at(self, tally: Mapping[str, int], stage: int) -> Belief:
        """What was believed when `stage` began: after the labels of the first claims alone."""
        if self.judging is not None:
            return self.believe(until(tally, stage))
        if self.several is not None:
            return self.several.believe(self._counts(tally, before=stage))
        if not is_plain(known := until(tally, stage), self.rules):
            return self._in_doubt(known, self._prior_at(tally, stage))
        counts = self._counts(tally, before=stage)
        key = counts.all.tobytes()
        found = self._past.get(key)
        if found is None:
            found = self._fitted(with_tally(self.first, counts.all), counts.early)
            self._past[key] = found
            for old in list(self._past)[: -max(1, self.plan.stop.looks - 1)]:
                self._past.pop(old, None)
        return found

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
        if self.judging is not None and left == 0:
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
        of = self.question, self.plan.seed, self.guard, rule, left, open_cells, bound_suffices
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
        rng = np.random.default_rng([self.plan.seed, _DECIDING])
        spent = self.spent(belief)
        if self.several is not None and not self.several.asked:
            seed = self.plan.seed, _DECIDING
            return decide_each(belief.parts, self.question, rule, spent, left, seed, bound_suffices)
        return decide(
            belief, self.question, rule, spent, left, rng, self.guard,
            self._unknown(belief, unclaimed), bound_suffices, self._beforehand(belief),
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
            shortlist(part, self.question, confidence, self.guard, unknown)
            for part in belief.parts or (belief,)
        )

    def _unknown(self, belief: Belief, unclaimed: Ints | None) -> Ints | None:
        """(C,) claimed items without an outcome, as far as the guarantee asks."""
        if self.guard is None or unclaimed is None:
            return None
        return unlabelled(belief) - unclaimed

    def _beforehand(self, belief: Belief) -> Ints | None:
        """(C,) items whose outcome was known before the first label; None: there are none."""
        if self.several is not None:  # there is no difference where two models agree
            return np.where(self.several.views[0].cell < 0, belief.size, 0)
        return None if self.pool.known is None else self.pool.known.n_items

    def spent(self, belief: Belief) -> int:
        """How many labels the assessment took: known items cost none."""
        if belief.n_labels is not None:
            return belief.n_labels
        return int((belief.right + belief.wrong).sum()) - self.pool.n_known

    def choose(self, belief: Belief, left: Ints, pending: Ints, claim: int) -> Choice:
        """Choose the cell of one claim; seed, claim number, belief and queue fix the choice."""
        rng = self.numbers_of(claim)
        if self.several is not None:
            return self.several.choose(belief, left, pending, rng)
        belief = likeliest(belief)
        if self.guard is not None and self.strategy is STRATEGIES["assay"]:
            lost = unlabelled(belief) - left - pending
            return blocking(belief, self.question, left, pending, rng, lost=lost, guard=self.guard)
        return self.strategy(belief, self.question, left, pending, rng)

    def numbers_of(self, claim: int) -> np.random.Generator:
        """The random numbers by which a claim is chosen; valid until the next claim's."""
        return _numbered(self.plan.seed, _CHOOSING, claim)

    def is_gold_due(self, claim: int) -> bool:
        """Whether a claim is to be of a gold item; seed and claim number say it."""
        gold = self.plan.annotation.gold
        return gold is not None and bool(
            _numbered(self.plan.seed, _GOLD, claim).random() < gold.rate
        )

    def votes(self, tally: Mapping[str, int]) -> Resolved | None:
        """What the votes of a tally come to; None if every label in it is one class."""
        if self.judging is not None or is_plain(tally, self.rules):
            return None
        return self._votes(tally, self._prior_at(tally, stage(n_labelled(tally))))

    def _prior_at(self, tally: Mapping[str, int], stage: int) -> Belief:
        """Where the belief of a stage begins: fitted to what votes on its early claims come to."""
        early = until(tally, fitted_at(stage))
        if not early and (self.begun is None or not self.begun.is_sample):
            return self.first
        if is_plain(early, self.rules):
            plain = count(early, self.meaning, self.pool.n_cells).all
            return self._fitted(self.first, self._with_sample(plain))
        voted = self._votes(early, self.first).counts.all
        return self._fitted(self.first, self._with_sample(voted))

    def _in_doubt(self, tally: Mapping[str, int], prior: Belief) -> Belief:
        found = self._votes(tally, prior)
        if self.begun is None:
            return with_variants(retallied(prior, found.counts.all), found.drawn)
        drawn = tuple(counts + self.begun.all for counts in found.drawn)
        return with_variants(retallied(prior, found.counts.all + self.begun.all), drawn)

    def _counts(self, tally: Mapping[str, int], before: int | None = None) -> Counts:
        """The tally as numbers, with the labels that were there before it."""
        n_counted = self.pool.n_cells
        if self.several is not None:
            n_counted = self.several.models.layout.size.size
        counts = count(tally, self.meaning, n_counted, before)
        if self.begun is None:
            return counts
        early = self._with_sample(counts.early)
        return Counts(counts.all + self.begun.all, early, counts.stage)

    def _with_sample(self, early: Ints) -> Ints:
        return early if self.begun is None else early + self.begun.early

    def _votes(self, tally: Mapping[str, int], prior: Belief) -> Resolved:
        key = (
            *(self.pool.hash, self.plan.seed, self.rules, self.plan.question),
            *(prior.alpha.tobytes(), prior.beta.tobytes(), prior.node.tobytes()),
            frozenset(tally.items()),
        )
        found: Resolved | None = _resolved.get(key)
        if found is None:
            found = resolve(tally, self.meaning, prior, self.rules, self.plan.seed)
            n_floats = sum(counts.size for counts in found.drawn) + 20 * len(tally)
            _resolved.put(key, found, n_floats + prior.alpha.size)
        return found

    def _fitted(self, belief: Belief, early: Ints) -> Belief:
        fit = fitted if self.pool.since is None else continuing.fitted
        return fit(belief, early, self.plan, self.pool, self.meaning)


def _numbered(seed: int, stream: int, number: int) -> np.random.Generator:
    """The random numbers of one choice; seed and stream are the key, the number is counted in.

    Philox needs no mixing of its seed, which takes as long as some strategies do. One of a key is
    kept and set back: use up what came before asking again, in the same thread.
    """
    rng, start = _philox(seed, stream, get_ident())
    start["state"]["counter"][3] = number
    rng.bit_generator.state = start
    return rng


@lru_cache(maxsize=64)
def _philox(seed: int, stream: int, thread: int) -> tuple[np.random.Generator, dict[str, Any]]:
    philox = np.random.Philox(key=[seed, stream], counter=[0, 0, 0, 0])
    return np.random.Generator(philox), dict(philox.state)


def _finding(verdict: Verdict) -> tuple[frozenset[int], tuple[str, ...]]:
    return frozenset(verdict.chosen), tuple(pair.region for pair in verdict.pairs)
