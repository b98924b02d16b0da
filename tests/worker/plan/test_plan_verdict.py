"""What a plan may say of outputs that a person judges, and what they do not go with."""

from pathlib import Path
from typing import Any

import pytest

from tests.worker.answers import values_of
from tests.worker.plan.plans import SMALLEST, load, mistakes, plan_with


def test_the_verdicts_choices_are_the_classes_of_which_the_right_ones_count_as_the_first(
    tmp_path: Path,
) -> None:
    plan = load(tmp_path, values_of())
    assert plan.pool.classes == ("Correct", "Wrong", "Unsafe")
    assert plan.annotation.verdict is not None
    assert plan.annotation.verdict.counts_as == {"Acceptable": "Correct"}
    assert (plan.prior.kind, plan.pool.strata) == ("empirical", 16)


def test_without_a_judge_there_are_no_scores_and_no_strata(tmp_path: Path) -> None:
    plan = load(tmp_path, values_of(pool={"score": None}))
    assert not plan.pool.has_scores
    assert plan.pool.strata == 1


def test_all_outputs_are_one_group_where_none_is_named(tmp_path: Path) -> None:
    values = values_of(question={"task": "estimate"})
    del values["pool"]["groups"]
    assert [str(factor) for factor in load(tmp_path, values).pool.factors] == ["all_items"]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"pool": {"predicted": "model"}}, "pool.predicted: came beside `annotation.verdict`"),
        ({"pool": {"classes": ["a", "b"]}}, "pool.classes: came beside `annotation.verdict`"),
        ({"pool": {"groups": "superclass(map.csv)"}}, "pool.groups: came superclass, but"),
        ({"pool": {"groups": ["predicted_class", "topic"]}}, "name columns, as in [model, topic]"),
        ({"pool": {"groups": "predicted_class"}}, "pool.groups: missing; the task identify needs"),
        ({"pool": {"score": None, "groups": "score_bin(5)"}}, "came score_bin(5), but"),
        ({"pool": {"data": {"a": "judge_p"}}}, "the column judge_p holds the score, which"),
        ({"pool": {"opinions": [{"name": "o", "predicted": "q"}]}}, "is `right: COLUMN`"),
        ({"question": {"metric": "f1", "positive": "Wrong"}}, "came f1, which asks for true"),
        ({"question": {"metric": "judge_tpr", "positive": "Unsafe"}}, "came Unsafe beside"),
        ({"question": {"metric": "judge_tnr"}, "pool": {"groups": "score_bin(5)"}}, "says the sam"),
        ({"question": {"metric": "judge_tpr"}, "pool": {"score": None}}, "came judge_tpr, which"),
        ({"annotation": {"verdict": {"right": ["Yes"], "wrong": ["Yes"]}}}, "`right` has too"),
        ({"annotation": {"verdict": {"right": ["A", "A"], "wrong": ["B"]}}}, "stands there twice"),
        ({"annotation": {"verdict": {"right": ["A"], "wrong": []}}}, "verdict.wrong"),
        ({"annotation": {"verdict": {"right": ["A"]}}}, "verdict.wrong"),
    ],
)  # fmt: skip
def test_what_outputs_do_not_go_with_is_a_mistake_that_says_what_to_do(
    tmp_path: Path, parts: dict[str, Any], told: str
) -> None:
    assert any(told in found for found in mistakes(tmp_path, values_of(**parts)))


def test_classes_alone_are_no_prediction(tmp_path: Path) -> None:
    plan = plan_with(SMALLEST, pool__probabilities=None, pool__classes=["a", "b"])
    (found,) = mistakes(tmp_path, plan)
    assert "pool: came no predicted, expected either" in found
    assert "annotation: {verdict: ...}" in found


def test_only_outputs_have_a_judge(tmp_path: Path) -> None:
    question = {"task": "estimate", "metric": "judge_tpr"}
    (found,) = mistakes(tmp_path, plan_with(SMALLEST, question=question))
    assert "question.metric: came judge_tpr, which is of a judge of outputs" in found
    assert "use recall" in found


PAIRED = {"groups": "model", "pairs_by": "prompt", "score": None}
COMPARED = {"task": "compare", "compare": "all"}


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"question": {"task": "identify"}}, "pairs tell of differences, and the task is identify"),
        ({"question": COMPARED | {"metric": "judge_tpr"}}, "the metric is judge_tpr; leave it out"),
        ({"stop": {"guarantee": "anytime"}}, "a bound that holds at any time knows nothing"),
        ({"population": "infinite", "pool": PAIRED | {"strata": 1}}, "has other prompts"),
        ({"annotation": {"per_item": 3}}, "one whole verdict an output, and the rule is dawid-s"),
        (
            {"pool": PAIRED | {"groups": "prompt", "data": {"answer": "output"}}},
            "it is a column of the groups",
        ),
        ({"pool": PAIRED | {"parents": "topic"}}, "leave `pool.parents` out, too"),
        ({"pool": PAIRED | {"opinions": [{"name": "o", "right": "q"}]}}, "`pool.opinions` out, t"),
    ],
)
def test_what_pairs_do_not_go_with_is_a_mistake_that_says_what_to_do(
    tmp_path: Path, parts: dict[str, Any], told: str
) -> None:
    values = values_of(**{"question": COMPARED, "pool": PAIRED, **parts})
    found = [one for one in mistakes(tmp_path, values) if "pool.pairs_by: came prompt, but" in one]
    assert any(told in one for one in found)


def test_only_outputs_that_a_person_judges_are_paired(tmp_path: Path) -> None:
    question = {"task": "compare", "compare": "all"}
    plan = plan_with(SMALLEST, question=question, pool__pairs_by="prompt")
    assert any("`annotation.verdict` is missing" in one for one in mistakes(tmp_path, plan))
