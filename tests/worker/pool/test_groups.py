from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import PredictionsError
from worker.plan.group_spec import GroupBy, group_factors
from worker.pool.groups import cell_codes, equal_mass_thresholds, group_codes
from worker.pool.predictions import Predictions
from worker.pool.texts import Texts

scores = st.lists(
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.7, 0.9, 1.0]) | st.floats(0, 1), min_size=1
)


def predictions_of(
    score: Any, predicted: Any = None, dtype: Any = np.float64, **columns: list[str]
) -> Predictions:
    n = len(score)
    return Predictions(
        path=Path("predictions.csv"),
        classes=("cat", "dog", "cow"),
        texts=Texts(),
        predicted=np.array(predicted if predicted is not None else [0] * n, dtype=np.int32),
        score=np.array(score, dtype=dtype),
        columns={name: pa.array(values, pa.large_string()) for name, values in columns.items()},
    )


def grouped(spec: str | list[str], predictions: Predictions) -> tuple[list[str], tuple[str, ...]]:
    codes, names = group_codes(group_factors(spec), predictions)
    return [names[code] for code in codes], names


def test_grouping_by_predicted_class_names_also_classes_that_are_never_predicted():
    of_item, names = grouped("predicted_class", predictions_of([0.5] * 3, [1, 0, 1]))
    assert of_item == ["dog", "cat", "dog"]
    assert names == ("cat", "dog", "cow")


def test_a_score_bin_holds_its_lower_bound_and_the_last_one_also_the_score_one():
    of_item, names = grouped("score_bin(10)", predictions_of([0.0, 0.1, 0.3, 0.69999, 0.7, 1.0]))

    assert of_item == [
        "score 0.00-0.10", "score 0.10-0.20", "score 0.30-0.40",
        "score 0.60-0.70", "score 0.70-0.80", "score 0.90-1.00",
    ]  # fmt: skip
    assert len(names) == 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_are_compared_in_the_precision_of_the_scores(dtype):
    bounds = [k / 100 for k in range(100)]
    codes, _ = group_codes(group_factors("score_bin(100)"), predictions_of(bounds, dtype=dtype))
    assert codes.tolist() == list(range(100))


def test_bins_are_named_with_the_digits_that_tell_them_apart():
    _, sixteenths = grouped("score_bin(16)", predictions_of([0.5]))
    _, close = grouped("equal_mass_bin(3)", predictions_of([0.99991, 0.99992, 0.99993]))

    assert sixteenths[1] == "score 0.0625-0.1250"
    assert close == ("score 0.00000-0.99992", "score 0.99992-0.99993", "score 0.99993-1.00000")


@given(scores, st.integers(1, 12))
def test_equal_mass_bins_keep_equal_scores_together_and_none_is_empty(score, n_bins):
    codes, names = group_codes((GroupBy("equal_mass_bin", n_bins=n_bins),), predictions_of(score))

    assert len(names) <= n_bins
    assert set(codes.tolist()) == set(range(len(names)))
    for value in set(score):
        assert len({code for code, s in zip(codes, score, strict=True) if s == value}) == 1
    assert (np.diff(codes[np.argsort(score, kind="stable")]) >= 0).all()


@given(st.integers(1, 200), st.integers(1, 12))
def test_equal_mass_bins_of_different_scores_differ_by_at_most_one_item(n_items, n_bins):
    score = np.linspace(0, 1, n_items)
    counts = np.diff([0, *np.searchsorted(score, equal_mass_thresholds(score, n_bins)), n_items])
    assert counts.max() - counts.min() <= 1


def test_grouping_by_a_column_sorts_its_values():
    of_item, names = grouped("colour", predictions_of([0.5] * 3, colour=["red", "blue", "red"]))
    assert of_item == ["red", "blue", "red"]
    assert names == ("blue", "red")


def test_a_product_names_only_the_combinations_that_occur():
    predictions = predictions_of([0.1, 0.9, 0.9], [0, 1, 1], colour=["red", "red", "red"])
    of_item, names = grouped(["predicted_class", "score_bin(2)", "colour"], predictions)

    assert of_item == [
        "cat × score 0.00-0.50 × red", "dog × score 0.50-1.00 × red", "dog × score 0.50-1.00 × red"
    ]  # fmt: skip
    assert len(names) == 2


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.floats(0, 1)), min_size=1),
    st.permutations(["predicted_class", "letter", "score_bin(4)"]),
)
def test_a_product_puts_items_together_exactly_if_every_factor_does(items, factors):
    predicted, letter, score = (list(column) for column in zip(*items, strict=True))
    predictions = predictions_of(score, predicted, letter=letter)
    whole, _ = grouped(factors, predictions)
    apart = zip(*(grouped(factor, predictions)[0] for factor in factors), strict=True)

    assert whole == [" × ".join(names) for names in apart]


def test_two_groups_of_one_name_are_refused():
    predictions = predictions_of([0.5] * 2, a=["x × y", "x"], b=["z", "y × z"])
    with pytest.raises(PredictionsError, match="two groups would be called 'x × y × z'"):
        grouped(["a", "b"], predictions)


def superclass(folder: Path, text: str) -> str:
    (folder / "map.csv").write_text(text, encoding="utf-8")
    return f"superclass({folder / 'map.csv'})"


def test_superclasses_are_named_in_the_order_of_the_classes(tmp_path):
    spec = superclass(tmp_path, "class,superclass\ncow,farm\ncat,home\ndog,home\nape,zoo\n")
    of_item, names = grouped(spec, predictions_of([0.5] * 2, [0, 2]))
    assert of_item == ["home", "farm"]
    assert names == ("home", "farm")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class,superclass\ncat,home\n", "no superclass for the class dog, cow"),
        ("name,above\ncat,home\n", "came the columns name, above"),
        ("", "came the columns"),
        ("class,superclass\ncat,home\ncat,zoo\n", "row 2 puts the class cat into zoo"),
        ("class,superclass\ncat,\n", "row 1 lacks"),
        ("class,superclass\ncat\n", "row 1 lacks"),
    ],
)
def test_a_superclass_map_that_cannot_be_used_is_refused(tmp_path, text, reason):
    with pytest.raises(PredictionsError, match=reason):
        grouped(superclass(tmp_path, text), predictions_of([0.5]))


def test_a_missing_superclass_map_is_refused(tmp_path):
    with pytest.raises(PredictionsError, match="no such file"):
        grouped(f"superclass({tmp_path / 'none.csv'})", predictions_of([0.5]))


@given(st.data(), st.integers(1, 6))
def test_cells_cut_every_group_at_the_same_scores(data, n_strata):
    score = np.array(data.draw(scores))
    group = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=score.size, max_size=score.size)),
        dtype=np.int32,
    )
    unit = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=score.size, max_size=score.size)),
        dtype=np.int32,
    )
    cell, cell_group, cell_unit = cell_codes(group, unit, score, n_strata)

    assert (cell_group[cell] == group).all()
    assert (cell_unit[cell] == unit).all()
    assert (np.diff(cell_group) >= 0).all()
    assert (np.diff(cell_unit)[np.diff(cell_group) == 0] >= 0).all()
    assert np.bincount(cell, minlength=cell_group.size).min() > 0
    stratum = np.searchsorted(equal_mass_thresholds(score, n_strata), score, side="right")
    assert len(set(zip(group, unit, stratum, strict=True))) == cell_group.size


def test_one_stratum_makes_one_cell_of_every_group_that_has_items():
    group = np.array([2, 0, 2], dtype=np.int32)
    cell, cell_group, cell_unit = cell_codes(group, group * 0, np.array([0.1, 0.5, 0.9]), 1)
    assert cell.tolist() == [1, 0, 1]
    assert cell_group.tolist() == [0, 2]
    assert cell_unit.tolist() == [0, 0]
