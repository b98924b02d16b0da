"""What the empirical prior is made of: covariates of the cells, and hyperparameters."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_RATE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Covariate:
    """What else is known of the cells before any label, and what it is thought to say.

    x: (C,). mean, sd: of the weak prior of its weight, in logits of accuracy for one of x: normal,
    or if it is heavy-tailed, Cauchy of this scale, under which most weights are near the mean, and
    a few may be far.
    """

    x: Floats
    mean: float
    sd: float
    is_heavy: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What the classifier's scores say of the cells, before any label.

    cell: (C,) mean logit score of each cell's items. group: (C,) mean logit score of the items of
    its group, less that of the pool. Both 0 where there are no scores. more: K further covariates.
    second: (C,) which cells of a group have another effect of it than the others; None: none has.
    log_tau: mean and standard deviation of the weak prior of log tau, if other than usual.
    lapse: (C, or 1 for all) how many times the lapse there are; at most 1.
    size, place: (C,) items, and index of its group, ascending; where they are given, what is
    uncertain of the curve is told apart: what moves a group, and what moves its cells against each
    other, as further covariates do (`empirical.prior_of`). None: all of it moves a group.
    """

    cell: Floats
    group: Floats
    more: tuple[Covariate, ...] = ()
    size: NDArray[np.int64] | None = None
    place: NDArray[np.int64] | None = None
    lapse: Floats = field(default_factory=lambda: np.ones(1))
    second: NDArray[np.bool_] | None = None
    log_tau: tuple[float, float] | None = None

    def crossed(self, of_components: Floats) -> Floats:
        """(C, U^2) numbers of the cells by the pairs of a group's effects, from those by one."""
        if self.second is None:
            return of_components
        u = of_components.shape[1]
        first, other = np.repeat(of_components, u, axis=1), np.tile(of_components, u)
        paired: Floats = np.where(self.second[:, None], other, first)
        return paired

    def lapses(self, log_lapse: float) -> Floats:
        """(C, 1) the lapse of every cell."""
        of_cells: Floats = np.broadcast_to(self.lapse * np.exp(log_lapse), self.cell.shape)
        return of_cells[:, None]

    @property
    def x(self) -> Floats:
        """(3 + K, C) the covariates of the curve."""
        rows = [np.ones(self.cell.size), self.cell, self.group, *(one.x for one in self.more)]
        return np.stack(rows)

    @property
    def weak(self) -> Floats:
        """(6 + K, 2) means and standard deviations of the hyperparameters' weak normal priors."""
        found = np.vstack([WEAK, *([one.mean, one.sd] for one in self.more)])
        if self.log_tau is not None:
            found[4] = self.log_tau
        return found

    @property
    def heavy(self) -> NDArray[np.bool_]:
        """(6 + K,) which of these priors are heavy-tailed."""
        return np.array([False] * len(WEAK) + [one.is_heavy for one in self.more])


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """theta_c | u ~ Beta(s_c mu, s_c (1 - mu)), u of `shared.effect_density`, where
    mu = (1 - lapse) expit(a + b cell + d group + weights . more + tau u),
    s_c = s (4 m (1 - m))^-1/2, m = mu(u = 0).

    The lapse is the share of items that are wrong however sure the classifier is: wrong labels,
    and confident mistakes. Without it the curve promises that the surest items hold no error at
    all, and a group with a handful of them is told apart wrongly, and with confidence.

    Cells whose accuracy is near 0 or 1 lie closer to the curve than others (s_c grows), but not as
    close as a constant deviation of the logit would have it; so found on eight published sets of
    predictions, where it also makes s nearly the same in all of them.
    """

    a: float = 0.0
    b: float = 0.9
    d: float = 0.2
    log_s: float = 4.0
    log_tau: float = -1.5
    log_lapse: float = -7.0
    weights: tuple[float, ...] = ()  # of `Scores.more`

    @classmethod
    def of(cls, numbers: Floats) -> "Hyperparameters":
        """From all of them (6 + K,), in their order."""
        six, weights = numbers[: len(WEAK)].tolist(), numbers[len(WEAK) :].tolist()
        return replace(cls(*six), weights=tuple(weights))

    @property
    def numbers(self) -> Floats:
        """(6 + K,) in their order."""
        six = self.a, self.b, self.d, self.log_s, self.log_tau, self.log_lapse
        return np.array([*six, *self.weights])

    def curve(self, x: Floats) -> Floats:
        """(C,) logits of accuracy by covariates (3 + K, C), without lapse and group effect."""
        terms = zip((self.a, self.b, self.d, *self.weights), x, strict=True)
        logits: Floats = sum((weight * of for weight, of in terms), np.zeros(x.shape[1]))
        return logits


def rate_of(curve: Floats, lapse: Floats | float) -> Floats:
    """mu of `Hyperparameters`, kept off 0 and 1."""
    held: Floats = np.minimum(np.maximum((1 - lapse) * curve, LEAST_RATE), 1 - LEAST_RATE)
    return held


def closeness(m: Floats) -> Floats:
    """How many times s the strength of a cell is."""
    times: Floats = (4 * m * (1 - m)) ** -0.5
    return times


def moves(rate: Floats) -> NDArray[np.bool_]:
    """Where a rate is not held at its bounds."""
    return (rate > LEAST_RATE) & (rate < 1 - LEAST_RATE)


# Weak normal priors (mean, standard deviation) on the six, in their order: enough to hold the fit
# while labels are few, to be overruled by some tens of them. Means and spreads are those of the
# eight sets' own fits, rounded and widened, those of a and b until a classifier is still believed
# that is twice as sure as it says, or that is right where it says that it does not know
# (`make calibration`, underconfident and 20 Newsgroups). That of the lapse expects .15% of the
# surest items to be wrong: nine sets have .01 to .35%, and where it expected .4% the whole pool's
# accuracy was told too low after a thousand labels.
WEAK = np.array([[0.0, 2.0], [0.9, 1.0], [0.2, 0.5], [4.0, 1.0], [-1.5, 0.8], [-7.0, 1.0]])


class Level(NamedTuple):
    """What labels elsewhere say of the level of each cell (C,), beside the curve.

    shift: in logits. left: the share of the variance of its group's effect that is left. apart:
    the variance of the shift, by which the cell may lie apart from the others of its group.
    """

    shift: Floats
    left: Floats
    apart: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The likeliest hyperparameters, and how uncertain they are: their covariance (6 + K, 6 + K).

    In the order of `Hyperparameters.numbers`.
    """

    mode: Hyperparameters
    covariance: Floats

    @property
    def at_mean_tau(self) -> Hyperparameters:
        """The likeliest, but for the mean of tau (log-normal), which few groups hardly tell."""
        return replace(self.mode, log_tau=self.mode.log_tau + float(self.covariance[4, 4]) / 2)


def unfitted(weak: Floats = WEAK) -> Fit:
    """What is known of the hyperparameters before any label: their weak priors (6 + K, 2)."""
    return Fit(Hyperparameters.of(weak[:, 0]), np.diag(weak[:, 1] ** 2))


def curve_places(n: int) -> list[int]:
    """Where the weights of n covariates of the curve are among the hyperparameters."""
    return [0, 1, 2, *range(len(WEAK), len(WEAK) + n - 3)]
