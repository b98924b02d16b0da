"""What is asked of the pool, and when it counts as answered."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

Task = Literal["identify", "compare", "estimate"]
Which = Literal["lowest", "highest"]
RuleKind = Literal["mrr", "rope", "rmse", "width"]

TASK_OF_RULE: dict[RuleKind, Task] = {
    "mrr": "identify",
    "rope": "compare",
    "rmse": "estimate",
    "width": "estimate",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about the groups' values, which the belief's metric defines.

    which, top, tolerance: for identify: the `top` lowest or highest groups; groups nearer to each
    other than `tolerance` (in the unit of the metric, >= 0) count as equal.
    shortlist: for identify: name so many groups, >= top, among which the `top` are; None: the `top`
    themselves.
    pairs, epsilon: for compare: pairs of group indices, none meaning all pairs of groups with
    items; values within `epsilon` (>= 0) of each other count as practically equal.

    Raises:
        ValueError: a field lies outside its range.
    """

    task: Task
    which: Which = "lowest"
    top: int = 1
    pairs: tuple[tuple[int, int], ...] = ()
    tolerance: float = 0.0
    epsilon: float = 0.05
    shortlist: int | None = None

    @property
    def n_named(self) -> int:
        """How many groups an answer names."""
        return self.top if self.shortlist is None else self.shortlist

    def __post_init__(self) -> None:
        _one_of("task", self.task, get_args(Task))
        _one_of("which", self.which, get_args(Which))
        if self.top < 1:
            raise ValueError(f"top is {self.top}; ask for at least one group.")
        if self.n_named < self.top:
            raise ValueError(
                f"shortlist is {self.shortlist}, expected at least top, which is {self.top}: the "
                "groups that are asked for must have room in it."
            )
        for name, width in (("tolerance", self.tolerance), ("epsilon", self.epsilon)):
            if not 0 <= width < np.inf:
                raise ValueError(
                    f"{name} is {width}, expected a difference of values >= 0, such as 0.05."
                )
        for first, second in self.pairs:
            if first == second:
                raise ValueError(
                    f"the pair ({first}, {second}) compares a group with itself; name two groups."
                )


@dataclass(frozen=True, slots=True)
class StopRule:
    """When to stop asking.

    kind, target, confidence:
        mrr    P(mean reciprocal rank >= target) >= confidence, target in (0, 1]
        rope   every pair lies in one region with probability >= confidence; target is epsilon
        rmse   the expected root mean squared error is <= target
        width  the widest 95% interval of a group is <= target
    budget: stop, answered or not, at so many labelled items; None: no limit.
    min_per_group: labels that every group in question must have before the rule may hold; all of
        its items if it has fewer.

    Raises:
        ValueError: a field lies outside its range.
    """

    kind: RuleKind
    target: float
    confidence: float | None = None
    budget: int | None = None
    min_per_group: int = 0

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, get_args(RuleKind))
        highest = 1.0 if self.kind == "mrr" else np.inf  # costs are of any size
        if not (self.kind == "rope" and self.target == 0) and not 0 < self.target <= highest:
            raise ValueError(
                f"the target of {self.kind} is {self.target}, expected a number "
                + {"mrr": "in (0, 1].", "rope": ">= 0."}.get(self.kind, "> 0.")
            )
        if self.kind in ("mrr", "rope"):
            if self.confidence is None or not 0 < self.confidence <= 1:
                raise ValueError(
                    f"{self.kind} needs a confidence in (0, 1], such as 0.95, "
                    f"but got {self.confidence}."
                )
        elif self.confidence is not None:
            raise ValueError(
                f"{self.kind} takes no confidence, but got {self.confidence}; leave it out."
            )
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"the budget is {self.budget} labels; allow one, or set no budget.")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}.")
