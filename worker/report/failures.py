"""How frequent each kind of failure is in the whole pool, where people judge outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from worker.assessment import Assessment
from worker.assessment.opening import kind_of
from worker.core.posterior.belief import group_share, group_size
from worker.core.posterior.drawing import N_DRAWS, draw_entries
from worker.core.posterior.metrics import Metric
from worker.metrics.kind import whatever_predicted
from worker.report.contents_people import Failure


def failures_of(work: Assessment, tally: Mapping[str, int]) -> tuple[Failure, ...]:
    """A row for each wrong choice; none without a verdict, and where an assessment is continued.

    The belief of the assessment with the kinds of errors counted, as in a confusion matrix, whose
    draws of all groups are summed up. Of a kind that was never seen the interval begins at 0.
    """
    if work.plan.annotation.verdict is None or work.pool.since is not None:
        return ()
    n_kinds = len(work.pool.classes) - 1
    of_label = np.append(np.arange(n_kinds + 1) - 1, 0)
    meaning = replace(
        work.meaning,
        kind=whatever_predicted(n_kinds + 1, of_label),
        n_kinds=n_kinds,
        metric=Metric("confusion"),
        share=None,
        n_classes=np.ones((work.pool.n_cells, n_kinds), dtype=np.int64),
        has_entries=True,
    )
    belief = kind_of(work.plan, work.pool, meaning).believe(tally, work.plan.seed)
    filled = np.flatnonzero(group_size(belief))
    drawn = draw_entries(belief, np.random.default_rng(N_DRAWS), N_DRAWS)[:, filled, 1:]
    share = np.einsum("ngl,g->nl", drawn, group_share(belief)[filled])
    low, high = np.quantile(share, [0.025, 0.975], axis=0)
    counts = [of.errors.counts.sum(axis=0) for of in belief.variants or (belief,) if of.errors]
    seen = np.rint(np.mean(counts, axis=0)).astype(int).tolist()
    rows = zip(work.pool.classes[1:], seen, share.mean(axis=0), low, high, strict=True)
    return tuple(
        Failure(name, n, *(round(float(x), 6) for x in (mean, low if n else 0.0, high)))
        for name, n, mean, low, high in rows
    )
