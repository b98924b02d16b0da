"""What a plan may say of opinions, and what they do not go with, told by the key with its line."""

from pathlib import Path
from typing import Any

import pytest

from tests.worker.plan.plans import SMALLEST, load, mistakes, plan_with

OLD = {"name": "old", "predicted": "old_class", "score": "old_score"}
WORDS = {"name": "words", "number": "n_words"}


def mistake(folder: Path, *opinions: Any, **parts: Any) -> str:
    """The one mistake that is found in the smallest plan with these opinions."""
    (found,) = mistakes(folder, plan_with(**{"pool__opinions": [*opinions], **parts}))
    return found.partition(": ")[2]  # without the line


def warnings(folder: Path, *opinions: Any, **parts: Any) -> str:
    plan = load(folder, plan_with(**{"pool__opinions": [*opinions], **parts}))
    return "\n".join(plan.warnings())


def test_a_mistake_in_an_opinion_is_told_with_its_line(tmp_path: Path) -> None:
    opinions = "  opinions:\n    - {name: old, predicted: a}\n    - {name: words, numbre: b}\n"
    text = SMALLEST.replace("question", f"{opinions}question", 1)
    assert mistakes(tmp_path, text) == (
        "line 8: pool.opinions.1.numbre: unknown key; did you mean number?",
    )
    (found,) = mistakes(tmp_path, text.replace("numbre: b", "number: p_0"))
    assert found.startswith("line 8: pool.opinions.1: the column p_0 holds a probability already")


@pytest.mark.parametrize(
    ("opinions", "told"),
    [
        ([], "came 0 of them, expected 1 to 8"),
        ([{"name": f"o{n}", "number": f"n{n}"} for n in range(9)], "came 9 of them, expected 1 to"),
        ([{"name": "old"}], "came none of them, expected one of predicted, probabilities, right"),
        ([OLD | {"right": "p"}], "came predicted and right, expected one of"),
        ([WORDS | {"score": "s"}], "only `predicted` has one; leave it out"),
        ([WORDS | {"id": "key"}], "came without `predictions`"),
        ([WORDS, WORDS | {"number": "other"}], "the name words stands there twice"),
        ([{"name": "e", "probabilities": ["a", "a"]}], "the column a stands there twice"),
        ([{"name": "e", "probabilities": ["a"]}], "came one class only"),
        ([OLD, {"name": "o", "category": "old_class"}], "o has the column old_class that old has"),
        ([OLD | {"score": "old_class"}], "old has the column old_class twice"),
        ([WORDS | {"number": "item_id"}], "the column item_id holds the ids already"),
        ([{"name": "o", "right": "p_0"}], "the column p_0 holds a probability already"),
        ([WORDS | {"number": "url"}], "the column url holds what words says, which annotators"),
    ],
)
def test_opinions_that_are_none_are_mistakes(
    tmp_path: Path, opinions: list[dict[str, Any]], told: str
) -> None:
    assert told in mistake(tmp_path, *opinions)


@pytest.mark.parametrize(
    ("column", "told"),
    [("said", "holds the prediction already"), ("sure", "holds the score already")],
)
def test_the_assessed_prediction_is_no_opinion_of_itself(
    tmp_path: Path, column: str, told: str
) -> None:
    parts = {"pool__probabilities": None, "pool__predicted": "said", "pool__score": "sure"}
    assert told in mistake(tmp_path, {"name": "o", "category": column}, **parts)


def test_the_pools_file_named_once_more_is_still_the_pools(tmp_path: Path) -> None:
    same = {"predictions": "digits.csv"}
    assert "holds a probability already" in mistake(tmp_path, {"name": "o", "right": "p_0"} | same)
    assert "words has the column n_words" not in warnings(tmp_path, WORDS | same)
    again = {"name": "again", "number": "n_words"} | same
    assert "again has the column n_words that words has" in mistake(tmp_path, WORDS, again)


def test_a_column_of_another_file_may_be_called_like_one_of_the_pools(tmp_path: Path) -> None:
    own = {"name": "other", "probabilities": ["p_0", "p_1"], "predictions": "other.csv"}
    plan = load(tmp_path, plan_with(pool__opinions=[own, WORDS | {"number": "n"}]))
    assert plan.pool.opinions is not None
    assert plan.pool.opinions[0].predictions == tmp_path / "other.csv"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"population": "infinite"}, "an infinite population has one stratum a group"),
        ({"prior__kind": "uniform"}, "the prior is uniform"),
        ({"question__metric": "ece"}, "opinions say nothing of"),
        ({"since": "last-month"}, "earlier labels are not told apart by them"),
    ],
)
def test_what_opinions_do_not_go_with_is_told(
    tmp_path: Path, parts: dict[str, Any], told: str
) -> None:
    found = mistake(tmp_path, WORDS, **parts)
    assert told in found
    assert "leave them out" in found


def test_several_models_have_no_opinions_beside_them(tmp_path: Path) -> None:
    models = [
        {"name": name, "predictions": f"{name}.csv", "predicted": "said"} for name in ("a", "b")
    ]
    text = {
        "assessment": "a",
        "models": models,
        "pool": {"data": {"image": "url"}, "opinions": [WORDS]},
        "question": {"task": "identify"},
    }
    found = "\n".join(mistakes(tmp_path, text))
    assert "several models are each other's opinions already; leave them out" in found


def test_opinions_of_a_projects_tasks_need_a_file_of_their_own(tmp_path: Path) -> None:
    plan = {
        "assessment": "a",
        "pool": {"project": 12, "opinions": [WORDS], "data": {"text": "text"}},
        "question": {"task": "identify"},
    }
    (found,) = mistakes(tmp_path, plan)
    assert "pool.opinions.0: came words without a file, but the pool is a project" in found
    plan["pool"]["opinions"] = [WORDS | {"predictions": "own.csv"}]
    assert load(tmp_path, plan).pool.opinions is not None


@pytest.mark.parametrize(
    "parts",
    [{"pool__drop": ["nan"]}, {"pool__predictions": {"north": "a.csv", "south": "b.csv"}}],
    ids=["drop", "sites"],
)
def test_a_list_beside_rows_left_out_or_sites_needs_a_file_of_its_own(
    tmp_path: Path, parts: dict[str, Any]
) -> None:
    own = {"name": "e", "probabilities": "e"}
    assert "name its file: `predictions: ...`" in mistake(tmp_path, own, **parts)
    load(tmp_path, plan_with(**{"pool__opinions": [own | {"predictions": "own.csv"}], **parts}))


def test_an_opinion_that_is_a_group_is_said_to_tell_nothing_within_it(tmp_path: Path) -> None:
    source = {"name": "source", "category": "region"}
    told = warnings(tmp_path, source, pool__groups="region")
    assert "pool.opinions: source is the column region, by which the pool is grouped" in told
    assert not warnings(tmp_path, source)


def test_one_stratum_a_group_leaves_opinions_little_to_tell(tmp_path: Path) -> None:
    assert "pool.strata is 1: opinions tell of whole groups only" in warnings(
        tmp_path, WORDS, pool__strata=1
    )
