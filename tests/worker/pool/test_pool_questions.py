"""What may be asked of a pool: as many groups as have items, and pairs that it knows."""

from pathlib import Path

import pytest

from tests.worker.pool.csv_pool import THREE_CLASSES, plan_of, table_of, write_animals, write_csv
from worker.errors import PlanError
from worker.pool import check_question, compared_pairs, compile_pool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_animals(tmp_path)


def test_top_must_leave_a_group_with_items_out(folder):
    for top, is_right in ((2, True), (3, False), (4, False)):
        plan = plan_of(
            folder, classes=["ant", *THREE_CLASSES], question={"task": "identify", "top": top}
        )
        pool = compile_pool(plan, folder / "pools")
        if is_right:
            check_question(plan, pool)
        else:
            with pytest.raises(PlanError, match=r"less than the 3 groups.*without items: ant"):
                check_question(plan, pool)


@pytest.mark.parametrize(
    ("question", "is_right"),
    [
        ({"task": "identify"}, False),
        ({"task": "compare", "compare": "all"}, False),
        ({"task": "estimate"}, True),
    ],
)
def test_only_an_estimate_can_do_with_one_group(tmp_path, question, is_right):
    write_csv(tmp_path / "a.csv", table_of([("cat", 0.5, "x"), ("cat", 0.6, "x")]))
    plan = plan_of(tmp_path, question=question)
    pool = compile_pool(plan, tmp_path / "pools")
    if is_right:
        check_question(plan, pool)
    else:
        with pytest.raises(PlanError, match=r"1 group has items \(without items: dog, cow\)"):
            check_question(plan, pool)


def test_groups_to_compare_must_be_known_and_the_nearest_is_named_first(folder):
    plan = plan_of(
        folder,
        classes=["ant", *THREE_CLASSES],
        question={"task": "compare", "compare": [["cow", "dgo"], ["cow", "ant"]]},
    )
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PlanError) as caught:
        check_question(plan, pool)
    assert caught.value.problems[0].endswith("'dgo' is not known; the groups are dog, cow, cat")
    assert "'ant' has no items" in caught.value.problems[1]


def test_pairs_are_given_by_the_index_of_their_groups_and_all_means_those_with_items(folder):
    classes = ["ant", *THREE_CLASSES]
    listed = plan_of(
        folder, classes=classes, question={"task": "compare", "compare": ["cow", "cat"]}
    )
    every = plan_of(folder, classes=classes, question={"task": "compare", "compare": "all"})
    pool = compile_pool(listed, folder / "pools")

    assert compared_pairs(listed, pool) == ((3, 1),)
    assert compared_pairs(every, pool) == ((1, 2), (1, 3), (2, 3))
    assert compared_pairs(plan_of(folder, classes=classes), pool) == ()
