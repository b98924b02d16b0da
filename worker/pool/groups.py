"""Cuts the pool into groups, and every group into cells: units of the metric, then strata."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.errors import PlanError, PredictionsError
from worker.metrics import METRICS
from worker.nearest import listed, nearest_first
from worker.plan.group_spec import GroupBy
from worker.plan.question_part import QuestionPlan
from worker.pool.judged import says_right
from worker.pool.ordering import Ints, dense, parts
from worker.pool.predictions import Predictions
from worker.pool.superclasses import superclass_of_each

PRODUCT = " × "
BY_JUDGE = "called wrong by the judge", "called right by the judge"

Codes = NDArray[np.int32]
Grouping = tuple[Codes, tuple[str, ...]]


def group_codes(factors: Sequence[GroupBy], predictions: Predictions) -> Grouping:
    """Return the group of every item and the names of the groups.

    One factor names all the groups it knows, also those without an item (a class that is never
    predicted, a score bin that nothing falls in); a product names the combinations that occur.

    Args:
        factors: what to group by (`worker.plan.group_spec.group_factors` reads the plan's words).
        predictions: n items.

    Returns:
        codes (n,) in 0 ... G - 1, and G names, all different.

    Raises:
        PredictionsError: a superclass map that cannot be used, or two groups with one name.
    """
    groupings = [_of_factor(factor, predictions) for factor in factors]
    codes, names = groupings[0] if len(groupings) == 1 else _product(groupings)
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise PredictionsError(
            f"{predictions.path}: two groups would be called {double!r}; rename their values"
        )
    return codes, names


def unit_codes(question: QuestionPlan, predictions: Predictions, *, is_judged: bool) -> Grouping:
    """Return the unit of every item, (n,), and the names of the units.

    A unit is what is looked at apart inside every group: a score bin (ece); the items predicted as
    another class (0) and as the positive one (1) (recall, precision, F1), or as each of the classes
    (these, averaged); or where people judge outputs, those that a judge calls wrong (0) and right
    (1). Else there is one.

    Raises:
        PlanError: the positive class is not among the classes.
    """
    if question.bin_factor is not None:
        return _of_factor(question.bin_factor, predictions)
    if question.positive is not None:
        is_positive = predictions.predicted == positive_class(
            question.positive, predictions.classes
        )
        names = "predicted another class", f"predicted {question.positive}"
        return is_positive.astype(np.int32), names
    if is_judged and not np.isnan(predictions.score[0]):
        return says_right(predictions.score).astype(np.int32), BY_JUDGE
    if METRICS[question.metric].has_classes_apart:
        return predictions.predicted, predictions.classes
    return np.zeros(predictions.n_items, dtype=np.int32), ("",)


def positive_class(name: str, classes: Sequence[str]) -> int:
    """Return the index of the positive class.

    Raises:
        PlanError: it is not among the classes.
    """
    if name not in classes:
        known = listed(nearest_first(name, classes))
        raise PlanError(
            [f"question.positive: the class {name!r} is not known; the classes are {known}"]
        )
    return classes.index(name)


def cell_codes(
    group: Codes,
    unit: Codes,
    score: NDArray[np.floating],
    n_strata: int,
    weight: NDArray[np.float64] | None = None,
) -> tuple[Codes, Codes, Codes]:
    """Return the cell of every item, (n,), and the group and the unit of every cell, (C,).

    The cells stand in the order of group, unit, stratum. The strata are cut at thresholds of the
    score that all groups share, chosen so that the pool falls into `n_strata` equal parts, by the
    items' weights (n,) if there are any (equal scores stay together). Cells without items are not
    made.

    Source: `strata by score inside every group` with global equal-mass thresholds.
    """
    if weight is None:
        thresholds = equal_mass_thresholds(score, n_strata)
    else:
        thresholds = _weighed_thresholds(score, weight, n_strata)
    n_units = int(unit.max(initial=0)) + 1

    def codes_of(part: slice) -> Ints:
        stratum = np.searchsorted(thresholds, score[part], side="right")
        return (group[part].astype(np.int64) * n_units + unit[part]) * n_strata + stratum

    cells, code = dense(score.size, codes_of)
    cell_group, cell_unit = np.divmod(cells // n_strata, n_units)
    return code, cell_group.astype(np.int32), cell_unit.astype(np.int32)


def equal_mass_thresholds(score: NDArray[np.floating], n_bins: int) -> NDArray[np.floating]:
    """Return at most n_bins - 1 scores at which the items fall into equal parts.

    Fewer where many scores are equal; none of them leaves a part empty.
    """
    at = np.arange(1, n_bins) * score.size // n_bins
    if not at.size:
        return score[:0]
    thresholds: NDArray[np.floating] = np.unique(np.partition(score, at)[at])
    above: NDArray[np.floating] = thresholds[thresholds > score.min()]
    return above


def half_by_doubt(score: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return weights (n,) of items by which half of the strata lie where the doubtful ones are.

    Nearly all of those that are rare, and were missed, are among the few of which the classifier
    is least sure; equal parts of all items would put these into one stratum.
    """
    doubt = score.astype(np.float64)
    doubt *= 1 - doubt
    whole = doubt.sum()
    weights: NDArray[np.float64] = 1 / score.size + (doubt / whole if whole > 0 else 0.0 * doubt)
    return weights


def _weighed_thresholds(
    score: NDArray[np.floating], weight: NDArray[np.float64], n_bins: int
) -> NDArray[np.floating]:
    order = np.argsort(score, kind="stable")
    upto = np.cumsum(weight[order])
    at = np.searchsorted(upto, np.arange(1, n_bins) / n_bins * upto[-1])
    thresholds = np.unique(score[order[np.minimum(at, score.size - 1)]])
    above: NDArray[np.floating] = thresholds[thresholds > score.min()]
    return above


def _of_factor(factor: GroupBy, predictions: Predictions) -> Grouping:
    of_kind: dict[str, Callable[[GroupBy, Predictions], Grouping]] = {
        "predicted_class": _by_class,
        "score_bin": _by_score,
        "equal_mass_bin": _by_mass,
        "superclass": _by_superclass,
        "column": _by_column,
        "all_items": _together,
    }
    return of_kind[factor.kind](factor, predictions)


def _together(_: GroupBy, predictions: Predictions) -> Grouping:
    return np.zeros(predictions.n_items, dtype=np.int32), ("all items",)


def _by_class(_: GroupBy, predictions: Predictions) -> Grouping:
    return predictions.predicted, predictions.classes


def _by_score(factor: GroupBy, predictions: Predictions) -> Grouping:
    # in the score's own precision: 0.3 read as float32 must not fall below 3 / 10
    inner = (np.arange(1, factor.n_bins) / factor.n_bins).astype(predictions.score.dtype)
    return _bin_of(predictions.score, inner), _bin_names(inner)


def _by_mass(factor: GroupBy, predictions: Predictions) -> Grouping:
    thresholds = equal_mass_thresholds(predictions.score, factor.n_bins)
    return _bin_of(predictions.score, thresholds), _bin_names(thresholds)


def _bin_of(score: NDArray[np.floating], thresholds: NDArray[np.floating]) -> Codes:
    # a bin holds its lower threshold; the last one holds also the score 1
    code = np.empty(score.size, dtype=np.int32)
    for part in parts(score.size):
        code[part] = np.searchsorted(thresholds, score[part], side="right")
    return code


def _bin_names(thresholds: NDArray[np.floating]) -> tuple[str, ...]:
    """Name the bins from 0 to 1 by their bounds, with the digits that are needed."""
    bounds = [0.0, *(float(str(threshold)) for threshold in thresholds), 1.0]
    for digits in range(2, 18):
        texts = [f"{bound:.{digits}f}" for bound in bounds]
        is_exact = all(
            abs(float(text) - bound) < 1e-9 for text, bound in zip(texts, bounds, strict=True)
        )
        if (is_exact or digits >= 4) and len(set(texts)) == len(texts):
            break
    else:
        texts = [str(bound) for bound in bounds]  # different numbers never read the same
    return tuple(f"score {low}-{high}" for low, high in pairwise(texts))


def _by_superclass(factor: GroupBy, predictions: Predictions) -> Grouping:
    above = superclass_of_each(Path(factor.map_path), "pool.groups", predictions.classes)
    names = tuple(dict.fromkeys(above))
    code_of_class = np.array([names.index(name) for name in above], dtype=np.int32)
    return code_of_class[predictions.predicted], names


def _by_column(factor: GroupBy, predictions: Predictions) -> Grouping:
    encoded = predictions.columns[factor.column].dictionary_encode()
    values = np.array(encoded.dictionary.to_pylist(), dtype=np.str_)
    order = np.argsort(values, kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return rank[encoded.indices.to_numpy()], tuple(values[order].tolist())


def _product(groupings: Sequence[Grouping]) -> Grouping:
    codes, names = groupings[0]
    for more_codes, more_names in groupings[1:]:
        # kept dense after every factor, so that the product of the sizes cannot overflow
        present, codes = dense(codes.size, partial(_pairs, codes, more_codes, len(more_names)))
        at = [divmod(int(pair), len(more_names)) for pair in present]
        names = tuple(f"{names[first]}{PRODUCT}{more_names[second]}" for first, second in at)
    return codes, names


def _pairs(first: Codes, second: Codes, n_second: int, part: slice) -> Ints:
    return first[part].astype(np.int64) * n_second + second[part]
