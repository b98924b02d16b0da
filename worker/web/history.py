"""What the charts show of the time before now: worked out once, a little at every look.

Where the question stood at a point of the schedule follows from the labels of the first claims, so
that a label that comes later leaves it as it is. A page that is looked at never waits for all of
it: what is missing comes with the next looks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from worker.assessment import Assessment
from worker.assessment.outcomes import n_labelled
from worker.core.posterior.belief import group_labelled
from worker.core.stopping.schedule import stage
from worker.findings.evidence import groups
from worker.report.contents_progress import Point
from worker.report.people import label_times
from worker.report.progress import point_at, stages_told
from worker.store import Ledger, State
from worker.store.records import load
from worker.store.tally import read_tally_key

# A look begins no further point after so long: one takes some 20 to 200 ms.
LOOK_S = 0.2
HOURS = 24
HOUR_US = 3_600_000_000
# Of the log at the first look, so that a large one is not read whole; a day has fewer.
_MOST_CHANGES = 10_000


@dataclass(frozen=True, slots=True)
class Then:
    """The intervals of the groups at about half of the labels, by their names."""

    stage: int
    labels: int
    ends: Mapping[str, tuple[float, float]]


@dataclass(slots=True)
class History:
    """What is known so far of one assessment's time before now."""

    then: Then | None = None
    steps: int = 0  # differs after every change
    _points: dict[int, Point | None] = field(default_factory=dict)
    _tally: Mapping[str, int] = field(default_factory=dict)
    _given: dict[str, int] = field(default_factory=dict)
    _revision: int | None = None

    def points(self, labels: int) -> list[Point]:
        """Where it stood at fewer than so many labels, ascending."""
        known = (point for _, point in sorted(self._points.items()) if point is not None)
        by_labels = {point.labels: point for point in known if point.labels < labels}
        return [by_labels[n] for n in sorted(by_labels)]

    def per_hour(self, now: float) -> list[int]:
        """How many labels were given in each of the last 24 hours of the clock, this one last."""
        last = int(now) // 3600
        counts = [0] * HOURS
        for at_us in self._given.values():
            ago = last - at_us // HOUR_US
            if -1 <= ago < HOURS:  # Label Studio's clock may be a little ahead
                counts[-1 - max(0, ago)] += 1
        return counts

    def follow(self, work: Assessment, ledger: Ledger, state: State) -> None:
        """Read what is new, and work out some of what is missing."""
        until = time.monotonic() + LOOK_S
        self._read_times(ledger, state.revision)
        self._forget_from(_first_change(self._tally, state.tally))
        self._tally = state.tally
        for k in reversed(stages_told(work, state.tally)):
            if k not in self._points:
                self._points[k] = point_at(work, state.tally, k)
                self.steps += 1
                if time.monotonic() > until:
                    return
        half = stage(n_labelled(state.tally) // 2)
        if half and (self.then is None or self.then.stage != half):
            self.then = _then(work, state.tally, half)
            self.steps += 1

    def _read_times(self, ledger: Ledger, revision: int) -> None:
        if revision == self._revision:
            return
        known = self._revision
        if known is None or revision < known:  # the first look, or an older state was brought back
            self._given.clear()
            known = max(0, revision - _MOST_CHANGES)
        changed = list({change["item"] for change in ledger.changes(known)})
        for item in changed:
            self._given.pop(item, None)
        for item, text in ledger.records(changed).items():
            for at_us in label_times([load(text)]):
                self._given[item] = at_us
        self._revision = revision
        self.steps += 1

    def _forget_from(self, epoch: int | None) -> None:
        """Forget what rests on labels of claims from this epoch on; None: nothing changed."""
        if epoch is None:
            return
        for k in [k for k in self._points if k > epoch]:
            del self._points[k]
        if self.then is not None and self.then.stage > epoch:
            self.then = None


def _first_change(before: Mapping[str, int], now: Mapping[str, int]) -> int | None:
    """The lowest epoch of claims whose labels changed."""
    changed = before.items() ^ now.items()
    return min((read_tally_key(key).epoch for key, _ in changed), default=None)


def _then(work: Assessment, tally: Mapping[str, int], at: int) -> Then:
    belief = work.believed_at(tally, at)
    rows = groups(work, belief)
    ends = {row["group"]: (row["low"], row["high"]) for row in rows if row["size"]}
    return Then(at, int(group_labelled(belief).sum()), ends)
