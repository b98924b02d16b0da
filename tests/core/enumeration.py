"""Brute force for tiny groups: every component, every completion, every kind of error.

Nothing here comes from the core's own formulas. An endless population is integrated by Gauss-Jacobi
quadrature, which is exact for what is a polynomial of the rates.
"""

import itertools
import math

import numpy as np
from hypothesis import strategies as st
from scipy import special, stats

from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.metrics import RATIOS, Errors, Metric

N_QUADRATURE = 6


def component_weights(b, g):
    """(U,) posterior probabilities of the components of group `g`, by Bayes' rule."""
    weights = np.array(b.mixture)
    for c in np.flatnonzero(b.group == g):
        n = int(b.right[c] + b.wrong[c])
        weights = weights * stats.betabinom(n, b.alpha[c], b.beta[c]).pmf(int(b.right[c]))
    return weights / weights.sum()


def final_counts(b, c, u, n_quadrature=N_QUADRATURE):
    """What the items of cell `c` may come to: (K, 1 + L) counts by kind, and probabilities (K,)."""
    a, d = b.alpha[c, u] + b.right[c], b.beta[c, u] + b.wrong[c]
    if b.errors is None:
        done, behind = np.array([b.right[c], b.wrong[c]]), np.ones(1)
    else:
        done = np.array([b.right[c], *b.errors.counts[c]])
        behind = b.errors.counts[c] + b.errors.prior[c]
    if b.population == "infinite":
        return _rates(a, d, behind, n_quadrature, int(b.size[c]))
    left = int(b.size[c] - b.right[c] - b.wrong[c])
    counts, p = [], []
    for right in range(left + 1):
        p_right = stats.betabinom(left, a, d).pmf(right)
        for kinds in compositions(left - right, behind.size):
            counts.append(done + np.array([right, *kinds]))
            p.append(p_right * dirichlet_multinomial(kinds, behind))
    return np.array(counts, float), np.array(p)


def compositions(n, n_parts):
    """All ways to write `n` as a sum of `n_parts` whole numbers >= 0."""
    if n_parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, n_parts - 1):
            yield (first, *rest)


def dirichlet_multinomial(kinds, alpha):
    """The probability of these counts of kinds."""
    n, total = sum(kinds), float(alpha.sum())
    log = math.lgamma(n + 1) + math.lgamma(total) - math.lgamma(n + total)
    for k, a in zip(kinds, alpha, strict=True):
        if k:
            if a == 0:
                return 0.0
            log += math.lgamma(k + a) - math.lgamma(a) - math.lgamma(k + 1)
    return math.exp(log)


def _rates(a, d, behind, n, size):
    """Points of the shares of a cell's kinds, times its size, with their quadrature weights."""
    axes = [_beta_points(a, d, n)]
    # a Dirichlet breaks its stick by Betas
    axes += [_beta_points(behind[k], behind[k + 1 :].sum(), n) for k in range(behind.size - 1)]
    counts, p = [], []
    for point in itertools.product(*(list(zip(*axis, strict=True)) for axis in axes)):
        right, rest = point[0][0], 1 - point[0][0]
        shares = [right]
        for x, _ in point[1:]:
            shares.append(rest * x)
            rest *= 1 - x
        counts.append(np.array([*shares, rest]) * size)
        p.append(math.prod(w for _, w in point))
    return np.array(counts), np.array(p)


def _beta_points(a, d, n):
    x, w = special.roots_jacobi(n, d - 1, a - 1)
    return (1 + x) / 2, w / w.sum()


def completions(b, g, n_quadrature=N_QUADRATURE):
    """All (counts of every cell (K, c, 1 + L), probabilities (K,)) of group `g`."""
    cells = np.flatnonzero(b.group == g)
    all_counts, all_p = [], []
    for u, weight in enumerate(component_weights(b, g)):
        parts = [final_counts(b, c, u, n_quadrature) for c in cells]
        at = np.indices([p.size for _, p in parts]).reshape(len(parts), -1)
        all_p.append(weight * np.prod([p[i] for (_, p), i in zip(parts, at, strict=True)], axis=0))
        all_counts.append(
            np.stack([counts[i] for (counts, _), i in zip(parts, at, strict=True)], axis=1)
        )
    return np.concatenate(all_counts), np.concatenate(all_p)


def values(b, g, counts):
    """(K,) values of group `g` under the belief's metric, (K, 1 + L) for the confusion matrix."""
    cells = np.flatnonzero(b.group == g)
    size, m = b.size[cells], b.metric
    n = size.sum()
    right = counts[:, :, 0]
    if m.kind == "accuracy":
        return right.sum(axis=1) / n
    if m.kind == "bias":
        return (m.score[cells] @ size - right.sum(axis=1)) / n
    if m.kind == "ece":
        gap = m.score[cells] * size - right
        bins = [np.abs(gap[:, m.unit[cells] == u].sum(axis=1)) for u in np.unique(m.unit[cells])]
        return np.sum(bins, axis=0) / n
    if m.kind == "cost":
        return (counts * m.values[cells]).sum(axis=(1, 2)) / n
    if m.kind == "confusion":
        return counts.sum(axis=1) / n
    is_positive = m.unit[cells] == 1
    hits, misses = right[:, is_positive].sum(axis=1), counts[:, ~is_positive, 1].sum(axis=1)
    predicted = size[is_positive].sum()
    of = {"recall": hits + misses, "precision": predicted, "f1": (predicted + hits + misses) / 2}
    below = np.broadcast_to(of[m.kind], hits.shape)
    return np.where(below > 0, hits / np.maximum(below, 1e-300), 1.0)


def exact_atoms(b, g, n_quadrature=N_QUADRATURE):
    """Values of group `g` and their probabilities; values may repeat."""
    counts, p = completions(b, g, n_quadrature)
    return values(b, g, counts), p


def mean_and_variance(b, g, n_quadrature=N_QUADRATURE):
    """Mean and variance of the value; of a confusion matrix its accuracy's, and all entries'."""
    x, p = exact_atoms(b, g, n_quadrature)
    mean = p @ x
    if x.ndim == 2:
        return mean[0], float((p @ (x - mean) ** 2).sum())
    return mean, float(p @ (x - mean) ** 2)


def next_label(b, c):
    """(1 + L,) probabilities of the outcomes of the next label in cell `c`."""
    weight = component_weights(b, b.group[c])
    a, d = b.alpha[c] + b.right[c], b.beta[c] + b.wrong[c]
    right = float(weight @ (a / (a + d)))
    behind = np.ones(1) if b.errors is None else b.errors.counts[c] + b.errors.prior[c]
    return np.array([right, *((1 - right) * behind / behind.sum())])


def expected_drop(b, c, n_quadrature=N_QUADRATURE):
    """Var - E[Var after one more label in cell `c`], over all outcomes of the label."""
    g = int(b.group[c])
    drop = mean_and_variance(b, g, n_quadrature)[1]
    for outcome, p in enumerate(next_label(b, c)):
        if p > 0:
            drop -= p * mean_and_variance(labelled(b, c, outcome), g, n_quadrature)[1]
    return drop


@st.composite
def beliefs(
    draw_one,
    kind,
    population=None,
    max_size=3,
    n_components=(1, 3),
    n_kinds=(1, 2),
    n_groups=(1, 2),
):
    """One or two groups of one to three cells with labels, for any metric."""
    population = population or draw_one(st.sampled_from(["finite", "infinite"]))
    n_components = draw_one(st.sampled_from(n_components))
    has_errors = kind in ("cost", "confusion")
    n_kinds = draw_one(st.sampled_from(n_kinds))
    cells = [draw_one(st.integers(1, 3)) for _ in range(draw_one(st.sampled_from(n_groups)))]
    group = np.repeat(np.arange(len(cells)) * 2, cells)  # an empty group between
    size, right, errors = [], [], []
    for _ in group:
        n = draw_one(st.integers(1, max_size))
        done = draw_one(st.integers(0, n))
        r = draw_one(st.integers(0, done))
        kinds = draw_one(st.sampled_from(list(compositions(done - r, n_kinds))))
        size.append(n)
        right.append(r)
        errors.append(kinds)
    errors = np.array(errors)
    rng = np.random.default_rng(draw_one(st.integers(0, 2**32)))
    shape = (group.size, n_components)
    mixture = rng.dirichlet(np.full(n_components, 3.0))
    metric = Metric(
        kind,
        score=rng.random(group.size) if kind in ("bias", "ece") else np.zeros(0),
        unit=_units(rng, group, kind),
        values=rng.normal(1, 3, (group.size, 1 + n_kinds)) if kind == "cost" else np.zeros(0),
    )
    alpha, beta = rng.uniform(0.3, 6, (2, *shape))
    if draw_one(st.booleans()):
        beta = 6.5 - alpha  # the same strength at every component, as the empirical prior has it
    return Belief(
        group, np.array(size), np.array(right), errors.sum(axis=1), alpha, beta,
        int(group[-1]) + 1, population, mixture, metric,
        Errors(errors, rng.uniform(0.3, 3, errors.shape)) if has_errors else None,
    )  # fmt: skip


def _units(rng, group, kind):
    if kind not in ("ece", *RATIOS):
        return np.zeros(0, np.int64)
    units = rng.integers(0, 2, group.size)
    return units[np.lexsort((units, group))]


def made(
    rng, kind, largest=3, n_cells=(1, 3), n_components=(1, 3), population="finite", n_groups=1
):
    """A belief as from `beliefs`, of cells with up to `largest` items, half of them labelled."""
    sizes = rng.integers(n_cells[0], n_cells[1] + 1, n_groups)
    group = np.repeat(np.arange(n_groups), sizes)
    shape = (group.size, int(rng.choice(n_components)))
    size = rng.integers(max(1, largest // 2), largest + 1, group.size)
    done = rng.integers(0, np.maximum(1, size // 2))
    right = rng.integers(0, done + 1)
    errors = rng.multinomial(done - right, [0.5, 0.5])
    has_errors = kind in ("cost", "confusion")
    metric = Metric(
        kind,
        score=rng.random(group.size) if kind in ("bias", "ece") else np.zeros(0),
        unit=_both_units(group) if kind in RATIOS else _units(rng, group, kind),
        values=rng.normal(1, 3, (group.size, 3)) if kind == "cost" else np.zeros(0),
    )
    return Belief(
        group, size, right, done - right, rng.uniform(0.5, 6, shape), rng.uniform(0.5, 6, shape),
        n_groups, population, rng.dirichlet(np.full(shape[1], 3.0)), metric,
        Errors(errors, rng.uniform(0.3, 3, errors.shape)) if has_errors else None,
    )  # fmt: skip


def _both_units(group):
    """The last cell of every group is predicted positive."""
    return np.diff(group, append=group[-1] + 1).astype(np.int64)
