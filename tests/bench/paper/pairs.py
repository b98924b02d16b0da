"""Assay's labels until a comparison of two groups is decided, as Table 7's "decided" counts them.

Every pair is an assessment of its own: the prior is fitted to the labels of that pair alone.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.cases import core, of_run, opened, order_of, prepared, spread
from tests.bench.paper.comparing import DECIDED
from tests.bench.paper.data import Pool, by_superclass, load, superclass_of_class
from worker.core.questions.comparison import region
from worker.core.questions.question import Question
from worker.simulate.cases import Asked, Case
from worker.simulate.findings import true_region
from worker.simulate.replay import labels
from worker.simulate.truths import true_values

_REGIONS = ("below", "within", "above")


def compared(pool: str, n_runs: int) -> Value:
    """Mean labels a pair, over all pairs of the pool and `n_runs` runs of each."""
    return remembered(compare, core(), pool=pool, n_runs=n_runs)


def compare(pool: str, n_runs: int) -> Value:
    """Labels of every pair until lambda >= .95 for the region of the pool's true difference.

    No pair is missed: with both groups labelled, lambda is 1.
    """
    with prepared(_items(pool), {"task": "compare", "compare": "all"}, Asked("truth")) as case:
        n_groups = len(opened(case)[0].pool.group_names)
        sizes = opened(case)[0].pool.group_size
        every = [p for p in combinations(range(n_groups), 2) if sizes[list(p)].all()]
        orders = [(case, pair, number) for pair in every for number in range(n_runs)]
        found = np.array(spread(_labels_needed, orders)).reshape(len(every), n_runs)
    return {
        "pairs": len(every),
        "labels": float(found.mean()),
        "labels_of_runs": found.mean(axis=0).tolist(),
        "labels_median": float(np.median(found)),
    }


def _items(name: str) -> Pool:
    """The items in the groups of Table 7: CIFAR-100's superclasses are its classes there."""
    pool = load(name)
    if name != "cifar100-wrn":
        return pool
    assert pool.probs is not None
    groups, above = by_superclass(pool), superclass_of_class()
    summed = np.stack([pool.probs[:, above == s].sum(axis=1) for s in range(20)], axis=1)
    at = np.arange(groups.of.size), groups.of
    return Pool(
        "cifar100-superclass", 20, groups.of, summed[at].astype(float), above[pool.label], None
    )


def _labels_needed(order: tuple[Case, tuple[int, int], int]) -> int:
    case, pair, number = order
    assessment, outcome = opened(case)
    epsilon = assessment.question.epsilon
    question = Question("compare", pairs=(pair,), epsilon=epsilon)
    assessment = replace(of_run(assessment, case, number), question=question)
    truth = true_values(assessment, outcome)
    region_of_truth = _REGIONS.index(true_region(truth[pair[0]] - truth[pair[1]], epsilon))
    revealed = labels(assessment, outcome, order_of(assessment))
    beliefs = enumerate((belief for _, belief in revealed), start=1)
    return next(n for n, b in beliefs if region(b, *pair, epsilon)[region_of_truth] >= DECIDED)
