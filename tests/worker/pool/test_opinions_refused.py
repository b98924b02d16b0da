"""Opinions that cannot be used are refused, with the file, the column, the rows and what to do."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.worker.pool.opinions_pool import (
    ENSEMBLE,
    EVERY,
    JUDGE,
    OLD,
    WORDS,
    N,
    animals,
    own_file,
    plan_of,
    two_sites,
    write,
)
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool import compile_pool


def refusal(plan: Plan, path: Path | None = None) -> str:
    """What is said of it, without the file's name, which must stand before."""
    with pytest.raises(PredictionsError) as caught:
        compile_pool(plan, plan.pool.predictions.parent / "pools")
    told, path = str(caught.value), path or plan.pool.predictions
    assert told.startswith(f"{path}: ")
    return told.removeprefix(f"{path}: ")


def with_value(column: str, row: int, value: Any) -> dict[str, list[Any]]:
    table = animals()
    table[column][row] = value
    return table


def test_classes_that_are_none_of_ours_are_refused(tmp_path: Path) -> None:
    write(tmp_path, with_value("old_class", 4, "Cat"))
    assert refusal(plan_of(tmp_path, OLD)) == (
        "the opinion old (column old_class) holds Cat, not among the classes cat, dog, cow, in row "
        "5; write them alike, or list all classes under `pool.classes`"
    )


def test_where_nobody_listed_the_classes_most_of_them_must_be_ours(tmp_path: Path) -> None:
    write(tmp_path, animals() | {"old_class": ["0", "1", "2"] * (N // 3)})
    text = refusal(plan_of(tmp_path, OLD, classes=None))
    told = "holds 0, 1, 2, not among the classes cat, cow, dog, in rows 1, 2, 3, 4, 5 and 55 more"
    assert told in text


def test_another_number_of_classes_is_refused(tmp_path: Path) -> None:
    write(tmp_path, animals())
    two = ENSEMBLE | {"probabilities": ["e_cat", "e_dog"]}
    assert refusal(plan_of(tmp_path, two)) == (
        "the opinion ensemble has 2 columns of probabilities, expected one for each of the 3 "
        "classes (cat, dog, cow), in that order"
    )


def test_probabilities_of_the_right_classes_in_another_order_are_refused(tmp_path: Path) -> None:
    write(tmp_path, animals())
    turned = ENSEMBLE | {"probabilities": ["e_dog", "e_cat", "e_cow"]}
    assert refusal(plan_of(tmp_path, turned)) == (
        "the opinion ensemble has the columns e_dog, e_cat, e_cow, but the classes are cat, dog, "
        "cow, in that order; write [e_cat, e_dog, e_cow]"
    )


def test_lists_of_another_length_are_refused(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"item_id": table["item_id"], "e": [[0.5, 0.5]] * N}), path)
    own = {"name": "ensemble", "probabilities": "e", "predictions": path}
    assert refusal(plan_of(tmp_path, own), path) == (
        "a list of the opinion ensemble (column e) has 2 values, expected 3, one for each of the "
        "classes (cat, dog, cow), in that order"
    )


def test_a_file_with_none_of_the_pools_ids_is_refused_with_some_of_both(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    table["item_id"] = [f"img-{name}" for name in table["item_id"]]
    path = write(tmp_path, table, "own.csv")
    assert refusal(plan_of(tmp_path, JUDGE | {"predictions": path}), path) == (
        "the opinion judge has none of the pool's items: its ids (column item_id) are img-000, "
        "img-001, img-002, those of the pool (column item_id) 000, 001, 002; write them alike, or "
        "name the right column under `id`"
    )


def test_a_column_of_ids_that_is_not_there_is_told(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    path = own_file(tmp_path, table, ("judge_p",))
    text = refusal(plan_of(tmp_path, JUDGE | {"predictions": path}), path)
    assert text.startswith("no column item_id; its columns are key, judge_p")


def test_an_id_that_is_twice_in_an_opinions_file_is_refused(tmp_path: Path) -> None:
    table = animals()
    write(tmp_path, table)
    table["item_id"][8] = table["item_id"][2]
    path = write(tmp_path, table, "own.csv")
    assert refusal(plan_of(tmp_path, JUDGE | {"predictions": path}), path) == (
        "the id (column item_id) is not unique (first: '002', as in row 3) in row 9"
    )


@pytest.mark.parametrize(
    ("opinion", "column", "value", "told"),
    [
        (
            OLD,
            "old_score",
            1.2,
            "the opinion old (column old_score) is not within 0 and 1 (first: 1.2; 87% is 0.87) "
            "in row 5",
        ),
        (
            JUDGE,
            "judge_p",
            -0.1,
            "the opinion judge (column judge_p) is not within 0 and 1 (first: -0.1; 87% is 0.87) "
            "in row 5",
        ),
        (
            JUDGE,
            "judge_p",
            "inf",
            "the opinion judge (column judge_p) is not within 0 and 1 (first: inf; 87% is 0.87) "
            "in row 5",
        ),
        (
            WORDS,
            "n_words",
            "inf",
            "the opinion words (column n_words) is infinite (write a number, or leave it empty "
            "where there is none) in row 5",
        ),
        (
            ENSEMBLE,
            "e_cat",
            1.5,
            "the probabilities of the opinion ensemble do not sum to 1",
        ),
        (ENSEMBLE, "e_cat", "inf", "a probability of the opinion ensemble is infinite in row 5"),
        (WORDS, "n_words", "many", "row 5 has 'many' in the column n_words, expected a number"),
    ],
)
def test_numbers_outside_their_range_are_refused_by_their_rows(
    tmp_path: Path, opinion: dict[str, Any], column: str, value: object, told: str
) -> None:
    write(tmp_path, with_value(column, 4, value))
    text = refusal(plan_of(tmp_path, opinion))
    assert text.startswith(told)
    assert "row" in text


def test_texts_that_say_neither_yes_nor_no_are_refused(tmp_path: Path) -> None:
    table = animals() | {"judge_p": ["yes", "no", "maybe", "Yes"] * (N // 4)}
    write(tmp_path, table)
    assert refusal(plan_of(tmp_path, JUDGE)) == (
        "the opinion judge (column judge_p) is no probability, yes or no (first: 'maybe') in rows "
        f"3, 7, 11, 15, 19 and {N // 4 - 5} more"
    )


@pytest.mark.parametrize("opinion", EVERY, ids=[one["name"] for one in EVERY])
def test_an_opinion_of_no_item_at_all_is_refused(tmp_path: Path, opinion: dict[str, Any]) -> None:
    columns = plan_of(tmp_path, opinion).pool.opinions
    assert columns is not None
    write(tmp_path, animals() | {name: [""] * N for name in columns[0].columns})
    assert "says nothing of any item; name another column" in refusal(plan_of(tmp_path, opinion))


def test_a_fault_in_the_file_of_a_site_is_told_by_that_file_and_its_rows(tmp_path: Path) -> None:
    sites = two_sites(tmp_path)
    table = animals(first="south")
    table["judge_p"][4] = 7
    path = write(tmp_path, table, "south.csv")
    text = refusal(plan_of(tmp_path, JUDGE, **sites), path)
    assert text.endswith("(first: 7; 87% is 0.87) in row 5")


def test_a_fault_is_told_by_its_row_also_where_rows_are_left_out(tmp_path: Path) -> None:
    table = with_value("item_id", 1, "") | {"judge_p": [7, *animals()["judge_p"][1:]]}
    table["judge_p"][4] = 7
    write(tmp_path, table)
    text = refusal(plan_of(tmp_path, JUDGE, drop=["empty"]))
    assert text.endswith("(first: 7; 87% is 0.87) in rows 1, 5")


@pytest.mark.parametrize(
    ("opinion", "shown", "told"),
    [
        (OLD, "old_class", "is the class of old"),
        (OLD, "old_score", "is the probability of old"),
        (JUDGE, "judge_p", "is the probability of judge"),
        (ENSEMBLE, "most", "is the class of ensemble"),
    ],
)
def test_what_an_opinion_says_is_shown_under_no_other_name(
    tmp_path: Path, opinion: dict[str, Any], shown: str, told: str
) -> None:
    table = animals()
    names = ("cat", "dog", "cow")
    shares = list(zip(*(table[f"e_{name}"] for name in names), strict=True))
    table["most"] = [names[row.index(max(row))] for row in shares]
    table["other_name"] = table[shown]
    write(tmp_path, table)
    plan = plan_of(tmp_path, opinion, data={"image": "url", "hint": "other_name"})
    assert refusal(plan).startswith(f"the column other_name (`pool.data.hint`) {told} in 100.0%")


def test_a_judges_yes_and_no_are_shown_under_no_other_name(tmp_path: Path) -> None:
    said = [("yes", "no")[row % 3 == 0] for row in range(N)]
    table = animals() | {"judge_p": said, "hint": [{"yes": "A", "no": "B"}[one] for one in said]}
    write(tmp_path, table)
    plan = plan_of(tmp_path, JUDGE, data={"image": "url", "hint": "hint"})
    assert "stands for what judge says, one to one" in refusal(plan)
