"""What is known of the pool's cells before any label: scores, opinions, and a judge's word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.core.prior.hyperparameters import Covariate, Scores
from worker.pool import Pool

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A classifier without scores is taken for one that is .88 sure of every item, as published ones are
# on average: so its accuracy is expected between .3 and .99, and most of it is learnt.
_WITHOUT_SCORES = 2.0
# What an opinion says of a cell's accuracy, by its own standard deviation: nothing is believed of
# it before there are labels. In fits to all labels of twelve pairs of published models the weights
# were .7 to 1.7; most things that are known of items tell less, and some nearly all. The scale is
# this over the number of terms: so seven that tell nothing together have as little to say as one.
# Source: Gelman, Jakulin, Pittau & Su, "A weakly informative default prior distribution for
# logistic and other regression models" (2008): Cauchy, of scale 1.25 on this axis.
_OPINIONS = 1.0
# Items that are predicted positive may be right more or less often than the others of their score.
_POSITIVE, _POSITIVE_SLOPE = 3.0, 1.0
# What fools a judge goes with the topic: groups of outputs differ by more than a classifier's do
# beyond its scores. With the usual (-1.5, .8) intervals of samples/answers held in .86 at 100 to
# 300 labels, so in .93.
_OF_TOPICS = -0.7, 0.5
# Where positive items are rare, so are those that are missed however sure the classifier is: the
# lapse is what it is elsewhere where a tenth of the items is positive, and in proportion below.
_MISSED = 10.0


def scores(pool: Pool) -> Scores:
    """What the classifier's scores and the opinions say of the cells.

    The scores of all are the same if the classifier gives none.
    """
    told = [x for one in pool.opinions for x in one.x]
    scale = _OPINIONS / max(1, len(told))
    told += [] if pool.all_sure is None else [pool.all_sure]
    more = tuple(Covariate(x, 0.0, scale, is_heavy=True) for x in told)
    size, place = (pool.cell_size, pool.cell_group) if more else (None, None)
    lapse: Floats = np.ones(1)
    second, log_tau = None, None
    if _has_two_effects(pool):
        second = is_positive = pool.cell_unit == 1
        more += (Covariate(is_positive.astype(np.float64), 0.0, _POSITIVE),)
        if pool.has_scores:
            along = np.where(is_positive, pool.cell_mean_logit, 0.0)
            more += (Covariate(along, 0.0, _POSITIVE_SLOPE),)
    if pool.is_judged:
        size, place, log_tau = pool.cell_size, effect_groups(pool), _OF_TOPICS
    if pool.positive_share is not None:
        lapse = np.where(is_positive, 1.0, np.fmin(_MISSED * pool.positive_share, 1.0))
    if not pool.has_scores:
        flat = np.full(pool.n_cells, _WITHOUT_SCORES)
        return Scores(flat, np.zeros(pool.n_cells), more, size, place, lapse, second, log_tau)
    filled = pool.group_size > 0
    centre = np.average(pool.group_mean_logit[filled], weights=pool.group_size[filled])
    above = (pool.group_mean_logit - centre)[pool.cell_group]
    return Scores(pool.cell_mean_logit, above, more, size, place, lapse, second, log_tau)


def effect_groups(pool: Pool) -> Ints:
    """(C,) ascending: which cells have an effect in common; two a group where `Scores.second` is.

    What is wrong of a group's items that are predicted positive, and of others, is off each by
    itself: under one effect for both the pool's F1 held in .77 of 34 rows. So are outputs that a
    judge calls right, and others.
    """
    if not _has_two_effects(pool):
        return pool.cell_group
    return 2 * pool.cell_group + pool.cell_unit


def effect_levels(pool: Pool) -> Ints:
    """(F, G) or (F, 2 G) the level of every effect in the factors that groups have in common."""
    assert pool.group_levels is not None, "groups have factors in common"
    if not _has_two_effects(pool):
        return pool.group_levels
    each: Ints = 2 * pool.group_levels[:, :, None] + np.arange(2)
    return each.reshape(len(each), -1)


def _has_two_effects(pool: Pool) -> bool:
    return pool.positive_share is not None or pool.is_judged
