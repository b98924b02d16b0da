"""The empirical prior: what scores say of accuracy is learnt from the labels of all groups.

Errors sit where the score is low. How steeply accuracy rises with the score, how much groups differ
beyond it, and how far cells stray from both, is fitted to the labels; groups share strength, and an
overconfident or underconfident classifier is corrected after some tens of labels.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.fitting import sampled
from worker.core.prior.hyperparameters import (
    Fit,
    Hyperparameters,
    Level,
    Scores,
    closeness,
    curve_places,
    moves,
    rate_of,
)
from worker.core.prior.likelihood import GRID, MIXTURE
from worker.core.prior.shared import Shared, Slopes

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_POINTS = np.array([-1.2247, 0.0, 1.2247])  # of the same variance as a standard normal
_LEAST_SLOPE = 1e-4  # of accuracy over logits: of cells that are all right some count all the same
_S, _TAU, _LAPSE = 3, 4, 5  # their places among the hyperparameters
# Of what the score's uncertain curve moves cells of a group against each other, the share that
# moves the group as well. Where nothing but the score is known, all of it does. With opinions half:
# with all of it a shuffled one cost 1.29 times the labels without, four that tell nothing 1.34 (the
# worst class of CIFAR-10, 40 runs), with half .94 and 1.02; a telling one .38 and .39.
_CURVE_TOGETHER = 0.5
# As many as a group of two effects has pairs of. Of 256 some 80 have most of the weight (F1 of the
# bench's tweets and restaurants, 100 to 1,500 labels).
_N_SAMPLED = 256
# How often a label counts that was fitted to. With 1 the 95% intervals of F1 were too narrow where
# scores tell nothing of the errors, with .6 the error of F1 of rare positives was half as large
# again.
_COUNTED = 0.8
_RULED_OUT = 30.0  # logarithm of how much less probable than the likeliest component
_LEAST_WEIGHT = 1e-12  # of a component, that its logarithm is finite
_OF_SCALE = 0.16  # variance of the log of a Student's t's random scale, 4 degrees of freedom


def prior_of(
    h: Hyperparameters,
    scores: Scores,
    covariance: Floats | None = None,
    level: Level | None = None,
) -> tuple[Floats, Floats, Floats]:
    """alpha (C, U), beta (C, U) and mixture (U,) of the prior that the hyperparameters describe.

    Args:
        covariance: (6 + K, 6 + K) of the hyperparameters; None if they are known.
        level: what other groups of its factors or other cells of its class say of each cell.

    What is not known of them widens the prior of every group: the variance of a cell's curve adds
    to the group effect's. Where cells are told apart (`Scores.size`) that of the group's mean curve
    does, and half of what a cell has more because of the score's curve, were the weights known; the
    rest makes the cell weaker: a Beta with the variance of both on the scale of rates,
    1 / s + m (1 - m) variance. The lapse, 1 / s and tau^2 take their means under log-normals. What
    of that is the same for all groups, says `shared_of`.
    """
    x, n = scores.x, len(scores.weak)
    covariance = np.zeros((n, n)) if covariance is None else covariance
    at = curve_places(len(x))
    common = _common_to_group(h, scores)
    told = covariance[np.ix_(at, at)]
    of_curve, apart = _variance(common, told), _variance(x - common, told)
    if scores.size is not None:
        moved = _CURVE_TOGETHER * _of_score_alone(told)
        of_curve += _variance(x[:3], moved) - _variance(common[:3], moved)
        apart -= _variance((x - common)[:3], moved)
    of_s, _, of_lapse = np.diag(covariance)[3:6]
    shift, left = (0.0, 1.0) if level is None else (level.shift[:, None], level.left)
    tau = _sd_of_effect(h, covariance, np.maximum(of_curve, 0.0), left)
    lapse = scores.lapses(h.log_lapse + of_lapse / 2)
    centre = h.curve(x)[:, None]
    mu = rate_of(special.expit(centre + shift + tau[:, None] * GRID), lapse)
    m = rate_of(special.expit(centre), lapse)
    s = np.exp(h.log_s - of_s / 2) * closeness(m)
    own = np.maximum(apart, 0.0) if scores.size is not None else np.zeros(1)
    own = own if level is None else own + level.apart
    if own.any():
        s = 1 / (1 / s + m * (1 - m) * own[:, None])
    pairs: Floats = np.multiply.outer(MIXTURE, MIXTURE)
    mixture = MIXTURE if scores.second is None else pairs.ravel()
    return scores.crossed(s * mu), scores.crossed(s * (1 - mu)), mixture


def prior_of_one_group(
    fit: Fit, scores: Scores, size: Counts, right: Counts, wrong: Counts
) -> tuple[Floats, Floats, Floats]:
    """alpha (C, U), beta (C, U) and mixture (U,) of a group alone: components are hyperparameters.

    What `prior_of` has for many groups, one effect by which all cells move together, each as far as
    it is uncertain, is too coarse for one: its labels tell of every hyperparameter, and all of them
    were fitted to. Those count here by `_COUNTED` once the belief's labels have weighed all.

    Under normal priors of logits fewer errors are, by every order of magnitude, about as probable,
    and some labels without one would promise that there is none. Below what the scores expect the
    number of errors has Jeffreys' prior: of items predicted positive, and of the others.

    Args:
        size, right, wrong: (C,) items, and labels that were fitted to.

    Source:
        Bissiri, Holmes & Walker, "A general framework for updating belief distributions" (2016): of
        a model that is only nearly right a label tells less than one.
    """
    h, log_weight = sampled(fit, scores, _N_SAMPLED)
    curve = special.expit((h[:, curve_places(len(scores.x))] @ scores.x).T)
    mu = rate_of(curve, scores.lapses(0.0) * np.exp(h[:, _LAPSE]))
    s = np.exp(h[:, _S]) * closeness(mu)
    alpha, beta = s * mu, s * (1 - mu)
    is_second = np.zeros(size.size, dtype=bool) if scores.second is None else scores.second
    for some in (is_second, ~is_second):
        expected = size[some] @ special.expit(-scores.cell[some])
        if expected > 0:
            part = size[some] @ (1 - mu[some]) / expected
            log_weight = log_weight + np.log(np.minimum(part, 1)) / 2
    told = special.betaln(alpha + right[:, None], beta + wrong[:, None])
    told = (told - special.betaln(alpha, beta)).sum(axis=0)
    after = log_weight + _COUNTED * told
    before = after - told
    # components that the labels rule out would have nearly all of the weight before them
    before -= before[after > after.max() - _RULED_OUT].max()
    weight = np.maximum(np.exp(np.minimum(before, 0.0)), _LEAST_WEIGHT)
    return alpha, beta, weight / weight.sum()


def shared_of(
    fit: Fit,
    scores: Scores,
    size: NDArray[np.int64],
    group: NDArray[np.int64],
    n_groups: int,
    level: Level | None = None,
) -> Shared:
    """What of `prior_of` is common to all groups: the uncertainty of the curve, and of tau.

    On the axis of the components, in standard deviations of curve and group effect together. A
    group stands for its cells by the slopes of their accuracies, weighted by their items. Curve and
    tau are uncertain together: where few groups have most of the labels, these are all alike and
    far from where the others are expected, or groups differ and the others lie elsewhere.

    Args:
        size, group: (C,) items, and index of its group, ascending. level: as of `prior_of`.

    Source:
        Laplace's approximation, as Kass & Steffey, "Approximate Bayesian inference in conditionally
        independent hierarchical models" (1989), who keep the first two moments; here the components
        of every group are weighed given the curve, and averaged over it.
    """
    h, x = fit.mode, scores.x
    at = [*curve_places(len(x)), _TAU]
    spread, axes = np.linalg.eigh(fit.covariance[np.ix_(at, at)])
    root = axes * np.sqrt(np.maximum(spread, 0.0))  # (4 + K, 4 + K)
    along = root[:-1].T @ _common_to_group(h, scores)  # (4 + K, C) logits
    left = 1.0 if level is None else level.left
    sd = _sd_of_effect(h, fit.covariance, (along**2).sum(axis=0), left)
    middle = special.expit(h.curve(x))
    slope = size * np.maximum(middle * (1 - middle), _LEAST_SLOPE)
    slopes = _slopes_of(fit, scores, level)

    def of_effect(is_of: NDArray[np.bool_]) -> Shared:
        def of_groups(cells: Floats) -> Floats:
            weight = np.where(is_of, slope * cells, 0.0)
            return np.bincount(group, weights=weight, minlength=n_groups).astype(np.float64)

        whole = np.maximum(of_groups(sd), 1e-300)
        load = np.stack([of_groups(cells) for cells in along], axis=1) / whole[:, None]
        tau = of_groups(np.sqrt(left) * np.ones(group.size)) / whole * np.exp(h.log_tau)
        own = tau[:, None] * np.exp(_POINTS * np.sqrt(_OF_SCALE))
        return Shared(load, own, root[-1], GRID, slopes)

    if scores.second is None:
        return of_effect(np.ones(group.size, dtype=bool))
    return replace(of_effect(~scores.second), second=of_effect(scores.second))


def _slopes_of(fit: Fit, scores: Scores, level: Level | None) -> Slopes:
    """How the prior of every cell moves with the hyperparameters, at the likeliest ones.

    But at the mean of tau: at its likeliest value groups' correlation was .50 where the exact
    posterior has .43, and .51 for .38 (.45 and .39 so), and intervals of differences too narrow.
    """
    h = fit.at_mean_tau
    lapse = scores.lapses(h.log_lapse)
    centre = h.curve(scores.x)
    middle = special.expit(centre)[:, None]
    m = rate_of(middle, lapse)
    per_m = moves(m) * (m - 0.5) / (m * (1 - m))
    shift, left = (0.0, np.ones(1)) if level is None else level[:2]
    effect = np.sqrt(left)[:, None] * np.exp(h.log_tau) * GRID
    spread, axes = np.linalg.eigh(fit.covariance)
    root = axes * np.sqrt(np.maximum(spread, 0.0))
    along, of_lapse = scores.x.T @ root[curve_places(len(scores.x))], root[_LAPSE]
    return Slopes(
        centre + shift, scores.crossed(effect), lapse,
        np.exp(h.log_s) * closeness(m), along,
        per_m * (m * (1 - middle) * along - lapse * middle * of_lapse) + root[_S],
        root[_TAU], of_lapse,
    )  # fmt: skip


def _common_to_group(h: Hyperparameters, scores: Scores) -> Floats:
    """(3 + K, C) covariates, each group's mean of them where groups are told apart from cells.

    Weighed by how far the group's accuracy moves with each cell's curve.
    """
    if scores.size is None or scores.place is None:
        return scores.x
    middle = special.expit(h.curve(scores.x))
    weight = scores.size * np.maximum(middle * (1 - middle), _LEAST_SLOPE)
    n_groups = int(scores.place[-1]) + 1
    whole = np.maximum(np.bincount(scores.place, weight, n_groups), 1e-300)
    sums = [np.bincount(scores.place, weight * row, n_groups) for row in scores.x]
    means: Floats = (np.stack(sums) / whole)[:, scores.place]
    return means


def _of_score_alone(covariance: Floats) -> Floats:
    """(3, 3) covariance of the score's own curve, were the weights (3 + K, 3 + K) known."""
    own, across, of_weights = covariance[:3, :3], covariance[:3, 3:], covariance[3:, 3:]
    left: Floats = own - across @ np.linalg.pinv(of_weights) @ across.T
    return left


def _variance(x: Floats, covariance: Floats) -> Floats:
    """(C,) of weighted sums of x (n, C), if the weights have this covariance."""
    found: Floats = np.einsum("ic,ij,jc->c", x, covariance, x)
    return found


def _sd_of_effect(
    h: Hyperparameters, covariance: Floats, of_curve: Floats, left: Floats | float
) -> Floats:
    """(C,) standard deviation of curve and group effect together, in logits."""
    sd: Floats = np.sqrt(left * np.exp(2 * (h.log_tau + covariance[_TAU, _TAU])) + of_curve)
    return sd
