"""Predictions that cannot be used are refused, with the file, the column and the rows."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.worker.pool.predictions_files import (
    ROWS,
    SAID,
    csv_of,
    plan_of,
    plan_of_said,
    read,
    write,
)
from worker.errors import PredictionsError
from worker.plan.pool_part import PoolPlan

HEADER = "item_id,p_cat,p_dog,text,colour"


def refusal(plan: PoolPlan) -> str:
    with pytest.raises(PredictionsError) as caught:
        read(plan)
    assert str(plan.predictions) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", None, "no such file"),
        ("a.parquet", None, "no such file"),
        ("a.jsonl", None, "no such file"),
        ("a.csv", b"", "empty"),
        ("a.jsonl", b"", "empty"),
        ("a.jsonl", b"\n\n", "empty"),
        ("a.parquet", b"", "empty"),
        ("a.csv", b"item_id,p_cat,p_dog,text\n", "no rows"),
        ("a.parquet", b"PAR1 and then nothing", "is it complete"),
        ("a.csv", b"item_id,p_cat,p_dog,text\n1,.5,.5,a\n\n2,.5", "row 2 has 2 of 4 values"),
        ("a.csv", b"item_id,p_cat,p_dog,text\n1,.5,.5,\x81\n", "UTF-8"),
        ("a.csv", b"item_id,p_cat,p_dog,text\n1,.5,.5,a\n2,half,.5,b\n", "row 2 has 'half'"),
        ("a.jsonl", b'{"item_id": "1", "p_cat": 0.5', "row 1 is not JSON"),
        ("a.jsonl", b"[1]\n", "row 1 is no JSON object"),
        ("a.jsonl", b'{"item_id": "\xe9"}\n', "row 1 is not UTF-8"),
        ("a.csv.gz", gzip.compress(b"item_id,p\n" * 99, mtime=0)[:-20], "is it complete"),
        ("a.jsonl.gz", gzip.compress(b'{"item_id": 1}\n' * 99, mtime=0)[:-20], "is it complete"),
        ("a.xls", b"x", "expected .csv"),
        ("a.xlsx", b"x", "save it as .xlsx or .csv"),
        ("noending", b"x", "expected .csv"),
        ("a.parquet.gz", b"x", "expected .csv"),
        ("a.gz", b"x", "came the ending of a.gz, expected .csv"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_reason(tmp_path, name, content, reason):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert reason in refusal(plan_of(path))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_folder_is_no_predictions_file(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "folder" in refusal(plan_of(tmp_path / name))


def test_a_truncated_line_late_in_a_json_file_is_told_by_its_row(tmp_path):
    row = '{"item_id": "%d", "p_cat": 0.5, "p_dog": 0.5, "text": "x"}\n'
    path = tmp_path / "a.jsonl"
    path.write_text("".join(row % i for i in range(500)) + '{"item_id": "500", "p_c')
    assert "row 501 is not JSON" in refusal(plan_of(path))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_missing_column_is_told_with_the_nearest_one(tmp_path, ending):
    path = write(tmp_path / f"a.{ending}", ROWS)
    told = refusal(plan_of(path, groups="color"))
    assert "no column color; did you mean colour?" in told


def test_a_mark_within_a_value_is_told_as_what_it_is(tmp_path):
    header, rows = HEADER.replace(",", ";"), ["1;.5;.5;a;r", "2;.5;.5;b; c;r"]
    told = refusal(plan_of(csv_of(tmp_path, header, *rows)))
    assert "row 2 has 6 of 5 values" in told
    assert "a value with a semicolon not in quotes" in told


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    path = csv_of(tmp_path, "item_id,p_cat,p_dog,text,text", "1,.5,.5,a,b")
    assert "column text is there twice" in refusal(plan_of(path))


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            ["1,.5,.5,a,r", "2,.5,.5,a,r", "1,.5,.5,a,r"],
            "(first: '1', as in row 1) in row 3",
        ),
        (["1,.5,.5,a,r", ",.5,.5,a,r"], "the id (column item_id) is missing or empty in row 2"),
        (["1,.5,.5,a,r", "  ,.5,.5,a,r"], "the id (column item_id) is missing or empty in row 2"),
        (["1,.5,.5,a,r", "2,.5,,a,r"], "missing or NaN in row 2"),
        (["1,nan,.5,a,r", "2,.5,.5,a,r"], "missing or NaN in row 1"),
        (["1,inf,.5,a,r", "2,.5,.5,a,r"], "infinite in row 1"),
        (["1,.5,.5,a,r", "2,1.5,-.5,a,r"], "negative in row 2"),
        (["1,.5,.4,a,r", "2,.5,.5,a,r"], "do not sum to 1 within 0.02 (first sum: 0.9) in row 1"),
        (["1,.5,.5,a,r", "2,.5,.5,,r"], "annotators would see nothing (text empty) in row 2"),
        (["1,.5,.5,a,", "2,.5,.5,a,r"], "the group (column colour) is missing or empty in row 1"),
    ],
)
def test_values_that_cannot_be_are_refused_by_their_rows(tmp_path, lines, reason):
    assert reason in refusal(plan_of(csv_of(tmp_path, HEADER, *lines), groups="colour"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("4,cat,1.5,x", "not within 0 and 1 (first: 1.5) in row 4"),
        ("4,cat,-0.1,x", "not within 0 and 1 (first: -0.1) in row 4"),
        ("4,cat,,x", "the score (column sure) is missing or NaN in row 4"),
        ("4,,0.5,x", "the prediction (column said) is missing or empty in row 4"),
    ],
)
def test_predictions_and_scores_that_cannot_be_are_refused(tmp_path, line, reason):
    assert reason in refusal(plan_of_said(csv_of(tmp_path, *SAID, line)))


def test_nulls_are_refused_in_every_role(tmp_path):
    whole = {"item_id": "a", "said": "cat", "sure": 0.5, "text": "x", "colour": "red"}
    rows = [whole, whole | {"item_id": "b", "said": "dog"}]
    for column in ("item_id", "said", "sure", "text", "colour"):
        broken = [*rows, whole | {"item_id": "c", column: None}]
        for ending in ("jsonl", "parquet"):
            path = write(tmp_path / f"{column}.{ending}", broken)
            assert "in row 3" in refusal(plan_of_said(path, groups="colour"))


def test_only_the_first_rows_are_named_and_the_others_counted(tmp_path):
    path = csv_of(tmp_path, HEADER, *(f"{i},.5,.4,a,r" for i in range(20)))
    assert "in rows 1, 2, 3, 4, 5 and 15 more" in refusal(plan_of(path))


def test_rows_are_counted_through_all_pieces_of_a_large_file(tmp_path):
    n = 300_000
    sure = np.full(n, 0.5)
    columns = {"item_id": [str(i) for i in range(n)], "p_cat": sure, "p_dog": sure}
    columns["p_dog"] = np.where(np.arange(n) == n - 2, 0.4, 0.5)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    assert f"in row {n - 1}" in refusal(plan_of(path, data={"id": "item_id"}))


def test_a_prediction_must_be_among_the_classes(tmp_path):
    told = refusal(plan_of_said(csv_of(tmp_path, *SAID), classes=["cat", "cow"]))
    assert "not among the classes cat, cow (first: 'dog') in row 2" in told


def test_one_class_alone_is_refused(tmp_path):
    assert "one class only (cat)" in refusal(plan_of_said(csv_of(tmp_path, *SAID[:2])))


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_lists_of_unequal_lengths_are_refused(tmp_path, ending):
    rows = [{"item_id": "1", "probs": [0.5, 0.5]}, {"item_id": "2", "probs": [0.5, 0.25, 0.25]}]
    path = write(tmp_path / f"a.{ending}", rows)
    plan = plan_of(path, probabilities="probs", classes=["a", "b"], data={"id": "item_id"})
    assert "has not 2 values, one for each class, in row 2" in refusal(plan)


def test_columns_of_a_kind_that_cannot_be_meant_are_refused(tmp_path):
    rows = [{"item_id": 1.5, "p_cat": "x", "p_dog": 0.5, "text": [1]}]
    path = write(tmp_path / "a.parquet", rows)
    assert "item_id holds double" in refusal(plan_of(path, data={"a": "p_x"} | {"a": "item_id"}))
    assert "text holds list" in refusal(plan_of(path, id="text"))
    rows[0]["item_id"] = 1
    assert "p_cat holds string" in refusal(plan_of(write(path, rows), data={"a": "item_id"}))
    plan = plan_of(path, probabilities="p_dog", classes=["a", "b"], data={"a": "item_id"})
    assert "p_dog holds double, expected a list" in refusal(plan)
