"""What a look at the stop rule gives: stop or go on, why, and what is then reported."""

from dataclasses import dataclass
from typing import Literal

from worker.core.stopping.pairs import PairVerdicts

Reason = Literal["answered", "budget", "exhausted", "open"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to stop and why, with what is reported if so.

    certain: all items of the groups in question are labelled, without a doubt about the labels
        (never for the infinite population).
    confidence: posterior probability that the report is right; compare: of its least certain pair;
        of several models' groups: of the least certain model; estimate, and where a bound sufficed:
        None.
    value: estimate: the expected RMSE, or the width of the widest interval (of the groups' weighted
        sum, if that is asked); compare: as `confidence`; else None.
    ranking, chosen: identify: all groups with items, the most extreme first; the reported set.
    pairs: compare: every pair asked for.
    labels: labelled items.
    least: of several models' groups: the least certain model.
    """

    stop: bool
    reason: Reason
    certain: bool
    confidence: float | None
    value: float | None
    ranking: tuple[int, ...]
    chosen: tuple[int, ...]
    pairs: PairVerdicts
    labels: int
    least: int = 0
