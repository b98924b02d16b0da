"""Mean and variance of every group's value, and what one more label in a cell does to the latter.

All are closed forms. One label changes one group, so that a simulation, and a turn that claims
several items, work out anew what belongs to that group only.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Cells, cells_of_groups, filled_groups, group_size
from worker.core.posterior.calibration import calibration_error
from worker.core.posterior.class_lines import (
    accuracies_of,
    line_of_classes,
    moments_of_classes,
)
from worker.core.posterior.confusion import confusion
from worker.core.posterior.differences import differences
from worker.core.posterior.linear import Costs, line_of, linear, linear_drop
from worker.core.posterior.parts import Part, centred_means, mixed, part_of, parts_of
from worker.core.posterior.slopes import Likeliest, likeliest, moved
from worker.core.soft_labels.known import Known

Floats = NDArray[np.float64]

_AT_ONCE = 1 << 13  # cells
_MOVED = ("moved", "rate_moved")


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What is expected of the groups and of one more label.

    mean, variance: (G,) of every group's value; nan for groups without items. Of recall,
        precision and F1 those of their linear form, to choose items by; `summary` has its own.
    drop: (C,) expected drop of the variance of its group's value by one label in the cell; 0 for
        cells without unlabelled items. If the metric is pooled, of the groups' weighted sum.
    rate: (C,) probability that the next label in the cell is a right answer.
    weight: (G, U) posterior probabilities of the components; the prior's for groups without items.
    given: (2, G, U) mean and variance of every group's value, given each component.
    between: (G,) the part of the variance that lies between the components.
    own: (G,) the variance if what groups share were known (`Fit.at_mean_tau`); all of it if nothing
        is shared, or there is one group.
    moved: (G, R) how far the mean moves with each of what groups share; 0 of one group.
    rate_moved: (C, R) likewise the rate.
    total: mean and variance of the groups' sum, weighted by their shares; if the metric is pooled.
    to_come: (3, G, U) first, second and spread of `posterior.differences`; of others none.
    of_classes: (C, K) `drop` of the variance of each class's ratio, where the groups are classes
        and a label tells of all of them; else none.
    """

    mean: Floats
    variance: Floats
    drop: Floats
    rate: Floats
    weight: Floats
    given: Floats
    between: Floats
    own: Floats
    moved: Floats
    rate_moved: Floats
    total: tuple[float, float] | None = None
    to_come: Floats = field(default_factory=lambda: np.zeros(0))
    of_classes: Floats = field(default_factory=lambda: np.zeros(0))


def moments(b: Belief) -> Moments:
    """Work out, once a belief, what is expected of all groups.

    The expected drop of a group's variance by a label y is Var_y(E[V | y]): the variance of its
    mean after that label. Component weights, rate and kinds of errors all move with y.

    Source:
        Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1, know it for one Beta (or Dirichlet) a
        group and an infinite population, at a drawn rate.
    """
    if "moments" not in b._memo:
        if b.soft_labels is not None:
            b._memo["moments"] = _of_votes(b, b.soft_labels)
            return b._memo["moments"]  # type: ignore[no-any-return]
        if b.parts:
            b._memo["moments"] = _side_by_side([moments(part) for part in b.parts])
            return b._memo["moments"]  # type: ignore[no-any-return]
        if b.metric.classes == "each":
            known = moments_of_classes(b, moments(accuracies_of(b)))
        else:
            base: tuple[Moments, tuple[int, ...]] | None = b._memo.pop("stale_moments", None)
            known = _fresh(b) if base is None else _refreshed(b, *base)
        b._memo["moments"] = _in_doubt(b, known) if b.variants else known
    worked_out: Moments = b._memo["moments"]
    return worked_out


def _of_votes(b: Belief, measured: Known) -> Moments:
    """Of a measure; here `rate` is the share of items for which most people agree with it."""
    values, share = measured.values, group_size(b) / max(1, int(group_size(b).sum()))
    total = np.nan_to_num(values) @ share
    mean, variance = values.mean(axis=0), values.var(axis=0)
    return Moments(
        mean=mean,
        variance=variance,
        drop=measured.drops(),
        rate=(b.right + 1) / (b.right + b.wrong + 2),
        weight=np.ones((b.n_groups, 1)),
        given=np.stack([mean, variance])[:, :, None],
        between=np.zeros(b.n_groups),
        own=variance,
        moved=np.zeros((b.n_groups, 0)),
        rate_moved=np.zeros((b.group.size, 0)),
        total=(float(total.mean()), float(total.var())),
    )


def _side_by_side(of: list[Moments]) -> Moments:
    """Those of beliefs that lie end to end and share nothing with one another."""

    def all_of(name: str) -> Floats:
        return np.concatenate([getattr(one, name) for one in of])

    moved, rate_moved = (
        scipy.linalg.block_diag(*(getattr(one, name) for one in of)) for name in _MOVED
    )
    return Moments(
        all_of("mean"), all_of("variance"), all_of("drop"), all_of("rate"), all_of("weight"),
        np.concatenate([one.given for one in of], axis=1), all_of("between"), all_of("own"), moved,
        rate_moved,
    )  # fmt: skip


def _in_doubt(b: Belief, own: Moments) -> Moments:
    """Means and variances over all tallies; what one more label does, by the likeliest one."""
    of = [moments(variant) for variant in b.variants]
    mean = np.mean([m.mean for m in of], axis=0)
    variance = np.mean([m.variance + (m.mean - mean) ** 2 for m in of], axis=0)
    total = own.total
    if total is not None:
        sums = np.array([m.total for m in of if m.total is not None])
        total = float(sums[:, 0].mean()), float(sums[:, 1].mean() + sums[:, 0].var())
    return replace(own, mean=mean, variance=variance, total=total)


def _fresh(b: Belief) -> Moments:
    g, c = b.n_groups, b.group.size
    blank = np.full(g, np.nan)
    r = 0 if b.shared is None else b.shared.slopes.of_tau.size
    u = b.mixture.shape[-1]
    to_come = np.zeros((3, g, u) if b.metric.kind == "difference" else 0)
    of_all = Moments(
        blank, blank.copy(), np.zeros(c), np.zeros(c), _mixtures(b), np.zeros((2, g, u)),
        np.zeros(g), np.zeros(g), np.zeros((g, r)), np.zeros((c, r)), None, to_come,
    )  # fmt: skip
    filled = filled_groups(b)
    if b.metric.pooled and filled.size:
        return replace(of_all, total=_work_out(b, of_all, filled))
    # by blocks: of every cell there are some tens of numbers for each component
    for some in np.array_split(filled, 1 + c // _AT_ONCE):
        if some.size:
            _work_out(b, of_all, some)
    return of_all


def _mixtures(b: Belief) -> Floats:
    """(G, U) prior probabilities of every group's components."""
    return np.broadcast_to(b.mixture, (b.n_groups, b.mixture.shape[-1])).copy()


def _refreshed(b: Belief, old: Moments, groups: tuple[int, ...]) -> Moments:
    new = Moments(
        old.mean.copy(), old.variance.copy(), old.drop.copy(), old.rate.copy(), old.weight.copy(),
        old.given.copy(), old.between.copy(), old.own.copy(), old.moved.copy(),
        old.rate_moved.copy(), None, old.to_come.copy(),
    )  # fmt: skip
    if groups:
        _work_out(b, new, np.array(groups))
    return new


def _work_out(b: Belief, into: Moments, groups: NDArray[np.intp]) -> tuple[float, float] | None:
    """Fill in what belongs to some groups; return mean and variance of the pooled sum, if any."""
    cells = cells_of_groups(b, groups)
    if b.metric.kind == "difference":
        found = differences(b, groups, cells)
        expected, between, within = mixed(found.weight, found.mean, found.variance)
        into.mean[groups], into.variance[groups] = expected, between + within
        into.weight[groups], into.between[groups] = found.weight, between
        into.own[groups] = between + within
        into.given[:, groups] = found.mean, found.variance
        into.rate[cells], into.drop[cells] = found.rate, found.drop
        into.to_come[:, groups] = found.first, found.second, found.spread
        return None
    total = own = None
    if b.shared is None or b.n_groups == 1:  # alone, a group moves with no other
        part = part_of(b, groups, cells)
    else:
        to = likeliest(b.shared.slopes, cells)
        part, other = parts_of(b, groups, cells, to.alpha, to.beta)
        into.moved[groups], into.rate_moved[cells], own = _moved(b, to, other, cells)
    rate = part.rho[:, 0] if b.mixture.size == 1 else np.vecdot(part.weight[part.of], part.rho)
    into.rate[cells] = rate
    into.weight[groups] = part.weight
    mean, variance, worth, costs = _given_components(b, part, cells)
    if b.metric.kind == "ece":
        centred = centred_means(part, mean)
        if b.metric.pooled:
            share = (part.size / group_size(b).sum())[:, None]
            sums, spreads = (share * mean).sum(axis=0), (share**2 * variance).sum(axis=0)
            weight = part.weight[0]
            in_all = float(weight @ sums)
            total = in_all, float(weight @ (spreads + (sums - in_all) ** 2))
            worth, centred = worth * share[part.of], np.tile(sums - in_all, (len(worth), 1))
        drop = linear_drop(part, worth, None, centred, rate)
    elif b.metric.kind == "confusion":
        variance, drop = confusion(b, part, cells, rate)
    else:
        drop = linear_drop(part, worth, costs, centred_means(part, mean), rate)
    expected, between, within = mixed(part.weight, mean, variance)
    into.mean[groups], into.variance[groups] = expected, between + within
    into.between[groups], into.given[:, groups] = between, (mean, variance)
    into.own[groups] = between + within if own is None else own
    into.drop[cells] = np.where(part.left[:, 0] > 0, drop, 0.0)
    return total


def _given_components(
    b: Belief, part: Part, cells: Cells
) -> tuple[Floats, Floats, Floats, Costs | None]:
    """Mean and variance (g, U) of the groups' values, and what a right answer is worth (c, 1 or U).

    Of a confusion matrix those of the accuracy.
    """
    if b.metric.kind == "ece":
        return *calibration_error(b, part, cells), None
    if b.metric.kind == "confusion":
        ones = np.ones_like(part.left)
        return *linear(b, part, cells, ones, None), ones, None
    of_line = line_of if b.metric.classes == "one" else line_of_classes
    worth, costs, offset = of_line(b, part, cells)
    mean, variance = linear(b, part, cells, worth, costs)
    return mean + offset[:, None], variance, worth, costs


def _moved(b: Belief, to: Likeliest, part: Part, cells: Cells) -> tuple[Floats, Floats, Floats]:
    """How far the means of some groups and the rates of their cells move with what is shared.

    And the groups' variances if that were known. `to` and `part` are of the likeliest.
    """
    mean, variance, worth, costs = _given_components(b, part, cells)
    worth = worth if costs is None else worth - costs.mean
    _, between, within = mixed(part.weight, mean, variance)
    return *moved(b, to, part, cells, mean, worth), between + within
