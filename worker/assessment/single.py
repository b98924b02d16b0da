"""The usual kind: every label is one class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from worker.assessment.kind import Ints, OneModel
from worker.assessment.outcomes import Begun, Counts, Outcomes, count
from worker.assessment.pairing import Pairing
from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_counts, with_tally
from worker.plan import Plan
from worker.pool import Pool

Fitting = Callable[[Belief, Ints, Plan, Pool, Outcomes], Belief]


@dataclass(frozen=True, slots=True, eq=False)
class Single(OneModel):
    """Labels of which nothing is in doubt.

    begun: labels that were there before the first one. fitting: fits the prior to outcomes (C, L):
        that of an assessment by itself (`believing`), or one that goes on (`continuing`).
    pairing: of outputs of the same prompts; None where none is paired.
    """

    meaning: Outcomes
    begun: Begun
    fitting: Fitting
    pairing: Pairing | None = None
    # The last belief and the early claims that its prior was fitted to: the next one differs in a
    # few groups. It is the same as one that is made anew.
    _last: dict[bytes, Belief] = field(default_factory=dict, repr=False)
    # Those at the points of the schedule before, by their tallies: of many groups each takes a
    # second, and every turn that waits for a finding to be confirmed asks for the same ones.
    _past: dict[bytes, Belief] = field(default_factory=dict, repr=False)

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        counts = self._counts(tally)
        is_fitted = bool(counts.early.any())
        early = counts.early.tobytes() if is_fitted else b""
        before = self._last.get(early)
        if before is None:
            before = self.fitted(self.first, counts.early) if is_fitted else self.first
        belief = with_counts(before, counts.all)
        if self.pairing is not None:
            belief = self.pairing.outputs.joined(belief, self.pairing.outcome(tally))
        self._last.clear()
        self._last[early] = belief
        return belief

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        counts = self._counts(tally, before=stage)
        key, pairs = counts.all.tobytes(), None
        if self.pairing is not None:  # the same counts may be of other pairs
            pairs = self.pairing.outcome(tally, before=stage)
            key += pairs.tobytes()
        found = self._past.get(key)
        if found is None:
            found = self.fitted(with_tally(self.first, counts.all), counts.early)
            if self.pairing is not None and pairs is not None:
                found = self.pairing.outputs.joined(found, pairs)
            self._past[key] = found
            for old in list(self._past)[: -max(1, self.plan.stop.looks - 1)]:
                self._past.pop(old, None)
        return found

    def refitted(self, belief: Belief) -> Belief:
        kinds = belief.wrong[:, None] if belief.errors is None else belief.errors.counts
        counts: Ints = np.concatenate([belief.right[:, None], kinds], axis=1)
        return self.fitted(belief, counts - self.begun.untold)

    def fitted(self, belief: Belief, early: Ints) -> Belief:
        """The belief with its prior fitted to outcomes (C, 1 + L)."""
        return self.fitting(belief, early, self.plan, self.pool, self.meaning)

    def _counts(self, tally: Mapping[str, int], before: int | None = None) -> Counts:
        """The tally as numbers, with the labels that were there before it."""
        counts = count(tally, self.meaning, self.pool.n_cells, before)
        begun = self.begun
        return Counts(counts.all + begun.all, counts.early + begun.early, counts.stage)
