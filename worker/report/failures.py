"""How frequent each kind of failure is in the whole pool, where people judge outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.opening import kind_of
from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.drawing import N_DRAWS, draw
from worker.core.posterior.group_kinds import draw_group_kinds
from worker.core.posterior.metrics import Metric
from worker.metrics import METRICS
from worker.metrics.kind import whatever_predicted
from worker.report.contents_people import Failure

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def failures_of(work: Assessment, tally: Mapping[str, int]) -> tuple[Failure, ...]:
    """A row for each wrong choice; none without a verdict, and of a judge.

    From the belief of the assessment with the kinds of errors counted, as in a confusion matrix. Of
    a kind that was never seen the interval begins at 0. Where an assessment is continued, earlier
    labels tell how many outputs are wrong, as far as they still do, and not of which kind. None
    where outputs are paired: labels of one prompt go together, and as many of others tell more of
    all outputs.
    """
    asked_of_judge = METRICS[work.plan.question.metric].judge_says is not None
    if work.plan.annotation.verdict is None or asked_of_judge or work.pairing:
        return ()
    n_kinds = len(work.pool.classes) - 1
    of_label = np.append(np.arange(n_kinds + 1) - 1, 0)
    meaning = replace(
        work.meaning,
        kind=whatever_predicted(n_kinds + 1, of_label),
        n_kinds=n_kinds,
        metric=Metric("confusion"),
        share=np.ones((work.pool.n_cells, n_kinds)),
        n_classes=np.ones((work.pool.n_cells, n_kinds), dtype=np.int64),
        # an earlier assessment may have had kinds of failure that this one has not
        has_entries=work.pool.since is None,
    )
    belief = kind_of(work.plan, work.pool, meaning).believe(tally, work.plan.seed)
    variants = belief.variants or (belief,)
    rng, n_each = np.random.default_rng(N_DRAWS), -(-N_DRAWS // len(variants))
    every = [_drawn(one, n_kinds, rng, n_each) for one in variants]
    share = np.concatenate([drawn for drawn, _ in every])
    seen = np.rint(np.mean([of_kind for _, of_kind in every], axis=0)).astype(int).tolist()
    low, high = np.quantile(share, [0.025, 0.975], axis=0)
    rows = zip(work.pool.classes[1:], seen, share.mean(axis=0), low, high, strict=True)
    return tuple(
        Failure(name, n, *(round(float(x), 6) for x in (mean, low if n else 0.0, high)))
        for name, n, mean, low, high in rows
    )


def _drawn(belief: Belief, n_kinds: int, rng: np.random.Generator, n: int) -> tuple[Floats, Ints]:
    """(n, L) draws of each kind's share of the pool, and (L,) how many of each are labelled.

    Wrong answers are drawn as the belief has them. Which kind they are goes with the group, not
    with the stratum: cells of a group that are taken to differ by themselves average out, and the
    intervals of a pool whose groups fail in ways of their own hold too seldom.
    """
    assert belief.errors is not None, "its kinds are counted"
    filled = np.flatnonzero(group_size(belief))
    size = group_size(belief)[filled]
    seen: Ints = np.zeros((belief.n_groups, n_kinds), dtype=np.int64)
    np.add.at(seen, belief.group, belief.errors.counts)
    seen = seen[filled]
    kinds = draw_group_kinds(seen, rng, n)
    wrong = (1 - draw(belief, rng, n)[:, filled]) * size
    errors = wrong[:, :, None] * kinds
    if belief.population == "finite":
        rest = np.rint(wrong - seen.sum(axis=1)).astype(np.int64)
        errors = (rng.multinomial(rest, kinds) + seen).astype(np.float64)
    return errors.sum(axis=1) / size.sum(), seen.sum(axis=0)
