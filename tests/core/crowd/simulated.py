"""Crowds to simulate and to replay, and how often intervals of a classifier's accuracy hold it."""

import csv
import gzip
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.core.crowd.majority import majority
from worker.core.crowd.inference import Crowd, Rates, infer
from worker.core.crowd.votes import Votes, counts
from worker.core.posterior.belief import Belief
from worker.core.posterior.drawing import draw

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DATA = Path(
    os.environ.get("ASSAY_PAPER_DATA", Path(__file__).parents[3].parent / "shared" / "data")
)
SETS = ("labelme", "bluebirds")
PRIOR = 8.0, 2.0  # of the rates of right predictions: about what scores tell


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A real crowd: (V,) votes and (I,) what the items are."""

    item: Ints
    annotator: Ints
    label: Ints
    truth: Ints
    n_annotators: int
    n_classes: int


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Votes on n of the N items of a pool, and what is true of it.

    truth: (I,) the classes of the items voted on. size: (C,) items of each cell, with and without
        votes; right: (C,) how many of them are predicted right.
    """

    votes: Votes
    truth: Ints
    size: Ints
    right: Ints

    @property
    def accuracy(self) -> float:
        """The pool's."""
        return float(self.right.sum() / self.size.sum())


def recorded(name: str) -> Recorded:
    """Read a crowd in place; items are renumbered from 0."""
    folder = DATA / f"crowd-{name}"

    def rows(file: str) -> Ints:
        with gzip.open(folder / file, "rt", encoding="utf-8", newline="") as lines:
            return np.array([[int(x) for x in row] for row in list(csv.reader(lines))[1:]])

    votes, gold = rows("labels.csv.gz"), rows("gold.csv.gz")
    gold = gold[gold[:, 0].argsort()]
    item = np.searchsorted(gold[:, 0], votes[:, 0])
    annotators, classes = int(votes[:, 1].max()) + 1, int(gold[:, 1].max()) + 1
    return Recorded(item, votes[:, 1], votes[:, 2], gold[:, 1], annotators, classes)


def without_classifier(of: Recorded) -> Votes:
    """The votes of a crowd, and nothing else."""
    none = np.full(of.truth.size, -1)
    return Votes(of.item, of.annotator, of.label, none, none, none, of.n_annotators, of.n_classes)


def first_votes(of: Recorded, part: float, order: int) -> Votes:
    """That part of the votes which comes first in a random order, and nothing else."""
    shuffled = np.random.default_rng(order).permutation(of.item.size)
    kept = np.sort(shuffled[: round(part * shuffled.size)])
    columns = {name: getattr(of, name)[kept] for name in ("item", "annotator", "label")}
    return replace(without_classifier(of), **columns)


def confusions(of: Recorded, pseudo_votes: float = 5.0) -> Floats:
    """(A, K, K) [annotator, true, given] frequencies, drawn towards the crowd's mean."""
    a, k = of.n_annotators, of.n_classes
    n = np.zeros((a, k, k))
    np.add.at(n, (of.annotator, of.truth[of.item], of.label), 1.0)
    mean = n.sum(axis=0) + 0.5
    mean /= mean.sum(axis=1, keepdims=True)
    found: Floats = (n + pseudo_votes * mean) / (n.sum(axis=2, keepdims=True) + pseudo_votes)
    return found


def simulated(
    rng: np.random.Generator, of: Recorded, n_items: int, n_labelled: int, per_item: int
) -> Case:
    """Annotators like a crowd's, independent given the class; a cell for each predicted class.

    The annotators are drawn from the crowd's, with replacement; who of them votes, by activity. The
    cells' rates of right predictions come from the prior that the inference has.
    """
    k, hired = of.n_classes, rng.integers(0, of.n_annotators, of.n_annotators)
    prevalence = np.bincount(of.truth, minlength=k) / of.truth.size
    predicted = rng.choice(k, n_items, p=prevalence)
    others = np.tile(prevalence, (k, 1))
    np.fill_diagonal(others, 0.0)
    wrong = _choice(rng, others[predicted])
    truth = np.where(rng.random(n_items) < rng.beta(*PRIOR, k)[predicted], predicted, wrong)
    activity = np.log(np.bincount(of.annotator, minlength=of.n_annotators) + 1.0)[hired]
    keys = activity + rng.gumbel(size=(n_labelled, of.n_annotators))
    annotator = np.argsort(-keys, axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(n_labelled), per_item)
    label = _choice(rng, confusions(of)[hired[annotator], truth[item]])
    return _case(of, item, annotator, label, truth, predicted, n_labelled)


def replayed(
    rng: np.random.Generator, of: Recorded, rate: float, gold: float = 0.0, votes: int | None = None
) -> Case:
    """A classifier that is right with probability `rate` beside the votes of a real crowd.

    Its errors are spread like the classes. All items are voted on.

    Args:
        gold: the share of the items whose class is known.
        votes: how many of an item's votes to keep; all for None.
    """
    k, n = of.n_classes, of.truth.size
    prevalence = np.bincount(of.truth, minlength=k) / n
    others = np.tile(prevalence, (n, 1))
    others[np.arange(n), of.truth] = 0.0
    predicted = np.where(rng.random(n) < rate, of.truth, _choice(rng, others))
    kept = np.ones(of.item.size, bool)
    if votes is not None:
        order = np.lexsort((rng.random(of.item.size), of.item))
        at = np.arange(of.item.size) - np.searchsorted(of.item[order], of.item[order])
        kept[order] = at < votes
    columns = of.item[kept], of.annotator[kept], of.label[kept]
    case = _case(of, *columns, of.truth, predicted, n)
    known = np.where(rng.permutation(n) < round(gold * n), of.truth, -1)
    return replace(case, votes=replace(case.votes, truth=known))


def _case(
    of: Recorded, item: Ints, annotator: Ints, label: Ints, truth: Ints, predicted: Ints, n: int
) -> Case:
    k = of.n_classes
    votes = Votes(
        item, annotator, label, predicted[:n], predicted[:n], np.full(n, -1), of.n_annotators, k
    )
    right = np.bincount(predicted[truth == predicted], minlength=k)
    return Case(votes, truth[:n], np.bincount(predicted, minlength=k), right)


def _choice(rng: np.random.Generator, weights: Floats) -> Ints:
    below = np.cumsum(weights, axis=1)
    u = rng.random(len(weights)) * below[:, -1]
    drawn: Ints = (u[:, None] >= below[:, :-1]).sum(axis=1)
    return drawn


def rates(n_cells: int) -> Rates:
    """The prior, every cell a group of its own."""
    ones = np.ones((n_cells, 1))
    return Rates(np.arange(n_cells), PRIOR[0] * ones, PRIOR[1] * ones, np.ones(1))


def accuracies(case: Case, right: Floats, labelled: Ints, rng: np.random.Generator) -> Floats:
    """Draws of the pool's accuracy, the same number for each row of right predictions.

    Args:
        right: (M, C) right predictions among those of the labelled items.
    """
    cells = np.arange(case.size.size)
    each, prior = max(1, 2048 // len(right)), rates(cells.size)
    drawn = []
    for row in right:
        b = Belief(cells, case.size, row, labelled - row, prior.alpha, prior.beta, cells.size)
        drawn.append(draw(b, rng, each) @ case.size / case.size.sum())
    return np.concatenate(drawn)


def by_dawid_skene(case: Case, rng: np.random.Generator) -> Floats:
    """Draws of the pool's accuracy by the joint inference."""
    crowd = infer(case.votes, rates(case.size.size), seed=int(rng.integers(2**32)))
    return accuracies(case, rights(case, crowd), _labelled(case), rng)


def rights(case: Case, crowd: Crowd) -> Floats:
    """(M, C) right predictions in each draw of the items' classes."""
    cell = case.votes.cell
    of = np.arange(len(crowd.truth))[:, None] * case.size.size + cell
    hit = crowd.truth == case.votes.predicted
    flat = np.bincount(of[hit], minlength=len(hit) * case.size.size)
    return flat.reshape(len(hit), -1).astype(float)


def by_majority(case: Case, rng: np.random.Generator) -> Floats:
    """Draws of the pool's accuracy if the most frequent class of each item were true."""
    voted = counts(case.votes)
    label, _ = majority(voted)
    label = np.where(case.votes.is_gold, case.votes.truth, label)
    right = np.bincount(case.votes.cell[label == case.votes.predicted], minlength=case.size.size)
    return accuracies(case, right[None].astype(float), _labelled(case), rng)


def by_fractions(case: Case, rng: np.random.Generator) -> Floats:
    """Draws of the pool's accuracy if each item counted as right by the share of its votes."""
    voted = counts(case.votes)
    share = voted / np.maximum(voted.sum(axis=1, keepdims=True), 1)
    hit = share[np.arange(len(share)), case.votes.predicted]
    hit = np.where(case.votes.is_gold, case.votes.truth == case.votes.predicted, hit)
    right = np.bincount(case.votes.cell, weights=hit, minlength=case.size.size)
    return accuracies(case, right[None], _labelled(case), rng)


def _labelled(case: Case) -> Ints:
    return np.bincount(case.votes.cell, minlength=case.size.size)


Method = Callable[[Case, np.random.Generator], Floats]
METHODS: dict[str, Method] = {
    "dawid-skene": by_dawid_skene,
    "majority": by_majority,
    "fractions": by_fractions,
}


def covered(
    cases: Sequence[Case], methods: Sequence[str], levels: Sequence[float], seed: int
) -> dict[str, tuple[Floats, float]]:
    """By method: at each level the share of intervals that hold the truth; the mean 95% width."""
    found = {}
    for method in methods:
        holds, widths = [], []
        for number, case in enumerate(cases):
            drawn = METHODS[method](case, np.random.default_rng([seed, number]))
            tails = [(1 + sign * level) / 2 for level in levels for sign in (-1, 1)]
            bounds = np.quantile(drawn, tails).reshape(-1, 2)
            holds.append((bounds[:, 0] <= case.accuracy) & (case.accuracy <= bounds[:, 1]))
            low, high = np.quantile(drawn, [0.025, 0.975])
            widths.append(high - low)
        found[method] = np.mean(holds, axis=0), float(np.mean(widths))
    return found
