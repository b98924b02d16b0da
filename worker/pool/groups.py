"""Cuts the pool into groups, and every group into strata of the score (cells)."""

import csv
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.group_spec import GroupBy
from worker.pool.predictions import Predictions

PRODUCT = " × "

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


def cell_codes(
    group: Codes, score: NDArray[np.floating], n_strata: int
) -> tuple[Codes, NDArray[np.int32]]:
    """Return the cell of every item, (n,), and the group of every cell, (C,) ascending.

    The strata are cut at thresholds of the score that all groups share, chosen so that the pool
    falls into `n_strata` equal parts (equal scores stay together). Cells without items are not
    made.

    Source: `strata by score inside every group` with global equal-mass thresholds.
    """
    stratum = _bin_of(score, equal_mass_thresholds(score, n_strata))
    cells, code = np.unique(group.astype(np.int64) * n_strata + stratum, return_inverse=True)
    return code.astype(np.int32), (cells // n_strata).astype(np.int32)


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


def _of_factor(factor: GroupBy, predictions: Predictions) -> Grouping:
    of_kind: dict[str, Callable[[GroupBy, Predictions], Grouping]] = {
        "predicted_class": _by_class,
        "score_bin": _by_score,
        "equal_mass_bin": _by_mass,
        "superclass": _by_superclass,
        "column": _by_column,
    }
    return of_kind[factor.kind](factor, predictions)


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
    return np.searchsorted(thresholds, score, side="right").astype(np.int32)


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
    path = Path(factor.map_path)
    above = _superclasses(path)
    unmapped = [name for name in predictions.classes if name not in above]
    if unmapped:
        raise PredictionsError(
            f"{path}: no superclass for the class {listed(unmapped)}; add a row for every class"
        )
    names = tuple(dict.fromkeys(above[name] for name in predictions.classes))
    code_of_class = np.array([names.index(above[n]) for n in predictions.classes], dtype=np.int32)
    return code_of_class[predictions.predicted], names


def _superclasses(path: Path) -> dict[str, str]:
    """Read a CSV file with the columns class and superclass."""
    above: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if not {"class", "superclass"} <= set(rows.fieldnames or ()):
                raise PredictionsError(
                    f"{path}: came the columns {listed(rows.fieldnames or ['(none)'])}, "
                    "expected class and superclass"
                )
            for number, row in enumerate(rows, start=1):
                name, superclass = row["class"] or "", row["superclass"] or ""
                if not name.strip() or not superclass.strip():
                    raise PredictionsError(f"{path}: row {number} lacks a class or a superclass")
                if above.setdefault(name, superclass) != superclass:
                    raise PredictionsError(
                        f"{path}: row {number} puts the class {name} into {superclass}, but it is "
                        f"in {above[name]} already; keep one of them"
                    )
    except FileNotFoundError:
        raise PredictionsError(f"{path}: there is no such file; `pool.groups` names it") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PredictionsError(f"{path}: it cannot be read ({error})") from error
    return above


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
        pairs = codes.astype(np.int64) * len(more_names) + more_codes
        present, dense = np.unique(pairs, return_inverse=True)
        at = [divmod(int(pair), len(more_names)) for pair in present]
        names = tuple(f"{names[first]}{PRODUCT}{more_names[second]}" for first, second in at)
        codes = dense.astype(np.int32)
    return codes, names
