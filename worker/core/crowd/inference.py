"""Classifier and annotators inferred together: what each item is, and how far to trust whom."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.crowd.annotators import SPREADS, STRENGTHS
from worker.core.crowd.gibbs import Chains, Setting, setting_of, start, sweep
from worker.core.crowd.votes import Votes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_DRAWS = 128
_CHAINS = 16
# Sweeps between two draws of a chain; seven times as many come before the first. Few votes leave
# more open, which takes more and cheaper sweeps.
_SWEEPS_VOTES, _FEWEST, _MOST = 15_000, 6, 16
_MEMORY = 1 << 25  # numbers held by the chains that run together


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """The prior of the classifier's rate of right predictions in C cells, as in `belief.Belief`.

    group: (C,) each cell's group. alpha, beta: (C, U) given the group's component. mixture: (U,),
    or (G, U).
    """

    group: Ints
    alpha: Floats
    beta: Floats
    mixture: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """What the votes say of the items and of the annotators: M posterior draws, and their sums.

    truth: (M, I) draws of the items' classes; those of gold items are known.
    probability: (I, K) P(class); likeliest: (I,) the lowest of the likeliest classes.
    confusion, confusion_sd: (A, K, K) [annotator, true, given] posterior mean and deviation.
    quality: (M, A) draws of the chance that an annotator is right on one of these items.
    strength: (M,) draws of how alike the annotators are: the pseudo-votes of the crowd in each row
        of an annotator's confusion.
    spread: (M,) draws of how differently they favour classes whatever the true one: the standard
        deviation of the biases, whose mean is 1.
    r_hat: the larger split R-hat of two sums: the right predictions, the right votes. Near 1, the
        draws would not change with longer runs.
    """

    truth: NDArray[np.int16]
    probability: Floats
    likeliest: Ints
    confusion: Floats
    confusion_sd: Floats
    quality: Floats
    strength: Floats
    spread: Floats
    r_hat: float


def infer(votes: Votes, rates: Rates, *, n_draws: int = N_DRAWS, seed: int) -> Crowd:
    """Draw from the posterior of the items' classes, the annotators and the classifier.

    Item i of class z: the prediction is right with rate theta of its cell; theta is Beta given its
    group's component. If it is wrong, or if there is none, z ~ e, without the predicted class; e is
    Dirichlet(c, ..., c), c how even the classes are. Annotator a gives class l with probability
    pi_a[z, l]; pi_a[j] ~ Dirichlet(s m_j b_a), m_j the crowd's mean, s how alike the annotators are
    and b_al the bias of a towards class l, whatever the true one: Gamma of mean 1 and standard
    deviation d. All are inferred. Given the class, annotators err independently: where they err
    together (hard items), the draws are too sure.

    The same votes in any order, the same rates and the same seed give the same result.

    Args:
        n_draws: M >= 1.
        seed: >= 0.

    Raises:
        ValueError: the rates have no row for a cell of the votes, or there is nothing to draw.

    Source:
        Dawid & Skene (Applied Statistics 1979), by Gibbs sampling as in Kim & Ghahramani
        ("Bayesian classifier combination", AISTATS 2012), who fix the pseudo-votes of the
        Dirichlets; here they are inferred over the annotators, and the classifier's share of right
        predictions takes the place of the prevalence of the classes. That annotators differ in
        bias besides skill: Welinder, Branson, Belongie & Perona (NIPS 2010), for two classes.
    """
    _check(votes, rates, n_draws)
    of = setting_of(votes, rates.group, rates.alpha, rates.beta, rates.mixture)
    numbers = votes.n_classes * (votes.n_items + 2 * votes.n_annotators * votes.n_classes)
    at_once = int(np.clip(_MEMORY // (numbers + votes.item.size), 1, _CHAINS))
    sizes = [min(at_once, _CHAINS - done) for done in range(0, _CHAINS, at_once)]
    per_chain = -(-n_draws // _CHAINS)
    between = int(np.clip(_SWEEPS_VOTES // max(1, votes.item.size), _FEWEST, _MOST))
    runs = [
        _run(of, np.random.default_rng([seed, i]), m, per_chain, between)
        for i, m in enumerate(sizes)
    ]
    draws = [np.concatenate([run[i] for run in runs]) for i in range(4)]
    truth, quality, strength, spread = (array[:n_draws] for array in draws)
    share = np.array(sizes) / _CHAINS
    probability, mean, square = (
        sum(w * run[i] for w, run in zip(share, runs, strict=True)) for i in (4, 5, 6)
    )
    traces = np.concatenate([run[7] for run in runs], axis=2)
    return Crowd(
        truth,
        probability,
        probability.argmax(axis=1),
        mean,
        np.sqrt(np.maximum(square - mean**2, 0.0)),
        quality,
        strength,
        spread,
        max(split_r_hat(trace) for trace in traces),
    )


def split_r_hat(trace: Floats) -> float:
    """How much wider M chains are together than each of their halves; 1 when they agree.

    Args:
        trace: (T, M), T >= 4 sweeps.

    Source:
        Gelman et al., Bayesian Data Analysis (3rd ed.), section 11.4.
    """
    n = len(trace) // 2
    halves = np.concatenate([trace[:n], trace[-n:]], axis=1)
    within = halves.var(axis=0, ddof=1).mean()
    between = halves.mean(axis=0).var(ddof=1)
    return float(np.sqrt((n - 1) / n + between / within)) if within > 0 else 1.0


def _run(of: Setting, rng: np.random.Generator, m: int, n: int, between: int) -> tuple[Any, ...]:
    """`n` draws of each of `m` chains, `between` sweeps apart, and sums over them."""
    k, a = of.votes.n_classes, of.votes.n_annotators
    chains = start(of, rng, m)
    truth = np.empty((n, m, of.votes.n_items), np.int16)
    quality, (strength, spread) = np.empty((n, m, a)), np.empty((2, n, m))
    probability = np.zeros((k, of.votes.n_items))
    mean, square = np.zeros((2, k, a, k))
    traces = []
    for _ in range(7 * between):
        sweep(of, chains, rng)
    for draw in range(n):
        for _ in range(between):
            sweep(of, chains, rng)
            probability += chains.weight.mean(axis=2)
            traces.append(_sums(of, chains))
        truth[draw], quality[draw] = chains.truth.T, _quality(of, chains)
        strength[draw] = STRENGTHS[chains.annotators.strength]
        spread[draw] = SPREADS[chains.annotators.spread]
        total = chains.pseudo_votes.sum(axis=2, keepdims=True)
        share = chains.pseudo_votes / total
        mean += share.mean(axis=3)
        square += (share * (chains.pseudo_votes + 1) / (total + 1)).mean(axis=3)
    return (
        truth.reshape(n * m, -1),
        quality.reshape(n * m, -1),
        strength.ravel(),
        spread.ravel(),
        probability.T / (n * between),
        mean.transpose(1, 0, 2) / n,
        square.transpose(1, 0, 2) / n,
        np.array(traces).transpose(1, 0, 2),
    )


def _quality(of: Setting, chains: Chains) -> Floats:
    """(M, A) each annotator's right answers, over the classes as the chain's items have them."""
    k, m = chains.log_error.shape
    index = chains.truth * m + np.arange(m)
    share = np.bincount(index.ravel(), minlength=k * m).reshape(k, 1, m) / len(index)
    diagonal = np.arange(k)
    right = np.exp(chains.log_confusion[diagonal, :, diagonal])  # (K, A, M)
    quality: Floats = (share * right).sum(axis=0).T
    return quality


def _sums(of: Setting, chains: Chains) -> Floats:
    """(2, M) right predictions and right votes."""
    right = (chains.truth[of.part] == of.predicted[:, None]).sum(axis=0)
    agreed = (chains.truth[of.votes.item] == of.votes.label[:, None]).sum(axis=0)
    return np.array([right, agreed], dtype=np.float64)


def _check(votes: Votes, rates: Rates, n_draws: int) -> None:
    c, u = rates.group.size, rates.mixture.shape[-1]
    if rates.alpha.shape != (c, u) or rates.beta.shape != (c, u):
        raise ValueError(
            f"alpha has shape {rates.alpha.shape} and beta {rates.beta.shape} for {c} cells and "
            f"{u} components; pass one row a cell and one column a component."
        )
    if votes.n_items and int(votes.cell.max()) >= c:
        raise ValueError(
            f"an item lies in cell {int(votes.cell.max())}, but the rates cover {c} cells; pass "
            "the prior of every cell of the pool."
        )
    if not votes.n_items or not votes.n_annotators or n_draws < 1:
        raise ValueError(
            f"{n_draws} draws of {votes.n_items} items and {votes.n_annotators} annotators are "
            "none; ask for one or more, once there are votes."
        )
