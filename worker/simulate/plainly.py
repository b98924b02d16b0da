"""The papers' Thompson sampling without a belief for every label: the same choices, sooner.

Where every group is one cell with one Beta, a run needs no more than the counts. What is drawn, and
how, is the core's (`worker.core.posterior.drawing`, `worker.core.strategies`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.drawing import draw_betas
from worker.core.posterior.supposing import counted
from worker.core.strategies import STRATEGIES
from worker.core.strategies.papers import thompson_group

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def is_plain(assessment: Assessment) -> bool:
    """Whether `plainly` can take the run."""
    b = assessment.first
    return (
        assessment.strategy is STRATEGIES["thompson"]
        and assessment.question.task == "identify"
        and assessment.plan.prior.kind != "empirical"
        and b.metric.kind == "accuracy"
        and b.node.size == 1
        and b.group.size == b.n_groups
        and bool((group_size(b) > 0).all())
    )


def plainly(
    assessment: Assessment, outcomes: Sequence[int]
) -> Iterator[tuple[int, Callable[[], Belief]]]:
    """Reveal one label after the other, as `replay.labels` does.

    Yields:
        Where the label's item stands among `outcomes`, and the belief after it, valid until the
        next label.
    """
    first, question = assessment.first, assessment.question
    last = first
    is_finite = first.population == "finite"
    ends = (assessment.pool.cell_start + assessment.pool.cell_size).tolist()
    counts = np.zeros((first.size.size, 2), dtype=np.int64)
    left = first.size.tolist()

    def believe() -> Belief:
        nonlocal last
        last = counted(last, counts[:, 0], counts[:, 1])
        return last

    cells, is_closed = _Cells(first, counts), False
    for claim in range(sum(left)):
        if is_closed:
            cells, is_closed = _Cells(first, counts), False
        rng = assessment.numbers_of(claim)
        rates = cells.rates(rng)
        right = cells.right + rng.binomial(cells.left, rates) if is_finite else cells.size * rates
        at = thompson_group(right / cells.size, question, cells.open, rng)
        group = cells.group[at]
        item = ends[group] - left[group]
        wrong = 1 if outcomes[item] else 0
        left[group] -= 1
        is_closed = not left[group]
        counts[group, wrong] += 1
        cells.take(at, wrong)
        yield item, believe


class _Cells:
    """The cells for which something is drawn: with the finite population those not all labelled.

    group: of each. size: items. left, right: items without a label, right answers. open: which of
    them have items left. shapes: the parameters of their Betas, one Beta after the other. n_flat:
    Betas that `draw_betas` does not know.
    """

    def __init__(self, first: Belief, counts: Ints) -> None:
        left = first.size - counts.sum(axis=1)
        drawn = np.flatnonzero(left) if first.population == "finite" else np.arange(left.size)
        self.group = drawn.tolist()
        self.size = first.size[drawn].astype(np.float64)
        self.left, self.right = left[drawn], counts[drawn, 0]
        self.open = np.flatnonzero(self.left)
        self.shapes = np.stack(
            [first.alpha[drawn, 0] + counts[drawn, 0], first.beta[drawn, 0] + counts[drawn, 1]],
            axis=1,
        ).ravel()
        self.n_flat = int(self._is_flat().sum())

    def rates(self, rng: np.random.Generator) -> Floats:
        """A drawn rate of right answers of each."""
        if self.n_flat:
            return rng.beta(self.shapes[::2], self.shapes[1::2])
        return draw_betas(self.shapes, rng)

    def take(self, at: int, wrong: int) -> None:
        """One more label."""
        self.left[at] -= 1
        self.right[at] += 1 - wrong
        self.shapes[2 * at + wrong] += 1
        if self.n_flat:
            self.n_flat = int(self._is_flat().sum())

    def _is_flat(self) -> Bools:
        are_flat: Bools = self.shapes.reshape(-1, 2).max(axis=1) <= 1
        return are_flat
