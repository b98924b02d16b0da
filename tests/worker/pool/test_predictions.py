"""Predictions are read the same from every kind of file: ids, classes, predictions, scores."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.pool.predictions_files import (
    ROWS,
    SAID,
    csv_of,
    plan_of,
    plan_of_said,
    read,
    write,
)
from worker.pool.class_names import class_names, without_shared_prefix
from worker.pool.predictions import Predictions


def texts_of(found: Predictions, column: str) -> list[str]:
    return [text for piece in found.texts for text in piece.column(column).to_pylist()]


def ids_of(found: Predictions) -> list[str]:
    return texts_of(found, "item_id")


ENDINGS = ["csv", "tsv", "csv.gz", "jsonl", "ndjson", "jsonl.gz", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_file_gives_the_same_predictions(tmp_path, ending):
    path = write(tmp_path / f"predictions.{ending}", ROWS)

    found = read(plan_of(path, groups="colour"))

    assert found.classes == ("cat", "dog")
    assert ids_of(found) == ["007", "08", "9"]
    assert found.predicted.tolist() == [0, 1, 0]
    assert found.score.tolist() == [0.5, 0.75, 1.0]
    assert found.columns["colour"].to_pylist() == ["red", "blue", "red"]
    assert texts_of(found, "text") == ["a\nb", 'say "hi", é', "2011-02-03"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_column_may_hold_the_probabilities_as_a_list(tmp_path, ending):
    rows = [{"item_id": f"{i}", "probs": [0.2, 0.3 + i / 10, 0.5 - i / 10]} for i in range(3)]
    path = write(tmp_path / f"predictions.{ending}", rows)

    plan = plan_of(path, probabilities="probs", classes=["x", "y", "z"], data={"id": "item_id"})
    found = read(plan)

    assert found.classes == ("x", "y", "z")
    assert found.predicted.tolist() == [2, 1, 1]
    assert found.score == pytest.approx([0.5, 0.4, 0.5])


@pytest.mark.parametrize("ending", ENDINGS)
def test_predicted_classes_are_sorted_by_name_and_ids_may_be_numbers(tmp_path, ending):
    rows = [{"item_id": i, "said": said, "sure": 0.5} for i, said in enumerate([10, 9, 10])]
    path = write(tmp_path / f"predictions.{ending}", rows)

    found = read(plan_of_said(path, data={"id": "item_id"}))

    assert found.classes == ("10", "9")
    assert ids_of(found) == ["0", "1", "2"]
    assert found.predicted.tolist() == [0, 1, 0]


def test_the_rows_of_a_json_file_need_not_be_alike(tmp_path):
    rows = [{"item_id": 7, "said": True, "sure": 1}, {"item_id": "8", "said": False, "sure": 0.5}]
    found = read(plan_of_said(write(tmp_path / "a.jsonl", rows), data={"id": "item_id"}))

    assert ids_of(found) == ["7", "8"]
    assert found.classes == ("false", "true")


@given(st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any), st.integers(1, 30))
def test_the_prediction_is_the_first_class_with_the_largest_probability(weights, n_rows):
    shares = np.array(weights) / sum(weights)
    names = [f"p_{k}" for k in range(len(weights))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        rows = [{"item_id": str(i), **dict(zip(names, shares, strict=True))} for i in range(n_rows)]
        found = read(plan_of(write(path, rows), probabilities=names, data={"id": "item_id"}))

    assert set(found.predicted.tolist()) == {weights.index(max(weights))}
    assert found.score == pytest.approx(np.full(n_rows, shares.max()))


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (("p_0", "p_1"), ("0", "1")),
        (("prob.big_cat", "prob.big_dog"), ("cat", "dog")),
        (("cat", "car"), ("cat", "car")),
        (("p_", "p_a"), ("p_", "p_a")),
    ],
)
def test_classes_are_called_by_what_their_columns_do_not_share(columns, names):
    assert without_shared_prefix(columns) == names


def test_given_classes_name_the_probability_columns(tmp_path):
    assert class_names(plan_of(tmp_path / "a.csv", classes=["Katze", "Hund"])) == ("Katze", "Hund")


def test_rows_that_nearly_sum_to_one_are_let_pass_with_a_score_of_at_most_one(tmp_path):
    path = csv_of(tmp_path, "item_id,p_cat,p_dog,text", "1,1.0009,0,a", "2,0.5,0.4995,b")
    assert read(plan_of(path)).score.tolist() == [1.0, 0.5]


def test_classes_that_are_never_predicted_are_kept(tmp_path):
    found = read(plan_of_said(csv_of(tmp_path, *SAID), classes=["cow", "cat", "dog"]))
    assert found.classes == ("cow", "cat", "dog")
    assert found.predicted.tolist() == [1, 2, 1]
