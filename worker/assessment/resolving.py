"""From tallies whose labels are in doubt to numbers: likeliest outcomes, and equally likely ones.

With one annotator an item its label is its outcome. Votes that contradict each other leave doubt:
a tie of the rule `majority` counts half for each class, and the rule `dawid-skene` infers classes,
annotators and classifier together (`worker.core.crowd`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Counts, Outcomes, counted
from worker.core.crowd.inference import Crowd, Rates, infer
from worker.core.crowd.votes import Votes
from worker.core.posterior.belief import Belief
from worker.store.rules import Rules, named_votes, tied
from worker.store.tally import read_tally_key

Ints = NDArray[np.int64]

_STREAM = 5  # of the plan's seed
_N_DRAWS = 128
_FEW_DRAWS = 32
_MANY_NUMBERS = 100_000  # cells x outcomes from which on fewer tallies are drawn


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What a tally in doubt comes to.

    counts: by the likeliest class of every item. drawn: (C, 1 + L) each, equally likely tallies.
    truth: (M, I) the classes behind these tallies, of all items of the tally; those of a key begin
        at its `column`.
    likeliest, sure: by the tally's keys, the index of the likeliest class and its probability.
    crowd: what is known of the annotators (`annotators` in the order of its indices), if they are
        inferred.
    """

    counts: Counts
    drawn: tuple[Ints, ...]
    truth: Ints
    column: Mapping[str, int]
    likeliest: Mapping[str, int]
    sure: Mapping[str, float]
    crowd: Crowd | None = None
    annotators: tuple[str, ...] = ()


def is_plain(tally: Mapping[str, int], rules: Rules) -> bool:
    """Whether every label in the tally is one class, so that nothing is in doubt."""
    if rules.kind == "majority":
        return all(len(tied(key)) == 1 for key in tally)
    return rules.kind == "first" or not tally


def until(tally: Mapping[str, int], stage: int) -> dict[str, int]:
    """The part of a tally that comes from the claims of the epochs below `stage`."""
    return {key: n for key, n in tally.items() if read_tally_key(key).epoch < stage}


def resolve(
    tally: Mapping[str, int], meaning: Outcomes, prior: Belief, rules: Rules, seed: int
) -> Resolved:
    """Say what the votes come to; a function of the tally, the prior and the seed alone.

    Args:
        prior: the belief whose rates of right answers are taken for the classifier.
    """
    keys = sorted(tally)
    parts = [read_tally_key(key) for key in keys]
    times: Ints = np.array([tally[key] for key in keys], dtype=np.int64)
    item: Ints = np.repeat(np.arange(len(keys)), times)
    epoch, cell, predicted = (
        np.array([part[j] for part in parts], dtype=np.int64)[item] for j in range(3)
    )
    said = [part.label for part in parts]
    many = prior.group.size * (1 + max(meaning.n_kinds, 1)) > _MANY_NUMBERS
    n_draws = _FEW_DRAWS if many else _N_DRAWS
    crowd: Crowd | None = None
    people: tuple[str, ...] = ()
    if rules.kind == "dawid-skene":
        crowd, people = _inferred(said, item, cell, predicted, meaning, prior, n_draws, seed)
        truth: Ints = crowd.truth.astype(np.int64)
        likeliest: Ints = crowd.likeliest.astype(np.int64)
        sure = crowd.probability.max(axis=1)
    else:
        truth, likeliest, sure = _tossed(said, item, meaning, n_draws, seed)
    in_pool = cell >= 0
    width = 1 + max(meaning.n_kinds, 1)
    at = np.ravel_multi_index(
        (cell[in_pool], np.zeros(in_pool.sum(), np.int64)), (prior.group.size, width)
    )
    drawn = []
    for classes in truth[:, in_pool]:
        outcome = meaning.of_each(predicted[in_pool], classes)
        flat = np.bincount(at + outcome, minlength=prior.group.size * width)
        drawn.append(flat.reshape(-1, width))
    hard = meaning.of_each(predicted[in_pool], likeliest[in_pool])
    table = np.stack([epoch[in_pool], cell[in_pool], hard, np.ones_like(hard)], axis=1)
    first = np.cumsum(times) - times
    return Resolved(
        counted(table, meaning, prior.group.size),
        tuple(drawn),
        truth,
        dict(zip(keys, first.tolist(), strict=True)),
        dict(zip(keys, likeliest[first].tolist(), strict=True)),
        dict(zip(keys, sure[first].tolist(), strict=True)),
        crowd,
        people,
    )


def _tossed(
    said: list[str], item: Ints, meaning: Outcomes, n_draws: int, seed: int
) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Ties of a majority: every tied class is as likely as the others."""
    index = {name: code for code, name in enumerate(meaning.classes)}
    codes = [[index.get(name, len(index)) for name in tied(text)] for text in said]
    n_tied: Ints = np.array([len(some) for some in codes], dtype=np.int64)
    table: Ints = np.zeros((len(codes), int(n_tied.max(initial=1))), dtype=np.int64)
    for row, some in zip(table, codes, strict=True):
        row[: len(some)] = some
    rng = np.random.default_rng([seed, _STREAM])
    toss = rng.integers(0, n_tied[item], size=(n_draws, item.size))
    return table[item, toss], table[item, 0], 1 / n_tied[item]


def _inferred(
    said: list[str],
    item: Ints,
    cell: Ints,
    predicted: Ints,
    meaning: Outcomes,
    prior: Belief,
    n_draws: int,
    seed: int,
) -> tuple[Crowd, tuple[str, ...]]:
    index = {name: code for code, name in enumerate(meaning.classes)}
    votes = [
        [(who, index[label]) for who, label in named_votes(text).items() if label in index]
        for text in said
    ]
    people = sorted({who for given in votes for who, _ in given}, key=int)
    number = {who: at for at, who in enumerate(people)}
    rows = [(at, number[who], code) for at, key in enumerate(item) for who, code in votes[key]]
    table: Ints = np.array(rows, dtype=np.int64).reshape(-1, 3)
    is_gold = cell < 0
    crowd = infer(
        Votes(
            item=table[:, 0],
            annotator=table[:, 1],
            label=table[:, 2],
            cell=cell,
            predicted=np.where(is_gold, -1, predicted),
            truth=np.where(is_gold, predicted, -1),
            n_annotators=len(people),
            n_classes=len(index),
        ),
        Rates(prior.group, prior.alpha, prior.beta, prior.mixture),
        n_draws=n_draws,
        seed=seed,
    )
    return crowd, tuple(people)
