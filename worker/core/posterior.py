"""What is known of every group's value: tally and prior, and what follows from them."""

import numpy as np
from numpy.typing import NDArray

from worker.core.belief import Belief, by_group, cells_of, group_size, unlabelled
from worker.core.counts import LawCache, law_of, mixed_law
from worker.core.drawing import draw
from worker.core.marginals import BetaMarginal, FiniteMarginal, Marginal, SampledMarginal
from worker.core.metrics import AFFINE, Errors, Metric
from worker.core.moments import moments

Floats = NDArray[np.float64]

_N_DRAWS = 2000
_KEPT_FLOATS = 1 << 23  # 64 MiB; a pool of a million items takes a quarter of it
_laws = LawCache(_KEPT_FLOATS)


def mean(b: Belief) -> Floats:
    """(G,) posterior mean of every group's value; nan for groups without items."""
    is_plain = b.node.size == 1 and b.metric.kind == "accuracy" and b.population == "finite"
    if is_plain and "moments" not in b._memo:  # asked for by every ranking of a simulation
        a = b.alpha[:, 0] + b.right
        rate = a / (a + b.beta[:, 0] + b.wrong)
        size = group_size(b)
        right = by_group(b, b.right + unlabelled(b) * rate)
        return np.where(size > 0, right / np.maximum(size, 1), np.nan)
    return np.where(group_size(b) > 0, moments(b).mean, np.nan)


def variance(b: Belief) -> Floats:
    """(G,) posterior variance of the value; 0 for labelled, nan for empty groups."""
    return np.where(group_size(b) > 0, moments(b).variance, np.nan)


def marginals(b: Belief) -> list[Marginal | None]:
    """The law of each group's value, in the order of the groups; None for empty groups.

    Exact for accuracy and bias: beta-binomials for the finite population, the Beta for the infinite
    one with one cell and one node a group. Otherwise 2,000 posterior draws, always the same ones
    for the same tally.
    """
    if "marginals" not in b._memo:
        b._memo["marginals"] = [
            _law(b, g) if size else None for g, size in enumerate(group_size(b).tolist())
        ]
    laws: list[Marginal | None] = b._memo["marginals"]
    return laws


def marginal(b: Belief, g: int) -> Marginal:
    """The law of the value of group `g`.

    Raises:
        ValueError: there is no such group, or it has no items.
    """
    if not 0 <= g < b.n_groups:
        raise ValueError(
            f"group {g} is unknown: the belief covers groups 0 to {b.n_groups - 1}; "
            "pass one of these."
        )
    if not group_size(b)[g]:
        raise ValueError(
            f"group {g} has no items, so nothing can be said of its accuracy; leave it out."
        )
    return _law(b, g)


def distribution(b: Belief, g: int) -> tuple[Floats, Floats]:
    """The possible values of group `g`, ascending (K,), and their probabilities (K,).

    Exact, a fine quadrature, or a sample: see `marginals`. The probabilities sum to 1.

    Raises:
        ValueError: the group is unknown or has no items.
    """
    return marginal(b, g).atoms()


def interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) equal-tailed credible interval of each group's value; nan for empty groups.

    Holds at least `level`: more, where the possible values are few.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    tail = (1 - _checked(level)) / 2
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, law in enumerate(marginals(b)):
        if law is not None:
            bounds[g] = law.quantile(tail), law.quantile(1 - tail)
    return bounds


def highest_density_interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) the narrowest interval of each group's value that holds `level`; nan for empty groups.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    _checked(level)
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, law in enumerate(marginals(b)):
        if law is None:
            continue
        x, mass = law.atoms()
        upto = np.concatenate([[0.0], np.cumsum(mass)])
        # for every first value the last one needed: the first where the mass suffices
        last = np.searchsorted(upto, upto[:-1] + level - 1e-12) - 1
        fits = last < x.size
        first = np.flatnonzero(fits)
        width = x[last[fits]] - x[first]
        at = int(width.argmin())
        bounds[g] = x[first[at]], x[last[fits][at]]
    return bounds


def _law(b: Belief, g: int) -> Marginal:
    """The law of a group with items; the same object for the same tally, so that it is hashable."""
    cells = cells_of(b, g)
    left, metric = unlabelled(b)[cells], b.metric
    a, c = b.alpha[cells] + b.right[cells, None], b.beta[cells] + b.wrong[cells, None]
    size = int(group_size(b)[g])
    if metric.kind not in AFFINE or (b.population == "infinite" and a.size > 1):
        return _sampled(b, g, cells)
    offset = 0.0
    if metric.kind == "bias":  # s - theta = (s - 1) + (1 - theta)
        offset = float(np.nan_to_num(metric.score[cells]) @ b.size[cells]) / size - 1.0
        a, c = c, a
    if b.population == "infinite":
        return BetaMarginal(float(a[0, 0]), float(c[0, 0]), offset)
    done = b.wrong[cells] if metric.kind == "bias" else b.right[cells]
    right = float(done.sum())
    weight = moments(b).weight[g] if b.node.size > 1 else b.node
    key = left.tobytes(), a.tobytes(), c.tobytes(), weight.tobytes(), right, size, offset
    law = _laws.get(key)
    if law is None:
        if b.node.size == 1:
            open_cells = zip(left.tolist(), a[:, 0].tolist(), c[:, 0].tolist(), strict=True)
            count = law_of(tuple(cell for cell in open_cells if cell[0]))
        else:
            count = mixed_law(left, a, c, weight)
        law = FiniteMarginal(count, right, size, offset)
        _laws.put(key, law, count.pmf.size + count.at_least.size + a.size)
    kept: FiniteMarginal = law
    return kept


def _sampled(b: Belief, g: int, cells: slice) -> SampledMarginal:
    if b.metric.pooled:
        if "joint_draws" not in b._memo:
            b._memo["joint_draws"] = draw(b, np.random.default_rng(_N_DRAWS), _N_DRAWS)
        return SampledMarginal(np.sort(b._memo["joint_draws"][:, g]))
    part = _only(b, g, cells)
    m, errors = part.metric, part.errors
    arrays = (
        part.size, part.right, part.wrong, part.alpha, part.beta, part.node, m.score, m.unit,
        m.values, *((errors.counts, errors.prior) if errors else ()),
    )  # fmt: skip
    key = g, b.population, m.kind, *(array.tobytes() for array in arrays)
    law = _laws.get(key)
    if law is None:
        # a stream of its own for every group: they are independent
        values = draw(part, np.random.default_rng([_N_DRAWS, g]), _N_DRAWS)[:, 0]
        law = SampledMarginal(np.sort(values))
        _laws.put(key, law, _N_DRAWS + part.alpha.size)
    kept: SampledMarginal = law
    return kept


def _only(b: Belief, g: int, cells: slice) -> Belief:
    """The belief about one group alone."""
    m, errors = b.metric, b.errors
    return Belief(
        np.zeros(cells.stop - cells.start, np.int64), b.size[cells], b.right[cells],
        b.wrong[cells], b.alpha[cells], b.beta[cells], 1, b.population, b.node,
        Metric(m.kind, m.score[cells], m.unit[cells], m.values[cells], m.pooled),
        Errors(errors.counts[cells], errors.prior[cells]) if errors else None,
    )  # fmt: skip


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability inside (0, 1), such as 0.95.")
    return level
