"""What the votes of several annotators say of the items, and of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.assessment import Assessment
from worker.assessment.ratings import answers
from worker.assessment.resolving import Resolved
from worker.core.crowd.agreement import agreement as krippendorff
from worker.core.crowd.quality import confusion_interval
from worker.findings.evidence import rounded
from worker.report.contents_people import Agreement, Confusions, Disputed, Mistake, OwnConfusion
from worker.store.records import Record
from worker.store.rules import votes_of
from worker.store.tally import tally_key

MOST_COUNTS = 2_000_000  # items x classes that are resampled: it takes seconds
MOST_DISPUTED = 20
MOST_MISTAKES = 10
MOST_CLASSES = 12  # of a matrix that a person can read
_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class GoldVotes:
    """One person's votes on gold items, and how many of them named the known class."""

    n: int
    right: int


def inferred(work: Assessment, tally: Mapping[str, int]) -> Resolved | None:
    """Classes and annotators, if the rule infers them and there are votes."""
    return work.votes(tally) if work.rules.kind == "dawid-skene" else None


def agreement(work: Assessment, records: Sequence[Record]) -> Agreement | None:
    """How far the votes on the pool's items agree beyond chance; None if no item has two.

    Gold items are left out: somebody picked them, and mostly for being easy or hard.
    """
    shared = [votes for r in records if len(votes := _in_pool(r)) > 1]
    if not shared:
        return None
    # The pool's classes are in any order, ratings ascend; what is no class of it comes last.
    said = {label for votes in shared for label in votes.values()}
    known = [name for name in answers(work.plan, work.pool.classes)[0] if name in said]
    index = {name: k for k, name in enumerate((*known, *sorted(said.difference(known))))}
    counts: NDArray[np.int64] = np.zeros((len(shared), len(index)), dtype=np.int64)
    for row, votes in zip(counts, shared, strict=True):
        for label in votes.values():
            row[index[label]] += 1
    asked = work.plan.evaluate
    level: Literal["nominal", "ordinal"] = "ordinal" if asked and asked.scale else "nominal"
    is_small = counts.size <= MOST_COUNTS
    found = krippendorff(counts, level, n_resamples=1000 if is_small else 1, seed=work.plan.seed)
    alpha, low, high = map(rounded, (found.alpha, found.low, found.high))
    if not is_small:
        low = high = None
    return Agreement(alpha, low, high, found.n_items, int(counts.sum()), level)


def disputed(
    work: Assessment, records: Sequence[Record], found: Resolved | None
) -> tuple[Disputed, ...]:
    """The items of the pool on which votes differ the most, by the entropy of their votes.

    Where classes are inferred, the less sure class comes first among items with like votes.

    Args:
        found: what the votes come to, if the rule infers it.
    """
    pool, rows = work.pool, []
    for record in records:
        counts = Counter(_in_pool(record).values())
        if len(counts) < 2:
            continue
        votes = dict(sorted(counts.items(), key=lambda count: (-count[1], count[0])))
        share = np.array(list(votes.values())) / counts.total()
        entropy = round(float(special.entr(share).sum()), 9)
        likeliest, sure = None, None
        if found is not None and found.crowd is not None and record.outcome is not None:
            key = tally_key(record.claim, record.cell, record.predicted, record.outcome)
            likeliest = pool.classes[found.likeliest[key]]
            sure = round(float(found.sure[key]), 6)
        group = pool.group_names[int(pool.cell_group[record.cell])]
        order = (-entropy, sure or 0.0, record.claim)
        rows.append((order, Disputed(record.item, group, votes, likeliest, sure)))
    rows.sort(key=lambda row: row[0])
    return tuple(row[1] for row in rows[:MOST_DISPUTED])


def gold_votes(work: Assessment, records: Sequence[Record]) -> dict[int, GoldVotes] | None:
    """What each person said of gold items; None if the plan has none."""
    if work.plan.annotation.gold is None:
        return None
    n, right = Counter[int](), Counter[int]()
    for record in records:
        if record.cell >= 0:
            continue
        for author, label in votes_of(record.judgements()).items():
            n[author] += 1
            right[author] += label == work.pool.classes[record.predicted]
    return {author: GoldVotes(n[author], right[author]) for author in n}


def qualities(
    gold: Mapping[int, GoldVotes] | None, found: Resolved | None
) -> dict[int, tuple[float, float, float]]:
    """Each person's chance to be right, where it is known: mean, and equal-tailed 95% interval.

    Where classes are inferred, the posterior from all votes; else Beta(1/2 + right, 1/2 + wrong) of
    the votes on gold items, for those who gave some.
    """
    if found is not None and found.crowd is not None:
        drawn = found.crowd.quality
        ends = np.quantile(drawn, [_TAIL, 1 - _TAIL], axis=0)
        table = np.stack([drawn.mean(axis=0), *ends], axis=1).round(6).tolist()
        return {int(who): (m, a, b) for who, (m, a, b) in zip(found.annotators, table, strict=True)}
    known = {}
    for author, votes in (gold or {}).items():
        a, b = votes.right + 0.5, votes.n - votes.right + 0.5
        low, high = (float(special.betaincinv(a, b, at)) for at in (_TAIL, 1 - _TAIL))
        known[author] = (round(a / (a + b), 6), round(low, 6), round(high, 6))
    return known


def confusions(
    work: Assessment, people: Mapping[int, str], found: Resolved | None
) -> Confusions | None:
    """Whom the rule `dawid-skene` takes for what; None under other rules.

    Args:
        people: author -> name, in the order of their first answers.
    """
    if found is None or found.crowd is None:
        return None
    crowd, classes = found.crowd, work.pool.classes
    low, high = confusion_interval(crowd)
    is_small = len(classes) <= MOST_CLASSES
    share = crowd.probability.mean(axis=0)[:, None]  # of each class among these items
    place = {int(who): a for a, who in enumerate(found.annotators)}
    told = []
    for author, name in people.items():
        if author not in place:
            continue
        a = place[author]
        mean, sd = crowd.confusion[a], crowd.confusion_sd[a]
        often = share * mean
        np.fill_diagonal(often, -1.0)
        n = min(MOST_MISTAKES, often.size - len(classes))
        order = np.argsort(-often, axis=None, kind="stable")[:n]
        mistakes = tuple(
            Mistake(
                classes[true],
                classes[given],
                *(round(float(m[true, given]), 6) for m in (mean, low[a], high[a])),
            )
            for true, given in zip(*np.unravel_index(order, mean.shape), strict=True)
        )
        matrices = (_rows(mean), _rows(sd)) if is_small else ((), ())
        told.append(OwnConfusion(name, *matrices, mistakes))
    return Confusions(classes if is_small else (), tuple(told))


def _in_pool(record: Record) -> dict[int, str]:
    """Author -> class, of an item of the pool; empty of a gold item."""
    return votes_of(record.judgements()) if record.cell >= 0 else {}


def _rows(matrix: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.round(6).tolist())
