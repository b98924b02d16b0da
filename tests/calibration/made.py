"""Pools and truths to try what is published on; most do not come from Assay's own model.

A kind keeps its predictions and draws its truth afresh in every run: (a) is drawn from the model
itself, (b) has one rate common to all items, (c) a calibrated classifier, (d) scores that are too
high, too low, always the same, highest where most is wrong, or right but for the highest ones, (e)
groups nearly tied, (f) few items, one stratum, one-sided groups, (g) real classifiers, (h) an
opinion that tells of errors what no score does, (j) a judge of outputs whose scores are high or low
and hardly ever between, (p) groups that are products of classes and sites. Where a plan has
opinions, (g) has another real classifier's, or the truth itself, and all other kinds four that tell
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tests.bench.paper.data import FILES, MORE_FILES, folder, load

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What is true of N items.

    label: (N,) classes. rate: (N,) the chances to be right that they come from. sd, new: the
    standard deviation of accuracy between all sites like these, and that of a further one; None
    where sites are not drawn.
    """

    label: Ints
    rate: Floats
    sd: float | None = None
    new: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """N items that one classifier predicts, of K classes, at S sites; or two classifiers.

    rates: draws (N,) the chance of each to be right; None if outcomes are drawn from the prior of
        the plan. label: (N,) true classes, where they are known.
    second, second_score: of a second classifier; of an opinion, where one is assessed.
    disagreeing: (M, 2) chances that the first alone, or the second alone, is right where they
        disagree, of which a run has one.
    told: (N,) an opinion's probability that the prediction is right.
    prompt: (N,) which prompt an output answers; `predicted` is then the model that it is of.
    others, other_scores: what further classifiers predict, each (N,); by the scores of the first
        where these are none.
    """

    kind: str
    n_classes: int
    predicted: Ints
    score: Floats
    site: Ints
    rates: Callable[[Rng], Floats] | None
    label: Ints | None = None
    second: Ints | None = None
    second_score: Floats | None = None
    disagreeing: Floats | None = None
    told: Floats | None = None
    others: tuple[Ints, ...] = ()
    prompt: Ints | None = None
    other_scores: tuple[Floats, ...] = ()

    def truth(self, rng: Rng) -> Truth:
        """Draw what is true."""
        if self.label is not None:
            return Truth(self.label, (self.label == self.predicted).astype(np.float64))
        if self.others:
            return self._of_many(rng)
        if self.second is not None:
            return self._of_two(rng, self.second)
        if self.kind == "b sites":
            return self._of_sites(rng)
        assert self.rates is not None, "the others are drawn from the prior"
        return self._labelled(np.clip(self.rates(rng), 0.0, 1.0), rng)

    def _labelled(self, rate: Floats, rng: Rng) -> Truth:
        is_right = rng.random(rate.size) < rate
        # half of the errors are the next class, as of animals that look alike
        k = self.n_classes
        step = np.where(rng.random(rate.size) < 0.5, 1, rng.integers(1, k, rate.size))
        return Truth(np.where(is_right, self.predicted, (self.predicted + step) % k), rate)

    def _of_sites(self, rng: Rng) -> Truth:
        tau = rng.choice([0.0, 0.15, 0.4, 0.8])
        level = special.expit(1.5 + tau * rng.standard_normal(N_SITES + 1))
        of_sites = self._labelled(level[self.site], rng)
        spread = special.expit(1.5 + tau * rng.standard_normal(20_000)).std()
        return Truth(of_sites.label, of_sites.rate, float(spread), float(level[-1]))

    def _of_many(self, rng: Rng) -> Truth:
        """Every item has the class that one of the classifiers says, by shares of each run's own.

        One in ten has another one. No score tells of it, nor how many agree.
        """
        assert self.second is not None, "the others come after it"
        said = np.stack([self.predicted, self.second, *self.others], axis=1)
        share = rng.dirichlet(np.full(said.shape[1], 4.0))
        of = rng.choice(said.shape[1], self.predicted.size, p=share)
        label = said[np.arange(of.size), of]
        label = np.where(
            rng.random(of.size) < 0.1, rng.integers(self.n_classes, size=of.size), label
        )
        return Truth(label, (label == self.predicted).astype(np.float64))

    def _of_two(self, rng: Rng, second: Ints) -> Truth:
        n, k = second.size, self.n_classes
        agrees = self.predicted == second
        assert self.disagreeing is not None, "two classifiers disagree somehow"
        first_right, second_right = self.disagreeing[rng.integers(len(self.disagreeing))]
        u = rng.random(n)
        # a class that neither of them says
        other = (self.predicted + rng.integers(1, k - 1, n)) % k
        other = np.where(other == second, (self.predicted + k - 1) % k, other)
        apart = np.where(
            u < first_right, self.predicted, np.where(u < first_right + second_right, second, other)
        )
        rate = np.full(n, 0.9)
        if self.kind == "d cells scatter":  # some seven times as far as the prior expects
            place = np.quantile(self.score, np.arange(1, 8) / 8)
            cell = self.predicted * 8 + np.searchsorted(place, self.score)
            rate = rng.beta(7.2, 0.8, cell.max() + 1)[cell]
        label = np.where(agrees, np.where(u < rate, self.predicted, other), apart)
        return Truth(label, (label == self.predicted).astype(np.float64))


_FILES = FILES | MORE_FILES
SIZES = {"few": (6, 60), "four": (4, 1500), "ten": (10, 1500), "forty": (40, 3000)}
N_SITES = 6


def made(kind: str, size: str = "ten") -> Made | None:
    """The pool of a kind; None if its data is not there.

    Args:
        size: how many classes and items, by its name in `SIZES`; a real pool has its own.
    """
    if kind.startswith("g "):
        return _real(kind)
    n_classes, n = SIZES["few" if kind == "f few items" else size]
    rng = np.random.default_rng([20261123, n_classes])
    predicted = rng.permutation(np.arange(n) % n_classes)
    score = np.clip(rng.beta(6.0, 1.5, n), 1.5 / n_classes, 0.999).round(6)
    if kind in (*JUDGED, *CROSSED):
        doubted = rng.random(n) < 0.35
        score = np.where(doubted, 1 - score, score)
    if kind == "d constant":
        score = np.full(n, 0.9)
    site = rng.integers(N_SITES, size=n)
    hidden = rng.standard_normal(n)  # what no score knows of an item
    told = special.expit(1.5 + 1.5 * hidden + 0.7 * rng.standard_normal(n)).round(6)
    rates = _rates(kind, predicted, score, site, hidden)
    return Made(kind, n_classes, predicted, score, site, rates, told=told)


def _rates(
    kind: str, predicted: Ints, score: Floats, site: Ints, hidden: Floats
) -> Callable[[Rng], Floats] | None:
    logit, k = special.logit(score), int(predicted.max()) + 1
    called_right = score >= 0.5

    def by_word(rng: Rng, wrong: float, right: float, sd: float) -> Floats:
        off = rng.normal(0.0, sd, (2, k))[:, predicted]
        return special.expit(np.where(called_right, right + off[1], wrong + off[0]))

    def shifted(rng: Rng, sd: float) -> Floats:
        return rng.normal(0.0, sd, k)[predicted] + rng.normal(0.0, sd / 2, N_SITES)[site]

    def crossed(rng: Rng, of_class: float, of_site: float, own: float) -> Floats:
        off = rng.normal(0.0, of_class, (k, 1)) + rng.normal(0.0, of_site, N_SITES)
        off += rng.normal(0.0, own, (k, N_SITES))
        return special.expit(0.5 * logit + 0.5 + off[predicted, site])

    drawn: dict[str, Callable[[Rng], Floats] | None] = {
        "a model": None,
        "b one rate": lambda rng: np.full(score.size, rng.uniform(0.6, 0.97)),
        "c calibrated": lambda _: score,
        "d overconfident": lambda rng: special.expit(0.4 * logit - 0.3 + shifted(rng, 0.4)),
        "d underconfident": lambda rng: special.expit(1.8 * logit + 0.8 + shifted(rng, 0.4)),
        "d constant": lambda rng: special.expit(1.6 + shifted(rng, 0.7)),
        "d falling": lambda _: 1 - 0.7 * score,  # the surer, the more often wrong
        "d surest off": lambda _: np.where(score > np.quantile(score, 0.8), score - 0.1, score),
        "e near ties": lambda rng: np.append(
            rng.permutation([0.70, 0.71, 0.715]), np.full(k - 3, 0.85)
        )[predicted],
        "b sites": None,
        "f few items": lambda rng: special.expit(logit + shifted(rng, 0.7)),
        "f one stratum": lambda rng: special.expit(0.7 * logit + shifted(rng, 0.7)),
        # a third of the groups is always right, one mostly wrong
        "f one-sided": lambda rng: rng.permutation(
            np.append([0.3], np.tile([1.0, 0.95, 0.9], k)[: k - 1])
        )[predicted],
        "h told": lambda rng: special.expit(0.5 * logit + 1.2 * hidden + 0.8 + shifted(rng, 0.4)),
        "h inverted": lambda rng: special.expit(logit - 1.2 * hidden + shifted(rng, 0.4)),
        # right unless the opinion doubts it: there errors are, and nowhere else
        "h sharp": lambda rng: np.where(hidden > -1.2, 0.995, rng.uniform(0.05, 0.3)),
        "h of some groups": lambda rng: special.expit(
            0.7 * logit + 1 + np.where(rng.permutation(k)[predicted] < k // 2, 2.0, 0.0) * hidden
        ),
        "j word": lambda rng: by_word(rng, -0.7, 3.0, 0.5),
        "j word differs": lambda rng: by_word(rng, 0.0, 2.5, 1.0),
        "j useless": lambda rng: by_word(rng, 1.0, 1.0, 0.5),
        "j calibrated": lambda _: score,
        "j overconfident": lambda rng: special.expit(0.5 * logit + 0.5 + shifted(rng, 0.5)),
        "j fooled": lambda rng: np.where(
            rng.permutation(k)[predicted] == 0, 0.3, by_word(rng, -0.7, 2.5, 0.3)
        ),
        "p crossed": lambda rng: crossed(rng, 0.8, 0.4, 0.3),
        "p apart": lambda rng: crossed(rng, 0.0, 0.0, 0.9),
        # like none of its class and none of its site
        "p one off": lambda rng: np.where(
            (predicted == rng.integers(k)) & (site == rng.integers(N_SITES)), 0.2, 0.95
        ),
    }
    return drawn[kind]


MADE = (
    "a model", "b one rate", "c calibrated", "d overconfident", "d underconfident", "d constant",
    "d falling", "d surest off", "e near ties", "f few items", "f one stratum", "f one-sided",
)  # fmt: skip
JUDGED = (
    "j word", "j word differs", "j useless", "j calibrated", "j overconfident", "j fooled",
)  # fmt: skip
CROSSED = "p crossed", "p apart", "p one off"
REAL = tuple(
    f"g {name}" for name in (*FILES, "cifar10-resnet", "cifar10-densenet") if name != "imagenet"
)


TOLD = ("h told", "h inverted", "h sharp", "h of some groups")
_BY = " by "  # in the name of a real classifier with another one's opinion
TRUTH = "truth"
REAL_TOLD = tuple(
    f"g {model}{_BY}{other}"
    for model, other in (
        ("cifar10-resnet", "cifar10-densenet"),
        ("cifar10-densenet", "cifar10-resnet"),
        ("cifar100", "cifar100-wrn"),
        ("cifar10-resnet", TRUTH),
    )
)


def is_there(kind: str) -> bool:
    """Whether a kind can be tried here."""
    named = kind.removeprefix("g ").partition(_BY)[0].partition(",")[0]
    return not kind.startswith("g ") or (folder() / f"{_FILES[named]}.npz").exists()


def _real(kind: str) -> Made | None:
    if not is_there(kind):
        return None
    named, _, other = kind[2:].partition(_BY)
    pool = load(named)
    score = np.clip(pool.score, 1e-6, 1 - 1e-6)
    site = np.random.default_rng(0).integers(N_SITES, size=score.size)
    own = Made(kind, pool.n_classes, pool.predicted, score, site, None, pool.label)
    if not other:
        return own
    sure = np.full(score.size, 0.99)
    said = (pool.label, sure) if other == TRUTH else (load(other).predicted, load(other).score)
    return replace(own, second=said[0], second_score=said[1])
