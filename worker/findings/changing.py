"""What the new labels say of the assessment before: groups that changed, and the kind of shift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.continuing import history, plausible_now, plausible_then
from worker.core.drift.change import Change, change
from worker.core.drift.history import believed_share
from worker.core.drift.shift import Cells, stories
from worker.core.posterior.belief import Belief, group_labelled, group_size
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.intervals import interval
from worker.core.posterior.mixing import likeliest
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import mean
from worker.findings.changing_words import sentences
from worker.findings.continuation import (
    Continuation,
    Shift,
    ThenAndNow,
    difference_of,
    rounded,
    three,
)
from worker.findings.evidence import overall, tells_overall
from worker.pool.since import Since
from worker.store.tally import read_tally_key

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_EPSILON = 0.05  # where the plan names no difference that matters
_LEAST_LABELS = 30  # of each assessment, to tell one kind of shift from another
# A turn, a status and a report ask for the same one, which takes some tenths of a second.
_kept = BoundedCache(1 << 20)


def continuation(work: Assessment, belief: Belief, tally: Mapping[str, int]) -> Continuation | None:
    """Set an assessment beside the one that it continues; None if it continues none."""
    since = work.pool.since
    if since is None:
        return None
    key = work.pool.hash, work.question, frozenset(tally.items())
    found: Continuation | None = _kept.get(key)
    if found is None:
        found = _worked_out(work, since, belief, tally)
        _kept.put(key, found, 40 * len(found.groups) + 10 * len(tally))
    return found


def _worked_out(
    work: Assessment, since: Since, belief: Belief, tally: Mapping[str, int]
) -> Continuation:
    told = changed_since(work, belief)
    groups = tuple(_groups(work, since, belief, told))
    pool = _whole(work, since, belief, told)
    changed = tuple(group.name for group in groups if group.is_changed)
    shift = _shift(work, tally)
    inputs = since.inputs
    return Continuation(
        assessment=since.assessment,
        text_then=since.text,
        metric_then=since.metric,
        labels=since.labels,
        left_out=dict(since.left_out),
        epsilon=epsilon_of(work),
        whole=pool,
        groups=groups,
        changed=changed,
        class_p=rounded(inputs.class_p),
        class_distance=inputs.class_distance,
        score_p=rounded(inputs.score_p),
        score_distance=inputs.score_distance,
        shift=shift,
        text=tuple(sentences(since, pool, changed, shift)),
    )


def changed_since(work: Assessment, belief: Belief) -> Change:
    """Hold the labels of a belief against those of the assessment before it.

    Of labels in doubt the likeliest ones are taken.
    """
    belief = likeliest(belief)
    kinds = belief.wrong[:, None] if belief.errors is None else belief.errors.counts
    counts: Ints = np.concatenate([belief.right[:, None], kinds], axis=1).astype(np.int64)
    before = history(work.pool, work.meaning).sum(axis=1)
    has_then = np.bincount(belief.group, before, belief.n_groups) > 0
    return change(
        plausible_then(work.plan, work.pool, work.meaning),
        plausible_now(counts, work.plan, work.pool, work.meaning),
        has_then,
        epsilon_of(work),
    )


def epsilon_of(work: Assessment) -> float:
    """A difference that matters: the plan's epsilon or tolerance, or .05 where it has none."""
    # a question of another task has an epsilon too, which is nobody's choice
    if work.question.task == "compare":
        return work.question.epsilon
    return work.question.tolerance or _EPSILON


def _groups(work: Assessment, since: Since, belief: Belief, told: Change) -> Iterator[ThenAndNow]:
    means, bounds, sizes = mean(belief), interval(belief), group_size(belief)
    labels, share = group_labelled(belief), believed_share(likeliest(belief))
    has_then = np.bincount(
        belief.group, history(work.pool, work.meaning).sum(axis=1), belief.n_groups
    )
    for g, name in enumerate(work.pool.group_names):
        then, is_told = since.then[g], not np.isnan(told.below[g])
        yield ThenAndNow(
            name=name,
            **three("then", None if then is None else (then.mean, then.low, then.high)),
            **three("now", (means[g], *bounds[g]) if sizes[g] else None),
            labels_then=int(has_then[g]),
            labels_now=int(labels[g]),
            share_then=None if then is None else then.share,
            **difference_of(told.difference[g] if is_told else None),
            p=rounded(told.adjusted[g]) if is_told else None,
            lower=rounded(told.below[g]) if is_told else None,
            about_equal=rounded(told.within[g]) if is_told else None,
            higher=rounded(told.above[g]) if is_told else None,
            believed=rounded(share[g]) if has_then[g] else None,
            is_changed=bool(told.changed[g]),
        )


def _whole(work: Assessment, since: Since, belief: Belief, told: Change) -> ThenAndNow:
    n = int((belief.right + belief.wrong).sum())
    is_told = n > 0 and tells_overall(work, belief)
    share, below, within, above = believed_share(likeliest(belief)), *told.whole
    weight = np.bincount(belief.group, belief.size, belief.n_groups)
    return ThenAndNow(
        name="whole pool",
        **three("then", since.overall),
        **three("now", overall(work, belief)),
        labels_then=since.labels,
        labels_now=n,
        share_then=None,
        **difference_of(told.whole_difference if is_told else None),
        p=rounded(told.whole_p) if is_told else None,
        lower=rounded(below) if is_told else None,
        about_equal=rounded(within) if is_told else None,
        higher=rounded(above) if is_told else None,
        believed=rounded(float(weight @ share / max(1.0, weight.sum()))),
        is_changed=is_told and told.whole_changed,
    )


def _shift(work: Assessment, tally: Mapping[str, int]) -> Shift:
    """Which story tells the new labels best, where the predicted classes are the groups."""
    pool = work.pool
    assert pool.since is not None, "asked of assessments that continue another"
    if pool.group_names != pool.classes:
        return _untold("the groups are not the predicted classes")
    if not pool.since.inputs.size_then:
        return _untold("the two pools do not have the same classes")
    if work.meaning.metric.pooled:
        return _untold("the pool is looked at as a whole")
    then, now = _by_class(work, pool.since.tally), _by_class(work, tally)
    if min(then.sum(), now.sum()) < _LEAST_LABELS:
        return _untold(f"it takes {_LEAST_LABELS} labels of either")
    before = plausible_then(work.plan, pool, work.meaning)[0]
    none = np.zeros_like(history(pool, work.meaning))
    plain = plausible_now(none, work.plan, pool, work.meaning)[0]
    known, fresh = _betas(before), _betas(plain)
    inputs = pool.since.inputs
    told = stories(
        Cells(
            pool.cell_group, *known, *fresh, then, now,
            np.array(inputs.size_then, dtype=np.int64), np.array(inputs.size_now, dtype=np.int64),
        )
    )  # fmt: skip
    logs = np.array([told.covariate, told.label, told.concept])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    first, second = np.sort(logs)[::-1][:2]
    times = float(np.exp(min(first - second, 700.0)))
    covariate, label, concept = (round(float(x), 6) for x in chance)
    return Shift(covariate, label, concept, round(times, 3), "")


def _untold(why: str) -> Shift:
    return Shift(None, None, None, None, why)


def _by_class(work: Assessment, tally: Mapping[str, int]) -> Ints:
    """(C, K) labels of each cell by true class; those of no class of the pool, or in doubt, not."""
    index = {name: k for k, name in enumerate(work.pool.classes)}
    table = np.zeros((work.pool.n_cells, len(index)), dtype=np.int64)
    for key, n in tally.items():
        of = read_tally_key(key)
        if of.cell >= 0 and of.label in index:
            table[of.cell, index[of.label]] += n
    return table


def _betas(b: Belief) -> tuple[Floats, Floats]:
    """(C,), (C,) Betas with the mean and the variance of each cell's rate over the components."""
    weight = moments(b).weight[b.group]
    total = b.alpha + b.beta
    rate = b.alpha / total
    centre = (weight * rate).sum(axis=1)
    spread = (weight * (rate * (1 - rate) / (total + 1) + (rate - centre[:, None]) ** 2)).sum(
        axis=1
    )
    strength = np.maximum(centre * (1 - centre) / spread - 1, 1e-3)
    return strength * centre, strength * (1 - centre)
