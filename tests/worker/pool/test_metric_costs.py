"""The costs of mistakes: as a file says them, as they are made by name, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.worker.pool.metrics_pool import CLASSES, plan_of, pool_of, write_predictions
from worker.errors import PlanError, PoolChanged, PredictionsError
from worker.pool import check_source, compile_pool, cost_matrix, open_pool

NAMED = "true,cow,cat,dog\ndog,1,2,0\ncat,3,0,4\ncow,0,5,6\n"
IN_ORDER = np.array([[0, 4, 3], [2, 0, 1], [5, 6, 0]], dtype=float)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_predictions(tmp_path)


def costs_of(folder: Path, text: str, **question: Any) -> np.ndarray:
    (folder / "c.csv").write_text(text, encoding="utf-8")
    asked = {"metric": "cost", "costs": str(folder / "c.csv")} | question
    plan = plan_of(folder, asked)
    return cost_matrix(plan, compile_pool(plan, folder / "pools"))


@pytest.mark.parametrize("text", [NAMED, "0,4,3\n2,0,1\n5,6,0\n", "0, 4, 3\n\n2,0,1\n5,6,0"])
def test_costs_are_read_by_their_names_or_in_the_order_of_the_classes(folder, text):
    assert np.array_equal(costs_of(folder, text), IN_ORDER)


def test_classes_that_are_numbers_may_name_rows_and_columns(folder):
    table = pq.read_table(folder / "p.parquet").rename_columns(
        {f"p_{name}": f"p_{k}" for k, name in enumerate(CLASSES)}
    )
    pq.write_table(table, folder / "p.parquet")
    parts = {"probabilities": ["p_0", "p_1", "p_2"], "classes": ["0", "1", "2"]}
    found = []
    for text in (",2,1,0\n0,7,8,9\n1,4,5,6\n2,1,2,3\n", "9,8,7\n6,5,4\n3,2,1\n"):
        (folder / "c.csv").write_text(text)
        plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "c.csv")}, **parts)
        found.append(cost_matrix(plan, compile_pool(plan, folder / "pools")).tolist())
    assert found[0] == found[1] == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0,1\n1,0\n", "has 2 rows of 2 costs, expected 3 rows of 3"),
        ("0,1,1\n1,0,1\n", "has 2 rows of 3 costs, expected 3 rows of 3"),
        ("0,1,1\n1,0\n1,1,0\n", "has 3 rows of 2 or 3 costs"),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", "has 4 rows of 3 costs"),
        ("", "has 0 rows of no costs"),
        ("0,1,1\n1,nan,1\n1,1,0\n", "'nan' for the true class dog predicted as dog"),
        ("0,1,1\n1,0,inf\n1,1,0\n", "'inf' for the true class dog predicted as cow"),
        ("0,1,1\n1,0,\n1,1,0\n", "'' for the true class dog predicted as cow"),
        ("0,1,1\n1,x,y\n1,1,0\n", r"\(2 such in all\), expected a finite number"),
        (NAMED.replace("dog,1,2,0", "dog,1,NaN,0"), "'NaN' for the true class dog .* as cat"),
        (NAMED.replace("\ncow", "\ncrow"), "'crow' in its first column.*did you mean cow"),
        (NAMED.replace(",dog", ",emu"), "'emu' in its first row, which is no class"),
        (NAMED.replace(",dog", ",cat"), "the class cat 2 times in its first row"),
        (NAMED.replace("cow,0,5,6\n", ""), "the class cow 0 times in its first column"),
        (NAMED.replace("3,0,4", "3,0"), "has 3 rows of 2 or 3 costs"),
    ],
)
def test_costs_that_cannot_be_used_are_refused_with_key_and_cure(folder, text, reason):
    with pytest.raises(PlanError, match=reason) as caught:
        costs_of(folder, text)
    assert "question.costs" in str(caught.value)


def test_a_file_of_costs_that_is_not_there_is_told_with_what_may_be_meant(folder):
    plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "superclas")})
    with pytest.raises(PredictionsError, match=r"`question\.costs`; did you mean superclass\?"):
        compile_pool(plan, folder / "pools")


def test_changed_costs_under_a_running_assessment_are_refused(folder):
    (folder / "c.csv").write_text(NAMED)
    plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "c.csv")})
    pool = compile_pool(plan, folder / "pools")
    check_source(pool, plan)
    (folder / "c.csv").write_text(NAMED.replace("6", "7"))
    with pytest.raises(PoolChanged, match="the file with the costs changed"):
        check_source(pool, plan)
    assert np.array_equal(cost_matrix(plan, open_pool(pool.path, pool.file_sha256)), IN_ORDER)


def test_the_costs_human_make_mistaking_a_person_dear(folder):
    asked = {"metric": "cost", "costs": "human", "people": ["dog"]}
    assert cost_matrix(plan_of(folder, asked), pool_of(folder, asked)).tolist() == [
        [0, 1, 1],
        [10, 0, 10],
        [1, 1, 0],
    ]


def test_the_costs_superclass_make_mistakes_across_superclasses_dear(folder):
    (folder / "map.csv").write_text("class,superclass\ncat,people\ndog,people\ncow,farm\n")
    asked = {"metric": "cost", "superclasses": str(folder / "map.csv"), "cost_ratio": 5}
    above = pool_of(folder, asked | {"costs": "superclass"}).costs
    human = pool_of(folder, asked | {"costs": "human"}).costs
    assert above is not None
    assert human is not None
    assert above.tolist() == [[0, 1, 5], [1, 0, 5], [5, 5, 0]]
    assert human.tolist() == [[0, 5, 5], [5, 0, 5], [1, 1, 0]]


def test_who_is_a_person_must_be_known(folder):
    with pytest.raises(PlanError, match=r"question\.people: missing"):
        pool_of(folder, {"metric": "cost", "costs": "human"})
    with pytest.raises(PlanError, match=r"question\.people: the class 'dgo' .*did you mean dog"):
        pool_of(folder, {"metric": "cost", "costs": "human", "people": ["dgo"]})
    (folder / "map.csv").write_text("class,superclass\ncat,home\n")
    asked = {"metric": "cost", "costs": "superclass", "superclasses": str(folder / "map.csv")}
    with pytest.raises(PredictionsError, match="no superclass for the class dog, cow"):
        pool_of(folder, asked)


def test_a_pool_without_costs_says_so(folder):
    with pytest.raises(PlanError, match="the metric is accuracy"):
        cost_matrix(plan_of(folder, {}), pool_of(folder, {}))
