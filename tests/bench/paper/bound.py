"""What an oracle could do about the error of a pool's ECE at the N of Table 5, beside IPrior+TS."""

from __future__ import annotations

import numpy as np

from tests.bench.paper import accuracy, measures
from tests.bench.paper.data import Floats, Groups, Ints, Pool, by_score, grouped, load
from tests.bench.paper.section import Section, Size, number, shown

POOLS, AT = ("cifar100", "svhn", "20newsgroups", "imagenet"), (20, 50, 100)
STRATA, FACTOR, KAPPAS = 40, 2.0, 7
_TELL = (
    "The mean of |estimate / ECE − 1|: of IPrior+TS in percent (bias, standard deviation), and of "
    "oracles over it. They know what no method can: in which direction each of 40 score strata is "
    "off, and its accuracy, to allocate labels by (Neyman). *Unbiased*: the least error of any "
    "unbiased estimate from strata. *Shrunk*: the Bayes risk of the best estimate if it is also "
    "known that the ECE is at most twice and at least half of the truth. *Over the family*: the "
    "same over what IPrior+TS makes on average on the pools of that family; on these four its bias "
    "happens to help."
)


def bound(size: Size) -> Section:
    """A row for each pool and N, and their geometric mean."""
    rows, ratios = [], []
    for name in POOLS:
        pool = load(name)
        groups = by_score(pool)
        ece, errors = _errors(groups, size.runs)
        family = _on_family(pool, groups, size.runs)
        for n, error, theirs in zip(AT, errors.T, family, strict=True):
            made = float(np.abs(error).mean())
            deviation = _neyman(pool, n) / ece
            least = _shrunk(deviation)
            row = np.sqrt(2 / np.pi) * deviation / made, least / made, least / theirs
            told = f"{100 * made:.1f} ({100 * error.mean():+.0f}, {100 * error.std():.0f})"
            rows.append((shown(name), str(n), told, *(number(float(r), 2) for r in row)))
            ratios.append(row)
    means = np.exp(np.log(ratios).mean(axis=0))
    above = (np.array(ratios) > 1).sum(axis=0)
    rows.append(("geometric mean", "", "", *(number(float(m), 2) for m in means)))
    rows.append(("rows above 1", "", "", *(str(n) for n in above.tolist())))
    return Section(
        "The error of an ECE: what could be reached",
        _TELL,
        ("pool", "N", "IPrior+TS", "unbiased", "shrunk", "over the family"),
        rows,
    )


def _errors(groups: Groups, n_runs: int) -> tuple[float, Floats]:
    """The ECE of the groups, and (R, T) relative signed errors of IPrior+TS."""
    ece = float(measures.ece(groups.accuracy[None], groups)[0])
    model = accuracy.Betas(groups, accuracy.prior_of(groups, "IPrior"), n_runs, "estimate")
    errors = [
        measures.ece(model.mean(), groups) / ece - 1
        for n in accuracy.labels(model, "IPrior+TS", n_runs, max(AT), 1)
        if n in AT
    ]
    return ece, np.stack(errors, axis=1)


def _strata(pool: Pool) -> tuple[Floats, list[Ints], list[Floats]]:
    """(N,) whether each item is right; rows and scores of strata of equal mass."""
    right = (pool.predicted == pool.label).astype(np.float64)
    parts = np.array_split(np.argsort(pool.score, kind="stable"), STRATA)
    return right, parts, [pool.score[part] for part in parts]


def _neyman(pool: Pool, n: int) -> float:
    """The least standard error of a stratified unbiased estimate of a linear ECE from n labels."""
    right, parts, _ = _strata(pool)
    weight = np.array([part.size for part in parts]) / right.size
    rate = np.array([(right[part].sum() + 0.5) / (part.size + 1) for part in parts])
    return float(weight @ np.sqrt(rate * (1 - rate)) / np.sqrt(n))


def _on_family(pool: Pool, own: Groups, n_runs: int) -> Floats:
    """(T,) mean error of IPrior+TS on pools whose gaps are kappa times the pool's."""
    rng, errors = np.random.default_rng(0), []
    right, parts, scores = _strata(pool)
    for kappa in np.exp(np.linspace(-np.log(FACTOR), np.log(FACTOR), KAPPAS)):
        drawn = np.zeros(right.size, bool)
        for part, score in zip(parts, scores, strict=True):
            rate = np.clip(score.mean() - kappa * (score.mean() - right[part].mean()), 0, 1)
            drawn[rng.permutation(part)[: round(rate * part.size)]] = True
        groups = grouped(own.of, own.n, drawn, pool.score)
        errors.append(np.abs(_errors(groups, n_runs)[1]).mean(axis=0))
    means: Floats = np.mean(errors, axis=0)
    return means


def _shrunk(sd: float, n: int = 401) -> float:
    """Least mean of |estimate / kappa − 1| where X ~ N(kappa, sd²) is seen, log kappa uniform."""
    kappa = np.exp(np.linspace(-np.log(FACTOR), np.log(FACTOR), n))
    x = np.linspace(1 / FACTOR - 6 * sd, FACTOR + 6 * sd, 2001)
    distribution = np.exp(-(((x[:, None] - kappa) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi) * n)
    # the best estimate is the median under these weights
    below = np.cumsum(distribution / kappa, axis=1)
    best = kappa[np.minimum((below < below[:, -1:] / 2).sum(axis=1), n - 1)]
    return float((distribution * np.abs(best[:, None] / kappa - 1)).sum() * (x[1] - x[0]))
