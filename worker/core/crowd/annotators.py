"""What annotators have in common and what each favours, given the classes of the items.

Row j of annotator a's confusion is Dirichlet(s m_j1 b_a1, ..., s m_jK b_aK): m_j the crowd's mean,
s the strength with which it speaks for one annotator, and b_al a's bias towards class l, whatever
the true one. b_al ~ Gamma(1/d^2, 1/d^2), of mean 1 and standard deviation d, the spread; at d = 0
the rows of a confusion would be independent. Here the confusions are integrated out. The chains lie
along the last axis of every array.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.crowd.variates import categorical, log_gammas, log_sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The crowd's mean confusion: as if votes on items of each class had been seen, four of five right,
# half of one or a little more for every wrong class: with less, errors would be believed to fall on
# few classes. Diagonal-heavy, so that the names of the classes cannot be exchanged.
RIGHT_SHARE, A_CLASS = 0.8, 2.5  # pseudo-votes for each of the K classes
# How alike the annotators are: the pseudo-votes with which the crowd speaks for one annotator.
STRENGTHS: Floats = np.exp(np.linspace(np.log(0.5), np.log(500.0), 21))
LOG_STRENGTH_PRIOR: Floats = -0.5 * ((np.log(STRENGTHS) - np.log(10.0)) / 1.5) ** 2
# How differently they favour classes: half-normal, on a grid that is even in the logarithm.
SPREADS: Floats = np.exp(np.linspace(np.log(0.05), np.log(1.6), 16))
LOG_SPREAD_PRIOR: Floats = np.log(SPREADS) - 0.5 * (SPREADS / 0.7) ** 2
_SHAPES: Floats = SPREADS**-2.0
_LOG_BIAS_MEAN: Floats = special.digamma(_SHAPES) - np.log(_SHAPES)
_LOG_BIAS_SD: Floats = np.sqrt(special.polygamma(1, _SHAPES))
_BLOCK = 1 << 14  # Bernoulli variates drawn at once: few enough for the cache
_LEAST_MEAN, _LEAST_BIAS = 1e-12, 1e-20  # within what single precision can divide by


@dataclass(slots=True, eq=False)
class Annotators:
    """Where M chains are.

    mean: (K, K, M) [true, given]. bias: (A, K, M). strength, spread: (M,) places in STRENGTHS and
    SPREADS.
    """

    mean: Floats
    bias: Floats
    strength: Ints
    spread: Ints

    def pseudo_votes(self) -> Floats:
        """(K, A, K, M) [true, annotator, given] the parameters of the confusions' Dirichlets."""
        pseudo: Floats = (STRENGTHS[self.strength] * self.mean)[:, None] * self.bias
        return pseudo


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Votes given the items' classes, without what is 0.

    entry: (E,) places in a flat (K, A, K, M) table, [true, annotator, given], that hold `votes`.
    row: (R,) places in a flat (K, A, M) one, that hold `row_votes`.
    """

    entry: Ints
    votes: Ints
    row: Ints
    row_votes: Ints


def start(k: int, a: int, m: int) -> Annotators:
    """M chains of A annotators and K classes, at the middle of the prior."""
    mean = np.tile(mean_prior(k), m) / (A_CLASS * k)
    middle = int(np.abs(STRENGTHS - 10.0).argmin()), int(np.abs(SPREADS - 0.4).argmin())
    return Annotators(
        mean, np.ones((a, k, m)), np.full(m, middle[0], np.int64), np.full(m, middle[1], np.int64)
    )


def mean_prior(k: int) -> Floats:
    """(K, K, 1) the Dirichlet parameters of the crowd's mean confusion."""
    prior = np.full((k, k, 1), A_CLASS * k * (1 - RIGHT_SHARE) / (k - 1))
    prior[np.arange(k), np.arange(k)] = A_CLASS * k * RIGHT_SHARE
    return prior


def tallied(n: Ints) -> Tallies:
    """Leave out the zeros of n: (K, A, K, M)."""
    rows = n.sum(axis=2)
    entry, row = np.flatnonzero(n), np.flatnonzero(rows)
    return Tallies(entry, n.ravel()[entry], row, rows.ravel()[row])


def update(at: Annotators, n: Ints, rng: np.random.Generator) -> None:
    """Draw mean, biases, strength and spread in turn, given n: (K, A, K, M) votes.

    Strength and spread make a Metropolis step each. Then every annotator's votes sit at tables as
    in a Chinese restaurant, and one Beta variate w for each row takes the place of its normaliser:
    Gamma(c) / Gamma(c + n) is proportional to the integral of w^(c - 1) (1 - w)^(n - 1). Given
    these, the likelihood is the product of (s m_jl b_al)^tables w_ja^(s m_jl b_al): biases are
    Gamma.

    Source:
        Tables: Teh, Jordan, Beal & Blei (JASA 2006), section 5.3, for a finite base measure; w:
        Escobar & West (JASA 1995), section 6.
    """
    m, tallies = n.shape[-1], tallied(n)
    _move_strength_and_spread(at, tallies, rng)
    pseudo = at.pseudo_votes()
    tables = np.zeros(n.shape)
    tables.ravel()[tallies.entry] = _tables(pseudo.ravel()[tallies.entry], tallies.votes, rng)
    total = pseudo.sum(axis=2).ravel()[tallies.row]
    logs = log_gammas(tallies.row_votes.astype(np.float64), rng) - log_gammas(total, rng)
    weight = np.zeros((n.shape[0], n.shape[1], m))  # -log w
    weight.ravel()[tallies.row] = np.logaddexp(0.0, logs)
    _draw_bias(at, tables, weight, rng)
    exposure = np.einsum("jam,alm->jlm", weight, at.bias)
    _draw_mean(at, tables.sum(axis=1), exposure, rng)


def log_marginal(pseudo: Floats, tallies: Tallies) -> Floats:
    """(M,) log probability of the votes, confusions integrated out; pseudo: (K, A, K, M)."""
    m, total = pseudo.shape[-1], pseudo.sum(axis=2)
    gain = _log_rising(pseudo.ravel()[tallies.entry], tallies.votes)
    loss = _log_rising(total.ravel()[tallies.row], tallies.row_votes)
    chain = np.concatenate([tallies.entry, tallies.row]) % m
    found = np.zeros(m)
    np.add.at(found, chain, np.concatenate([gain, -loss]))
    return found


def _log_rising(a: Floats, n: Ints) -> Floats:
    """log Gamma(a + n) - log Gamma(a), n >= 1; as a product where that is quicker."""
    product = a.copy()
    for r in (1, 2, 3):
        product *= np.where(n > r, a + r, 1.0)
    found: Floats = np.log(product)
    is_large = n > 4
    large = a[is_large]
    found[is_large] = special.gammaln(large + n[is_large]) - special.gammaln(large)
    return found


def _move_strength_and_spread(at: Annotators, tallies: Tallies, rng: np.random.Generator) -> None:
    """A Metropolis step of the strength, then one of the spread that stretches the biases with it.

    The logarithms of the biases keep their standardised places, so that the spread can move however
    closely many biases say what it is.
    """
    m, (a, k, _) = at.strength.size, at.bias.shape
    now = log_marginal(at.pseudo_votes(), tallies)
    old = at.strength
    new, is_inside = _stepped(old, 4, STRENGTHS.size, rng)
    at.strength = new
    then = log_marginal(at.pseudo_votes(), tallies)
    gain = then - now + LOG_STRENGTH_PRIOR[new] - LOG_STRENGTH_PRIOR[old]
    is_taken = is_inside & (np.log(rng.random(m)) < gain)
    at.strength, now = np.where(is_taken, new, old), np.where(is_taken, then, now)

    old, bias, logs = at.spread, at.bias, np.log(at.bias)
    new, is_inside = _stepped(old, 3, SPREADS.size, rng)
    stretch = _LOG_BIAS_SD[new] / _LOG_BIAS_SD[old]
    stretched = _LOG_BIAS_MEAN[new] + (logs - _LOG_BIAS_MEAN[old]) * stretch
    at.bias = np.exp(stretched)
    gain = log_marginal(at.pseudo_votes(), tallies) - now + a * k * np.log(stretch)
    gain += LOG_SPREAD_PRIOR[new] - LOG_SPREAD_PRIOR[old]
    gain += _log_density(at.bias, stretched, _SHAPES[new]) - _log_density(bias, logs, _SHAPES[old])
    is_inside &= (at.bias >= _LEAST_BIAS).all(axis=(0, 1))
    is_taken = is_inside & (np.log(rng.random(m)) < gain)
    at.bias, at.spread = np.where(is_taken, at.bias, bias), np.where(is_taken, new, old)


def _stepped(
    at: Ints, most: int, size: int, rng: np.random.Generator
) -> tuple[Ints, NDArray[np.bool_]]:
    """Up to `most` places up or down, and whether that is inside."""
    to = at + rng.integers(1, most + 1, at.size) * rng.choice([-1, 1], at.size)
    return np.clip(to, 0, size - 1), (to >= 0) & (to < size)


def _log_density(bias: Floats, logs: Floats, shape: Floats) -> Floats:
    """(..., M) of the logarithms of all biases together; shape: (..., M)."""
    a, k, _ = bias.shape
    constant = a * k * (shape * np.log(shape) - special.gammaln(shape))
    found: Floats = constant + shape * (logs - bias).sum(axis=(0, 1))
    return found


def _tables(pseudo: Floats, votes: Ints, rng: np.random.Generator) -> Floats:
    """(E,) tables: the first vote opens one, vote r + 1 with probability pseudo / (pseudo + r)."""
    order = np.argsort(-votes, kind="stable")
    c, upto = pseudo[order], -votes[order]
    tables, r, most = np.ones(votes.size), 1, int(votes.max(initial=0))
    while r < most:
        wide = int(np.searchsorted(upto, -r))  # entries of more than r votes
        later = np.arange(r, min(most, r + max(1, _BLOCK // wide)))[:, None]
        opens = rng.random((later.size, wide)) * (c[:wide] + later) < c[:wide]
        tables[:wide] += (opens & (later < -upto[:wide])).sum(axis=0)
        r += later.size
    found = np.empty(votes.size)
    found[order] = tables
    return found


def _draw_bias(at: Annotators, tables: Floats, weight: Floats, rng: np.random.Generator) -> None:
    """The biases, and then the spread that these have."""
    exposure = STRENGTHS[at.strength] * np.einsum("jlm,jam->alm", at.mean, weight)
    shape = _SHAPES[at.spread]
    drawn = rng.standard_gamma(shape + tables.sum(axis=0)) / (shape + exposure)
    at.bias = np.maximum(drawn, _LEAST_BIAS)
    told = _log_density(at.bias, np.log(at.bias), _SHAPES[:, None])
    at.spread = categorical(told.T + LOG_SPREAD_PRIOR, rng)


def _draw_mean(at: Annotators, tables: Floats, exposure: Floats, rng: np.random.Generator) -> None:
    """A Metropolis step of every row of the crowd's mean confusion, nearly an exact draw.

    Its distribution is Dirichlet(c) exp(-s exposure.m), and proposed are Gamma(c) variates of rates
    r = s exposure + q divided by their sum; q makes r.m near the sum of c, where the two
    distributions agree to first order.
    """
    s, shape = STRENGTHS[at.strength], mean_prior(len(tables)) + tables
    total = shape.sum(axis=1, keepdims=True)
    pull = s * exposure
    rate = pull + total - (pull * shape).sum(axis=1, keepdims=True) / total
    rate = np.maximum(rate, 0.1 * total)
    logs = log_gammas(shape, rng) - np.log(rate)
    new = np.maximum(np.exp(logs - log_sum(logs, axis=1)), _LEAST_MEAN)

    def excess(mean: Floats) -> Floats:
        found: Floats = total[:, 0] * np.log((rate * mean).sum(axis=1)) - (pull * mean).sum(axis=1)
        return found

    is_taken = np.log(rng.random(s.shape)) < excess(new) - excess(at.mean)
    at.mean = np.where(is_taken[:, None], new, at.mean)
