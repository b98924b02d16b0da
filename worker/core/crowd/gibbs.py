"""One sweep of Gibbs sampling through the joint model of classifier and annotators.

The chains lie along the last axis of every array, so that every step is a few long
vector operations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from worker.core.crowd import annotators
from worker.core.crowd.annotators import Annotators
from worker.core.crowd.variates import categorical, log_gammas, log_sum
from worker.core.crowd.votes import Votes

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]

# How even the classes of e are: its Dirichlet's parameter, the same for every class. Were it fixed
# at 1, a few votes of many classes would easily tell that a class has no items at all, and that all
# who voted for it took another for it.
CONCENTRATIONS: Floats = np.exp(np.linspace(np.log(0.05), np.log(50.0), 16))
LOG_CONCENTRATION_PRIOR: Floats = -0.5 * (np.log(CONCENTRATIONS) / 1.5) ** 2


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What the sweeps are about; made once by `setting_of`.

    given: (I, A K) how often each annotator gave each class to each item. place: (V,) where the
        class that was voted lies in an (A, K) table.
    part: (I',) items with a prediction; cell: (I',) theirs, among the C' cells that have some;
        predicted: (I',).
    fixed: items of known class. open: all others and those of the pool, whose classes tell of e.
    group: (C',) and n_groups; alpha, beta: (C', U); log_mixture: (U,); n_items: (C',).
    first: (C',) where a cell's rows of `evidence` begin, one for every count of right items;
        evidence: (., U) log marginal likelihoods of that count.
    log_concentration: (S,) the prior of CONCENTRATIONS over their Dirichlets' normalisers.
    """

    votes: Votes
    given: Any
    place: Ints
    part: Ints
    cell: Ints
    predicted: Ints
    fixed: Ints
    open: Ints
    group: Ints
    n_groups: int
    alpha: Floats
    beta: Floats
    log_mixture: Floats
    n_items: Ints
    first: Ints
    evidence: Floats
    log_concentration: Floats


@dataclass(slots=True, eq=False)
class Chains:
    """Where M chains are; each sweep draws all of it again.

    truth: (I, M) the items' classes. weight: (K, I, M) their probabilities given all else.
    annotators: what they have in common and what each favours.
    pseudo_votes: (K, A, K, M) [true, annotator, given] each confusion's Dirichlet parameters;
    log_confusion: what was drawn from them. log_odds: (C', M) of being right.
    log_error: (K, M) what wrongly classified items are.
    """

    truth: Ints
    weight: Singles
    annotators: Annotators
    pseudo_votes: Singles
    log_confusion: Singles
    log_odds: Floats
    log_error: Floats


def setting_of(votes: Votes, group: Ints, alpha: Floats, beta: Floats, mixture: Floats) -> Setting:
    """Prepare the sweeps; arguments as in `inference.Rates`."""
    a, k = votes.n_annotators, votes.n_classes
    place = votes.annotator * k + votes.label
    ones = np.ones(place.size, np.float32)
    given = scipy.sparse.csr_array((ones, (votes.item, place)), shape=(votes.n_items, a * k))
    part = np.flatnonzero(votes.cell >= 0)
    present, cell = np.unique(votes.cell[part], return_inverse=True)
    n_items = np.bincount(cell, minlength=present.size)
    order, of_group = np.unique(group[present], return_inverse=True)
    first = np.cumsum(n_items + 1) - (n_items + 1)
    of = np.repeat(np.arange(present.size), n_items + 1)
    right = (np.arange(of.size) - first[of])[:, None]
    alpha, beta = alpha[present], beta[present]
    evidence = special.betaln(alpha[of] + right, beta[of] + n_items[of][:, None] - right)
    norm = k * special.gammaln(CONCENTRATIONS) - special.gammaln(k * CONCENTRATIONS)
    return Setting(
        votes, given, place, part, cell, votes.predicted[part], np.flatnonzero(votes.is_gold),
        np.flatnonzero(~(votes.is_gold & (votes.cell < 0))), of_group, order.size, alpha, beta,
        _log_of(mixture, order), n_items, first, evidence - special.betaln(alpha, beta)[of],
        LOG_CONCENTRATION_PRIOR - norm,
    )  # fmt: skip


def _log_of(mixture: Floats, groups: Ints) -> Floats:
    """(U,), or (g, 1, U) of some groups, if theirs differ."""
    return np.log(mixture if mixture.ndim == 1 else mixture[groups][:, None])


def start(of: Setting, rng: np.random.Generator, m: int) -> Chains:
    """M chains that begin at classes drawn from the smoothed shares of each item's votes.

    The prediction counts as a vote.
    """
    i, k = of.votes.n_items, of.votes.n_classes
    shares = np.full((i, k), 1 / k)
    np.add.at(shares, (of.votes.item, of.votes.label), 1.0)
    np.add.at(shares, (of.part, of.predicted), 1.0)
    below = np.cumsum(shares, axis=1)
    at = rng.random((i, m)) * below[:, -1:]
    truth = (at[:, None] > below[:, :-1, None]).sum(axis=1)
    truth[of.fixed] = of.votes.truth[of.fixed, None]
    table = np.ones((k, of.votes.n_annotators, k, m), np.float32)
    return Chains(
        truth, np.zeros((k, i, m), np.float32),
        annotators.start(k, of.votes.n_annotators, m), table, table,
        np.zeros((of.n_items.size, m)), np.full((k, m), -np.log(k)),
    )  # fmt: skip


def sweep(of: Setting, at: Chains, rng: np.random.Generator) -> None:
    """Draw annotators and classifier given the classes, then the classes given these."""
    n = _confusion_counts(of, at.truth)
    annotators.update(at.annotators, n, rng)
    at.pseudo_votes = (at.annotators.pseudo_votes() + n).astype(np.float32)
    at.log_confusion = log_gammas(at.pseudo_votes, rng)
    at.log_confusion -= log_sum(at.log_confusion, axis=2)
    _draw_rates(of, at, rng)
    _draw_errors(of, at, rng)
    _draw_truth(of, at, rng)


def _confusion_counts(of: Setting, truth: Ints) -> Ints:
    """(K, A, K, M) [true, annotator, given] how often."""
    k, m = of.votes.n_classes, truth.shape[1]
    width = of.votes.n_annotators * k * m
    index = truth[of.votes.item] * width
    index += (of.place * m)[:, None]
    index += np.arange(m)
    flat = np.bincount(index.ravel(), minlength=k * width)
    return flat.reshape(k, of.votes.n_annotators, k, m)


def _draw_rates(of: Setting, at: Chains, rng: np.random.Generator) -> None:
    """The classifier's log odds of being right in each cell; its group's component comes first."""
    m, c = at.truth.shape[1], of.n_items.size
    if not c:
        return
    is_right = at.truth[of.part] == of.predicted[:, None]
    index = (of.cell * m)[:, None] + np.arange(m)
    right = np.bincount(index[is_right], minlength=c * m).reshape(c, m)
    component: Ints = np.zeros((of.n_groups, m), np.int64)
    if (n_components := of.log_mixture.shape[-1]) > 1:
        log_post = np.zeros((of.n_groups, m, n_components)) + of.log_mixture
        np.add.at(log_post, of.group, of.evidence[of.first[:, None] + right])
        component = categorical(log_post, rng)
    rows, component = np.arange(c)[:, None], component[of.group]
    a = of.alpha[rows, component] + right
    b = of.beta[rows, component] + of.n_items[:, None] - right
    at.log_odds = log_gammas(a, rng) - log_gammas(b, rng)


def _draw_errors(of: Setting, at: Chains, rng: np.random.Generator) -> None:
    """The classes of wrongly classified items, and of those without a prediction.

    A wrong item is none of its predicted class: it is as if its class had been drawn again until it
    was another. The draws that were thrown away are drawn too; with them the distribution is a
    Dirichlet, whose concentration is drawn first.
    """
    k, m = at.log_error.shape
    predicted = of.votes.predicted[of.open, None]
    truth = at.truth[of.open]
    is_wrong = truth != predicted
    chain = np.broadcast_to(np.arange(m), truth.shape)[is_wrong]
    found = np.bincount(truth[is_wrong] * m + chain, minlength=k * m).reshape(k, m)
    refused = np.broadcast_to(predicted, truth.shape)[is_wrong]
    has_one = refused >= 0
    tried = np.bincount(refused[has_one] * m + chain[has_one], minlength=k * m).reshape(k, m)
    # with fewer others, gammaln of the tries is too large for its differences to be exact
    other = np.clip(np.exp(_log_rest(at.log_error)), 1e-8, 1.0)
    again = np.where(tried > 0, rng.negative_binomial(np.maximum(tried, 1), other), 0)
    counts = found + again
    each = counts.T[:, None] + CONCENTRATIONS[:, None]  # (M, S, K)
    told = special.gammaln(each).sum(axis=2) - special.gammaln(each.sum(axis=2))
    concentration = CONCENTRATIONS[categorical(told + of.log_concentration, rng)]
    logs = log_gammas(concentration + counts, rng)
    at.log_error = logs - log_sum(logs, axis=0)


def _log_rest(logs: Floats) -> Floats:
    """(K, M) log(1 - e) of e that sums to 1, as a sum over the others: e may be next to 1."""
    is_own = np.eye(len(logs), dtype=bool)[:, :, None]
    rest: Floats = log_sum(np.where(is_own, -np.inf, logs), axis=1)[:, 0]
    return rest


def _draw_truth(of: Setting, at: Chains, rng: np.random.Generator) -> None:
    k, m = at.log_error.shape
    weight = np.empty((k, *at.truth.shape), np.float32)
    for j in range(k):
        weight[j] = of.given @ at.log_confusion[j].reshape(-1, m)
        weight[j] += at.log_error[j].astype(np.float32)
    gain = at.log_odds[of.cell] + (_log_rest(at.log_error) - at.log_error)[of.predicted]
    weight[of.predicted, of.part] += gain.astype(np.float32)
    weight -= weight.max(axis=0)
    np.exp(weight, out=weight)
    total = weight.sum(axis=0)
    u = rng.random(total.shape, dtype=np.float32) * total
    below = np.zeros_like(total)
    truth = np.zeros(total.shape, np.int64)
    for j in range(k - 1):
        below += weight[j]
        truth += u > below
    weight /= total
    if of.fixed.size:
        truth[of.fixed] = of.votes.truth[of.fixed, None]
        weight[:, of.fixed] = 0.0
        weight[of.votes.truth[of.fixed], of.fixed] = 1.0
    at.truth, at.weight = truth, weight
