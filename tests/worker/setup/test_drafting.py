import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import DraftingError, PredictionsError
from worker.plan import Plan, load_plan
from worker.pool import check_question, compile_pool
from worker.setup.drafting import draft_plan


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    else:
        lines = [columns, *(row.values() for row in rows)]
        path.write_text("\n".join(",".join(f'"{value}"' for value in line) for line in lines))
    return path


def drafted(predictions: Path, **given: Any) -> Plan:
    """The drafted plan, loaded as it is, its pool compiled and its question checked."""
    path = predictions.parent / "plans" / "plan.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(draft_plan(predictions, path, **given), encoding="utf-8")
    plan = load_plan(path)
    check_question(plan, compile_pool(plan, predictions.parent / "pools"))
    return plan


PROBABILITIES: dict[str, list[Any]] = {
    "item_id": ["a", "b"],
    "p_cat": [0.25, 1],
    "p_dog": [0.75, 0],
    "image_url": ["x", "y"],
    "truth": ["cat", "dog"],
}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_probability_columns_are_found_by_their_prefix_and_their_sum(tmp_path, ending):
    plan = drafted(write(tmp_path / f"animals 2.{ending}", PROBABILITIES))

    assert plan.assessment == "animals-2"
    assert plan.pool.predictions == tmp_path / "plans" / ".." / f"animals 2.{ending}"
    assert plan.pool.id == "item_id"
    assert plan.pool.probabilities == ("p_cat", "p_dog")
    assert plan.pool.classes == ("cat", "dog")
    assert plan.pool.data == {"image_url": "image_url"}
    assert plan.pool.groups == "predicted_class"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_predicted_class_with_a_score_is_found(tmp_path, ending):
    columns = {
        "uuid": ["a", "b"], "Prediction": [3, 5], "confidence": [0.5, 1.0], "text": ["x", "y"]
    }  # fmt: skip
    plan = drafted(write(tmp_path / f"a.{ending}", columns))
    assert (plan.pool.id, plan.pool.predicted, plan.pool.score) == (
        "uuid", "Prediction", "confidence"
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_list_column_gets_placeholders_for_the_names_of_its_classes(tmp_path, ending):
    columns = {"id": ["a", "b"], "probs": [[0.5, 0.5], [0.1, 0.9]], "text": ["x", "y"]}
    plan = drafted(write(tmp_path / f"a.{ending}", columns))
    assert plan.pool.probabilities == "probs"
    assert plan.pool.classes == ("class 0", "class 1")


def test_columns_that_are_given_are_taken_as_they_are(tmp_path):
    columns = {
        "name": ["a", "b"], "guess": ["x", "y"], "sure": [0.5, 1.0], "what": ["x", "y"],
        "text": ["never", "shown"],
    }  # fmt: skip
    path = write(tmp_path / "a.csv", columns)

    plan = drafted(
        path, id="name", predicted="guess", score="sure", data=["what"], assessment="mine"
    )

    assert plan.assessment == "mine"
    assert plan.pool.data == {"what": "what"}
    assert plan.pool.predicted == "guess"


def test_given_probabilities_need_no_prefix(tmp_path):
    columns = {"id": ["a", "b"], "cat": [0.5, 0.1], "dog": [0.5, 0.9], "text": ["x", "y"]}
    plan = drafted(write(tmp_path / "a.csv", columns), probabilities=["cat", "dog"])
    assert plan.pool.probabilities == ("cat", "dog")


def test_the_truth_is_never_shown_to_annotators_by_a_guess(tmp_path):
    columns = PROBABILITIES | {"image_url": [0.5, 0.5], "label": ["cat", "dog"]}
    columns |= {"subject": ["cat", "dog"], "description": ["a cat", "a dog"]}
    plan = drafted(write(tmp_path / "a.csv", columns))
    assert set(plan.pool.data.values()) == {"image_url"}


def test_an_id_must_be_unique_to_be_guessed(tmp_path):
    columns = PROBABILITIES | {"item_id": ["a", "a"], "id": ["a", "b"]}
    assert drafted(write(tmp_path / "a.csv", columns)).pool.id == "id"


@pytest.mark.parametrize("name", ["ticket_id", "ID of ticket", "ticketId"])
def test_a_unique_column_that_is_called_so_is_the_id(tmp_path, name):
    columns = {key: values for key, values in PROBABILITIES.items() if key != "item_id"}
    columns |= {"code": ["q", "r"], name: ["a", "b"]}
    assert drafted(write(tmp_path / "a.csv", columns)).pool.id == name


def test_of_many_rows_the_column_that_names_them_is_the_id_and_never_a_text(tmp_path):
    rows = range(20)
    columns = {
        "said": [f"some words of {n}" for n in rows],  # unique, and no name
        "region": ["north"] * 20,
        "ticket": [f"T{n}" for n in rows],
        "predicted": ["cat", "dog"] * 10,
        "score": [0.5 + n / 100 for n in rows],
        "message": [f"word-{n}" for n in rows],
    }
    assert drafted(write(tmp_path / "many.csv", columns)).pool.id == "ticket"
    few = {name: values[:19] for name, values in columns.items()}
    assert drafted(write(tmp_path / "few.csv", few)).pool.id == "row number"


@pytest.mark.parametrize("mark", [";", "\t"])
def test_columns_may_be_parted_by_semicolons_and_tabs(tmp_path, mark):
    text = write(
        tmp_path / "commas.csv", PROBABILITIES | {"image_url": ["x, y", "z; w"]}
    ).read_text()
    path = tmp_path / "a.csv"
    path.write_text(text.replace('","', f'"{mark}"'))
    plan = drafted(path)
    assert plan.pool.probabilities == ("p_cat", "p_dog")
    assert compile_pool(plan, tmp_path / "pools").n_items == 2


@pytest.mark.parametrize(("without", "option"), [("p_dog", "--predicted"), ("image_url", "--data")])
def test_what_cannot_be_guessed_is_asked_for_with_the_columns_that_were_seen(
    tmp_path, without, option
):
    columns = {name: values for name, values in PROBABILITIES.items() if name != without}
    with pytest.raises(DraftingError) as caught:
        draft_plan(write(tmp_path / "a.csv", columns), tmp_path / "plan.yaml")
    assert option in str(caught.value)
    assert f"its columns are {', '.join(columns)}" in str(caught.value)


def test_where_nothing_can_be_guessed_a_person_is_asked_once_and_the_answer_is_taken(tmp_path):
    columns = {name: values for name, values in PROBABILITIES.items() if name != "image_url"}
    columns |= {"where": ["here", "there"], "truth": ["cat", "dog"]}
    asked: list[str] = []

    def ask(question: str, choices: Sequence[str]) -> str:
        asked.append(question)
        assert "truth" not in choices
        return "where"

    plan = drafted(write(tmp_path / "a.csv", columns), ask=ask)
    assert asked == ["Which column do annotators look at?"]
    assert plan.pool.data == {"where": "where"}


def test_a_given_column_that_is_not_there_is_told_with_the_nearest(tmp_path):
    path = write(tmp_path / "a.csv", PROBABILITIES)
    with pytest.raises(DraftingError, match="no column imageurl; did you mean image_url"):
        draft_plan(path, tmp_path / "plan.yaml", data=["imageurl"])


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(PredictionsError, match="no such file"):
        draft_plan(tmp_path / "none.csv", tmp_path / "plan.yaml")


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)


@given(st.lists(names, min_size=2, max_size=4, unique=True), names)
def test_any_names_of_columns_survive_the_way_through_yaml(tmp_path_factory, classes, shown):
    folder = tmp_path_factory.mktemp("draft")
    columns = [f"p_{name}" for name in classes]
    share = [1 / len(columns)]
    table = {"item_id": ["a"]} | {name: share for name in columns} | {f"t{shown}": ["x"]}
    path = folder / "a.parquet"
    pq.write_table(pa.table(table), path)

    (folder / "plan.yaml").write_text(
        draft_plan(path, folder / "plan.yaml", data=[f"t{shown}"]), encoding="utf-8"
    )
    pool = load_plan(folder / "plan.yaml").pool

    assert pool.probabilities == tuple(columns)
    assert list(pool.data.values()) == [f"t{shown}"]
