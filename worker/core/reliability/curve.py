"""The smooth calibration curve: P(right | score) of the pool, with its band, and the ECE from it.

What the pool's curve *is* does not depend on any model: the mean of outcome minus score among the
items of like score, with weights that fall off smoothly. What is not labelled yet is completed by
draws of `reliability.logistic`, so that the curve becomes the true one as the labels become all.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.marginals import narrowest
from worker.core.reliability.logistic import Design, Labels, design, draw_fits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_STEPS = 128  # places at which the curve is worked out; fewer where no item has such a score
BANDWIDTH = 0.05  # standard deviation of the weights, in places: about ten windows in all
_BLOCK = 1 << 21  # numbers held at once while drawing
_MOST_NUMBERS = 1 << 26  # drawn in all, as long as a hundred draws are left
_MOST_WORLDS = 8  # fitted: each takes as long as a pool without doubt
_FEW = 9.0  # variance of a sum: from there on both ends are three standard deviations away
_MOST_BLANK = 256  # groups without labels that have a level each


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The pool's curve at T scores, ascending, and the ECE that follows from it.

    score: (T,) mean score of the items there. items: (T,) how many they are, >= 1.
    mean, low, high: (T,) posterior mean and 95% band of the curve, point by point.
    ece: posterior mean and narrowest 95% interval of sum_i |curve(s_i) - s_i| / N.
    """

    score: Floats
    items: Ints
    mean: Floats
    low: Floats
    high: Floats
    ece: tuple[float, float, float]


class _Part(NamedTuple):
    """Items of one sum, place and group without labels: (P,) each, by the sums, which ascend."""

    sums: Ints
    place: Ints
    group: Ints
    items: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ScoreGrid:
    """The pool by score: of_item (N,) the place 0..T-1 of every item; the rest is by place.

    at: (T,) in [0, 1], half the score and half its rank. smoother: (T, T), which takes sums of
    outcome minus score at the places to the curve minus the score.
    """

    of_item: Ints
    at: Floats
    score: Floats
    logit: Floats
    items: Ints
    smoother: Floats


def score_grid(score: Floats, bounds: Floats | None = None) -> ScoreGrid:
    """Put the items of a pool in places by score, and say how the curve is smoothed.

    Where few items lie the score tells how near two of them are, where many lie their rank does:
    the place of an item is half its score and half its rank (the middle one of equal scores) among
    the pool's N items. In ranks alone the scores below .9 of a sure classifier would all be one;
    in scores alone nine tenths of its items would.

    Args:
        score: (N,) in [0, 1].
        bounds: scores at which a place ends, ascending; such as those of bins that are made of
            places.

    Source:
        Blasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing" (ICLR
        2024), who smooth outcome minus score too, so that a calibrated classifier's curve is not
        bent by the smoothing. They smooth over scores with a bandwidth that is the error itself;
        here it is fixed, so that the curve of the whole pool is a number that labels reveal.
    """
    values, code, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - count / 2) / score.size
    at = (values + rank) / 2
    step = np.minimum((at * N_STEPS).astype(np.int64), N_STEPS - 1)
    if bounds is not None:  # both ascend with the score
        step += np.searchsorted(bounds, values, side="right")
    filled, of_value = np.unique(step, return_inverse=True)
    of_item = of_value[code]
    items = np.bincount(of_item, minlength=filled.size)

    def means(numbers: Floats) -> Floats:
        by_place: Floats = np.bincount(of_item, weights=numbers[code]) / items
        return by_place

    middle, logit = means(at), means(special.logit(np.clip(values, 1e-4, 1 - 1e-4)))
    return ScoreGrid(of_item, middle, means(values), logit, items, _smoother(middle, items))


def _smoother(at: Floats, items: Ints) -> Floats:
    """(T, T) local lines: at the ends a mean would take all its items from one side."""
    away = at - at[:, None]
    kernel = np.exp(-((away / BANDWIDTH) ** 2) / 2)
    s0, s1, s2 = ((kernel * away**k) @ items for k in range(3))
    # where hardly more than one place is near there is no line to be drawn
    s2 = s2 + 1e-4 * BANDWIDTH**2 * s0
    lines: Floats = kernel * (s2[:, None] - s1[:, None] * away) / (s0 * s2 - s1**2)[:, None]
    return lines


def true_curve(at: ScoreGrid, right: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The curve (T,) and the ECE of a pool whose items are all labelled, right or not (N,)."""
    there = np.bincount(at.of_item, weights=right, minlength=at.items.size)
    curve = _curves(at, there.astype(np.float64))
    return curve, float(np.abs(curve - at.score) @ at.items / at.items.sum())


def right_answers(
    at: ScoreGrid,
    group: Ints,
    rows: Ints,
    right: NDArray[np.bool_],
    rng: np.random.Generator,
    n_draws: int = 400,
    by: Ints | None = None,
    tells: NDArray[np.bool_] | None = None,
) -> Floats:
    """(n, T) posterior draws of the right answers at every place, once all items are labelled.

    Labels may be chosen by group and score in any way, but not by outcome: the model has a level
    of its own for every group, and items count by the pool, not by their labels.

    Args:
        at: the places of the pool's N items. group: (N,) of each item, >= 0.
        rows: (n,) the labelled items. right: (W, n) whether each is right, in W equally likely
            worlds; one, if nothing is in doubt. At most 8 of them are looked at.
        n_draws: a quantile's standard error is about a 30th of the band's width at 400.
        by: (N,) in 0..S-1: the answers are summed by it instead, (n, S).
        tells: (n,) whether a labelled item tells of the others; None if all do.
    """
    by = at.of_item if by is None else by
    n_sums = int(by.max()) + 1
    left = np.ones(group.size)
    left[rows] = 0
    told = rows if tells is None else rows[tells]
    group, n_groups = _lumped(at, group, told)
    about = design(at.at, at.logit, at.items, group_logits(at, group, n_groups))
    code = group + n_groups * at.of_item
    n_codes = n_groups * at.items.size
    open_codes, of_open = np.unique((code + n_codes * by)[left > 0], return_inverse=True)
    of_sum, own_code = np.divmod(open_codes, n_codes)
    open_place, open_group = np.divmod(own_code, n_groups)
    n_open = np.bincount(of_open).astype(np.float64)
    part = _Part(of_sum, open_place, open_group, n_open)
    codes, of = np.unique(code[told], return_inverse=True)
    place, own = np.divmod(codes, n_groups)
    items = np.bincount(of, minlength=codes.size).astype(np.float64)
    worlds = right[np.linspace(0, len(right) - 1, min(len(right), _MOST_WORLDS)).astype(int)]
    n_draws = min(n_draws, max(100, _MOST_NUMBERS // max(1, part.place.size)))
    drawn = []
    for w, world in enumerate(worlds):
        share = n_draws * (w + 1) // len(worlds) - n_draws * w // len(worlds)
        seen = world if tells is None else world[tells]
        known = np.bincount(of, weights=seen, minlength=codes.size).astype(np.float64)
        labels = Labels(place, own, known, items)
        there = np.bincount(by[rows], weights=world, minlength=n_sums)
        drawn.append(_completed(about, labels, part, n_sums, rng, share) + there)
    return np.concatenate(drawn)


def curve_of(at: ScoreGrid, right: Floats) -> Curve:
    """The pool's curve and ECE, of draws (n, T) of the right answers at every place."""
    curve = _curves(at, right)
    low, high = np.quantile(curve, [0.025, 0.975], axis=0)
    ece = np.abs(curve - at.score) @ at.items / at.items.sum()
    return Curve(at.score, at.items, curve.mean(axis=0), low, high, narrowest(ece))


def _lumped(at: ScoreGrid, group: Ints, rows: Ints) -> tuple[Ints, int]:
    """The groups (N,), and how many there are; of many, those without labels share levels.

    A thousand levels that nothing is known of are as good as 256 for a sum over all of them.
    """
    has_label = np.zeros(int(group.max(initial=0)) + 1, dtype=bool)
    has_label[group[rows]] = True
    blank = np.flatnonzero(~has_label)
    code = np.cumsum(has_label) - 1
    n_labelled = int(has_label.sum())
    if blank.size > _MOST_BLANK:
        by_logit = np.argsort(group_logits(at, group, has_label.size)[blank], kind="stable")
        blank = blank[by_logit]
    n_blank = min(blank.size, _MOST_BLANK)
    code[blank] = n_labelled + np.arange(blank.size) * n_blank // max(1, blank.size)
    return code[group], n_labelled + n_blank


def group_logits(at: ScoreGrid, group: Ints, n_groups: int) -> Floats:
    """(G,) mean logit score of every group, less that of the pool; 0 for groups without items."""
    size = np.bincount(group, minlength=n_groups)
    logit = at.logit[at.of_item]
    mean = np.bincount(group, weights=logit, minlength=n_groups) / np.maximum(size, 1)
    return np.where(size > 0, mean - logit.mean(), 0.0)


def _curves(at: ScoreGrid, right: Floats) -> Floats:
    """(..., T) the curve, of sums (..., T) of right answers at the places."""
    curve: Floats = np.clip(at.score + (right - at.score * at.items) @ at.smoother.T, 0, 1)
    return curve


def _completed(
    about: Design,
    labels: Labels,
    part: _Part,
    n_sums: int,
    rng: np.random.Generator,
    n_draws: int,
) -> Floats:
    """(n, S) right answers among the items without labels.

    The sum over many items is drawn as normal, with the mean and the variance that it has: a
    binomial for each of the parts would take ten times as long. Over few, where a normal would
    leave what is possible and lose its mean when it is held back, it is one binomial.
    """
    total = np.zeros((n_draws, n_sums))
    if not part.place.size:
        return total
    filled, begin = np.unique(part.sums, return_index=True)
    done = 0
    for fits in draw_fits(about, labels, rng, n_draws, max(1, _BLOCK // part.place.size)):
        chance = fits.chances(about, part.place, part.group)
        mean = np.add.reduceat(chance * part.items, begin, axis=1)
        spread = np.add.reduceat(chance * (1 - chance) * part.items, begin, axis=1)
        most = np.add.reduceat(part.items, begin)
        drawn = mean + np.sqrt(spread) * rng.standard_normal(mean.shape)
        few = rng.binomial(most.astype(np.int64), np.minimum(mean / most, 1.0))
        drawn = np.where(spread < _FEW, few, np.clip(drawn, 0, most))
        total[done : done + len(chance), filled] = drawn
        done += len(chance)
    return total
