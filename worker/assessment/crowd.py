"""Items with several annotators: where their votes contradict each other, their label is in doubt.

How votes come to outcomes says `resolving`; as long as none does contradict, all is as of `single`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from worker.assessment.kind import OneModel
from worker.assessment.outcomes import count, n_labelled
from worker.assessment.resolving import Resolved, is_plain, resolve, until
from worker.assessment.single import Single
from worker.core.posterior.belief import Belief
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_counts
from worker.core.posterior.mixing import with_variants
from worker.core.stopping.schedule import fitted_at, stage
from worker.store.rules import Rules

# What votes came to: an inference takes some tenths of a second, and a turn looks three times.
_resolved = BoundedCache(1 << 23)


@dataclass(frozen=True, slots=True, eq=False)
class Crowd(OneModel):
    """Labels that are votes; `plain`: of the same plan and pool, for tallies without a doubt."""

    plain: Single
    rules: Rules

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        if is_plain(tally, self.rules):
            return self.plain.believe(tally, seed)
        return self._in_doubt(tally, stage(n_labelled(tally)), seed)

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        known = until(tally, stage)
        if is_plain(known, self.rules):
            return self.plain.believed_at(tally, stage, seed)
        return self._in_doubt(known, stage, seed)

    def votes(self, tally: Mapping[str, int], seed: int) -> Resolved | None:
        if is_plain(tally, self.rules):
            return None
        return self._votes(tally, self._prior_at(tally, stage(n_labelled(tally)), seed), seed)

    def refitted(self, belief: Belief) -> Belief:
        return self.plain.refitted(belief)

    def _in_doubt(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        prior = self._prior_at(tally, stage, seed)
        found, begun = self._votes(tally, prior, seed), self.plain.begun.all
        drawn = tuple(counts + begun for counts in found.drawn)
        return with_variants(with_counts(prior, found.counts.all + begun), drawn)

    def _prior_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        """Where the belief of a stage begins: fitted to what votes on its early claims come to."""
        begun, early = self.plain.begun, until(tally, fitted_at(stage))
        if not early and not begun.is_sample:
            return self.first
        if is_plain(early, self.rules):
            outcomes = count(early, self.plain.meaning, self.pool.n_cells).all
        else:
            outcomes = self._votes(early, self.first, seed).counts.all
        return self.plain.fitted(self.first, outcomes + begun.early)

    def _votes(self, tally: Mapping[str, int], prior: Belief, seed: int) -> Resolved:
        key = (
            *(self.pool.hash, seed, self.rules, self.plan.question, self.plain.meaning.n_kinds),
            *(prior.alpha.tobytes(), prior.beta.tobytes(), prior.mixture.tobytes()),
            frozenset(tally.items()),
        )
        found: Resolved | None = _resolved.get(key)
        if found is None:
            found = resolve(tally, self.plain.meaning, prior, self.rules, seed)
            n_floats = sum(counts.size for counts in found.drawn) + 20 * len(tally)
            _resolved.put(key, found, n_floats + prior.alpha.size)
        return found
