"""What is measured in a run: the stop, the ranking's and the estimates' errors on the way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_share
from worker.core.posterior.marginals import SLACK
from worker.core.questions.question import Question
from worker.core.questions.ranking import ranking
from worker.core.questions.reciprocal_rank import mrr
from worker.core.stopping.refuting import is_far_from_holding
from worker.core.stopping.schedule import is_look, n_looks_before, stage
from worker.core.stopping.verdict import Reason, Verdict
from worker.metrics import METRICS
from worker.simulate.against_truth import held
from worker.simulate.findings import is_right, pooled_error, rms_error
from worker.simulate.found import Found
from worker.simulate.schedule import log_steps, looks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured in every run.

    until: labels after which a run ends, >= 1.
    at: label counts at which the groups' errors are measured, ascending, in 1..until.
    only_stop: end at the stop, and measure nothing else.
    """

    until: int
    at: tuple[int, ...] = ()
    only_stop: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """The stop rule's first yes.

    is_conclusive: the rule holds or all is labelled; else the budget or the items ran out.
    is_right: what was found is true of the pool. confidence: the probability that it was said to
        have; None for an estimate.
    """

    labels: int
    reason: Reason
    is_conclusive: bool
    is_right: bool
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Run:
    """What one run measured.

    mrr: at `log_steps`, of the groups ranked by posterior mean; none but for identify.
    rmse: at `Measures.at`: sqrt(sum_g p_g (mean_g - truth_g)^2), of a confusion matrix summed over
        its entries.
    pooled: at `Measures.at`: how far what is said of the whole pool is from its value `whole`; none
        where there is no such value (confusion, tpr, several models).
    held: at `Measures.at` and at the stop (labels 0), of everything that is published: labels,
        what it is (`worker.simulate.against_truth`), how probable it was said to be (summed), how
        much of it came true, and of how many.
    """

    number: int
    labels: int
    mrr: tuple[float, ...]
    rmse: tuple[float, ...]
    pooled: tuple[float, ...]
    stop: Stop | None
    cpu_s: float
    held: tuple[tuple[int, str, float, int, int], ...] = ()
    whole: float | None = None


def as_run(values: dict[str, Any]) -> Run:
    """A run from its JSON (`dataclasses.asdict` makes it)."""
    stop = values["stop"]
    curves = {name: tuple(values[name]) for name in ("mrr", "rmse", "pooled")}
    held = tuple(map(tuple, values["held"]))
    made = {"stop": Stop(**stop) if stop is not None else None, "held": held}
    return Run(**(values | curves | made))


def only_set(truth: Floats, question: Question) -> NDArray[np.bool_] | None:
    """(G,) the groups looked for, if only one set of them is right; its ranks are soon found."""
    values = truth if question.which == "lowest" else -truth
    if question.task != "identify" or question.tolerance or question.top >= truth.size:
        return None
    ordered = np.sort(values)  # groups without items come last
    last, next_one = ordered[question.top - 1 : question.top + 1]
    if next_one - last <= SLACK:
        return None
    members: NDArray[np.bool_] = values <= last
    return members


class Log:
    """Writes down what a run measures, at the labels where there is something to measure."""

    def __init__(
        self,
        assessment: Assessment,
        truth: Floats,
        measures: Measures,
        right: Ints | None = None,
    ) -> None:
        self.assessment, self.truth, self.measures = assessment, truth, measures
        self.right = right  # as of `Found`
        self.question = assessment.question
        self.n_helpful = assessment.n_helpful(assessment.pool.cell_size)  # others get no label
        self.stop: Stop | None = None
        self.n = 0
        self.mrr: list[float] = []
        self.rmse: list[float] = []
        self.pooled: list[float] = []
        self.held: list[tuple[int, str, float, int, int]] = []
        self.belief = assessment.first
        is_alone = assessment.several is None  # several models have a ranking each
        self.members = only_set(truth, self.question) if is_alone else None
        # what was believed at the points of the schedule, latest first
        self.earlier: deque[Belief] = deque(maxlen=assessment.plan.stop.looks)
        is_ranked = self.question.task == "identify" and is_alone and not measures.only_stop
        self.steps = iter(log_steps(measures.until) if is_ranked else ())
        self.at = iter(() if measures.only_stop else measures.at)
        self.looks = looks(measures.until, assessment.rule.budget)
        self.next_step, self.next_at = next(self.steps, 0), next(self.at, 0)
        self.next_look = next(self.looks, 0)

    @property
    def is_full(self) -> bool:
        """Nothing is left to measure."""
        return self.n >= self.measures.until or (self.measures.only_stop and self.stop is not None)

    def take(self, n: int, belief: Belief) -> None:
        """Note the n-th label, and the belief after it."""
        if is_look(self.n):
            self.earlier.appendleft(self.belief)
        self.n, self.belief = n, belief
        if n == self.next_look:
            self._look()
            self.next_look = 0 if self.stop is not None else next(self.looks, 0)
        if n == self.next_step:
            self._rank()
            self.next_step = next(self.steps, 0)
        if n == self.next_at:
            self._estimate()
            self.next_at = next(self.at, 0)

    def run(self, number: int, cpu_s: float) -> Run:
        """What was measured; once no label helps any more, nothing changes."""
        if self.stop is None and self.n < self.measures.until:
            self._look()
        for following, measure in ((self.next_step, self._rank), (self.next_at, self._estimate)):
            if following:
                measure()
        for measured, wanted in (
            (self.mrr, len(log_steps(self.measures.until)) if self.mrr else 0),
            (self.rmse, len(self.measures.at) if self.rmse else 0),
            (self.pooled, len(self.measures.at) if self.pooled else 0),
        ):
            measured += measured[-1:] * (wanted - len(measured))
        return Run(
            number,
            self.n,
            tuple(self.mrr),
            tuple(self.rmse),
            tuple(self.pooled),
            self.stop,
            cpu_s,
            tuple(self.held),
            self._whole() if self.pooled else None,
        )

    def _look(self) -> None:
        left, budget = self.n_helpful - self.n, self.assessment.rule.budget
        may_end = left == 0 or (budget is not None and self.n >= budget)
        # with a confidence sequence the posterior does not decide
        may_end |= self.assessment.confidence_sequence is not None
        rule, parts = self.assessment.rule, self.belief.parts or (self.belief,)
        if not may_end and any(is_far_from_holding(part, self.question, rule) for part in parts):
            return
        too_near = stage(self.n - 1) - n_looks_before(self.n)
        earlier = islice(self.earlier, too_near, None)
        verdict = self.assessment.decide(self.belief, left, earlier)
        if verdict.stop:
            self.stop = Stop(
                labels=self.n,
                reason=verdict.reason,
                is_conclusive=verdict.reason == "answered" or verdict.certain,
                is_right=is_right(self.assessment, verdict, self.belief, self.truth),
                confidence=verdict.confidence,
            )
            self._hold(0, self._found(left, verdict))

    def _found(self, left: int, verdict: Verdict | None = None) -> Found:
        return Found(self.assessment, self.belief, self.truth, left, verdict, self.right)

    def _hold(self, labels: int, found: Found) -> None:
        """Hold all that would be published against the truth, while there is any doubt."""
        if self.measures.only_stop or not found.left:
            return
        self.held += [
            (labels, name, float(of.said.sum()), int(of.came.sum()), int(of.came.size))
            for name, of in held(found).items()
        ]

    def _rank(self) -> None:
        q = self.question
        order = ranking(self.belief, q.which)
        if self.members is not None:
            ahead = np.flatnonzero(self.members[order]) - np.arange(q.top)
            self.mrr.append(float((1 / (1 + ahead)).mean()))
            return
        self.mrr.append(float(mrr(order, self.truth[None], q.top, q.which, q.tolerance)[0]))

    def _estimate(self) -> None:
        self.rmse.append(rms_error(self.belief, self.truth))
        left = self.n_helpful - self.n
        self._hold(self.next_at, self._found(left))
        work = self.assessment
        is_one = work.several is None and work.soft_labels is None and self.truth.ndim == 1
        is_one = is_one and work.best_model is None
        if is_one and METRICS[work.plan.question.metric].is_summed:
            self.pooled.append(pooled_error(self.belief, self._whole()))

    def _whole(self) -> float:
        """The whole pool's true value."""
        return float(np.nansum(group_share(self.belief) * self.truth))
