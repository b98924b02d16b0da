"""People whose frequencies are known, and predictors of them, for tests of what votes tell."""

import numpy as np

from worker.core.soft_labels.design import Design, design_of, expected_measure
from worker.core.soft_labels.known import DistanceMeasure, Known, VoteCounts, known


def l2(human, predicted):
    """The normalised distance of human (n, K) and predicted (n, 1, K)."""
    return np.sqrt(((human[:, None, :] - predicted) ** 2).sum(axis=2) / 2)


L2 = DistanceMeasure(l2)


def subjective(n, k=4, seed=0, noise=0.7, spread=1.5):
    """Broad frequencies, and a predictor that is off by noise of the logits: both (n, K)."""
    rng = np.random.default_rng(seed)
    human = rng.dirichlet(np.full(k, spread), n)
    logits = np.log(human + 1e-3) + rng.normal(0, noise, (n, k))
    predicted = np.exp(logits)
    return human, predicted / predicted.sum(axis=1, keepdims=True)


def crisp(n, k=4, seed=0):
    """Most people agree on most items, and the predictor is mostly right, and too sure."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n) < 0.25
    human = rng.dirichlet(np.full(k, 1.0), n) * np.where(hard, 0.6, 0.06)[:, None]
    human[np.arange(n), rng.integers(k, size=n)] += 1 - human.sum(axis=1)
    logits = 3 * np.log(human + 0.02) + rng.normal(0, np.where(hard, 3.0, 1.5)[:, None], (n, k))
    predicted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return human, predicted / predicted.sum(axis=1, keepdims=True)


class Pool:
    """Items in cells: groups by predicted class, strata by score, in random order in each cell."""

    def __init__(self, human, predicted, strata=6, seed=0):
        rng = np.random.default_rng(seed)
        first, score = predicted.argmax(axis=1), predicted.max(axis=1)
        rows, cells, groups = [], [], []
        for g in range(predicted.shape[1]):
            own = np.flatnonzero(first == g)
            for part in np.array_split(own[np.argsort(score[own], kind="stable")], strata):
                if part.size:
                    rows.append(rng.permutation(part))
                    cells.append(np.full(part.size, len(groups)))
                    groups.append(g)
        order = np.concatenate(rows)
        self.human, self.predicted = human[order], predicted[order]
        self.cell, self.group = np.concatenate(cells), np.array(groups)
        self.size = np.bincount(self.cell)
        self.start = np.cumsum(self.size) - self.size
        self.n_groups = predicted.shape[1]

    def design(self, distance=L2) -> Design:
        """The cells before the first vote."""

        def share(human, predicted):
            return distance.of(human, predicted) / distance.highest

        expected = expected_measure(self.predicted, self.start, self.size, share)
        return design_of(expected, self.group, self.size)

    def truth(self, distance=L2):
        """(N,) the measure of every item against all people."""
        return distance.of(self.human, self.predicted[:, None, :])[:, 0]

    def vote_counts(self, rows, votes, rng) -> VoteCounts:
        """So many votes on each of some items."""
        rows = np.sort(rows)
        counts = rng.multinomial(votes, self.human[rows])
        return VoteCounts(counts, self.predicted[rows], self.cell[rows])

    def known(self, vote_counts, distance=L2, design=None) -> Known:
        """What the votes tell."""
        design = design or self.design(distance)
        return known(vote_counts, design, self.group, self.n_groups, distance, (1,))

    def overall(self, told):
        """(D,) draws of the mean over all items."""
        share = np.bincount(self.group, weights=self.size, minlength=self.n_groups)
        return np.nan_to_num(told.values) @ (share / share.sum())


def narrowest(draws, level):
    """The narrowest interval that holds the level, by looking at all."""
    x = np.sort(draws)
    n = int(np.ceil(level * x.size))
    at = (x[n - 1 :] - x[: x.size - n + 1]).argmin()
    return x[at], x[at + n - 1]


def replay(pool, design, n, votes, seed, *, by_drops=True, batch=40, distance=L2):
    """Ask for votes as an assessment does, in batches; return draws of the mean over all items."""
    rng = np.random.default_rng([11, seed])
    taken = np.zeros_like(pool.size)
    order = [s + rng.permutation(m) for s, m in zip(pool.start, pool.size, strict=True)]
    rows, counts = np.zeros(0, np.int64), np.zeros((0, pool.human.shape[1]), np.int64)
    told = pool.known(VoteCounts(counts, pool.predicted[rows], pool.cell[rows]), distance, design)
    while rows.size < n:
        new, pending = [], np.zeros_like(taken)
        for _ in range(min(batch, n - rows.size)):
            left = pool.size - taken
            if not by_drops or rng.random() < 0.1:
                cell = int(rng.choice(left.size, p=left / left.sum()))
            else:
                cell = int(np.where(left > 0, told.drops(pending), -1).argmax())
            new.append(order[cell][taken[cell]])
            taken[cell] += 1
            pending[cell] += 1
        rows = np.concatenate([rows, new]).astype(np.int64)
        counts = np.concatenate([counts, rng.multinomial(votes, pool.human[new])])
        told = pool.known(
            VoteCounts(counts, pool.predicted[rows], pool.cell[rows]), distance, design
        )
    return pool.overall(told)
