"""Mistakes in a plan: every one is reported at once, with its place and what is expected there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.plan.plans import SMALLEST, load, mistakes, plan_with
from worker.plan import Plan


def test_every_mistake_is_reported_at_once_with_its_line_and_place(tmp_path):
    found = mistakes(
        tmp_path,
        "assessment: digits\n"
        "pool:\n"
        "  predictons: digits.csv\n"
        "  probabilities: [p_0, p_1]\n"
        "  data: {image: url}\n"
        "  strata: 0\n"
        "question: {task: identfy, top: 1.5}\n"
        "gold: {rate: 0.05}\n",
    )

    assert found == (
        "line 2: pool.predictions: missing; the plan needs it",
        "line 3: pool.predictons: unknown key; did you mean predictions?",
        "line 6: pool.strata: came the number 0, expected a number >= 1",
        "line 7: question.task: came 'identfy', expected 'identify', 'estimate', 'compare' or "
        "'evaluate'; did you mean identify?",
        "line 7: question.top: came the number 1.5, expected a whole number",
        "line 8: gold: unknown key; the keys here are assessment, seed, population, since, models, "
        "pool, question, prior, strategy, stop, annotation, evaluate, queue, label_studio, report, "
        "notify, stall_after",
    )


@pytest.mark.parametrize("key", ["pool__extra", "stop__mrr__treshold", "queue__lookahead", "gold"])
def test_an_unknown_key_is_a_mistake_wherever_it_stands(tmp_path, key):
    (found,) = mistakes(tmp_path, plan_with(**{key: 1}))
    assert f"{key.replace('__', '.')}: unknown key" in found


@pytest.mark.parametrize(
    ("written", "came"),
    [("2024-01-01", "the date 2024-01-01"), ("42", "the number 42"), ("true", "true")],
)
def test_an_id_that_yaml_takes_for_something_else_must_be_quoted(tmp_path, written, came):
    text = SMALLEST.replace("assessment: digits", f"assessment: {written}")

    (found,) = mistakes(tmp_path, text)

    assert found.startswith("line 1: assessment: came")
    assert came in found
    assert "quotes" in found
    assert load(tmp_path, text.replace(written, f'"{written}"', 1)).assessment == written


@pytest.mark.parametrize("bad", ["", "..", "a/b", "a.b", "{a}", "a b", "-a", "é", "a" * 65])
def test_an_id_must_be_fit_for_keys_and_folders(tmp_path, bad):
    (found,) = mistakes(tmp_path, plan_with(assessment=bad))
    assert "assessment: came" in found


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True))
def test_any_short_id_of_letters_digits_and_marks_is_taken(name):
    pool = {"predictions": "a.csv", "predicted": "p", "score": "s", "data": {"a": "b"}}
    values = {"assessment": name, "pool": pool, "question": {"task": "identify"}}
    assert Plan.model_validate(values).assessment == name


@pytest.mark.parametrize(
    ("parts", "place", "reason"),
    [
        ({"question__metric": "acuracy"}, "question.metric", "did you mean accuracy"),
        ({"prior__kind": "flat"}, "prior.kind", "'empirical'"),
        ({"strategy": "ucb"}, "strategy", "'bayes-ucb'"),
        ({"stop__guarantee": "always"}, "stop.guarantee", "'anytime'"),
        ({"stop__looks": 0}, "stop.looks", ">= 1"),
        ({"stop__min_per_group": -1}, "stop.min_per_group", ">= 0"),
        ({"queue__mode": "prioritise"}, "queue.mode", "puts the tasks of a project in order"),
        ({"annotation__rule": "majority"}, "annotation.per_item", "there is no majority"),
        ({"annotation__rule": "dawid"}, "annotation.rule", "dawid-skene"),
        ({"annotation__per_item": 0}, "annotation.per_item", "expected"),
        ({"annotation__per_item_max": 3}, "annotation.per_item_max", "only the rule majority"),
        ({"annotation__item_confidence": 0.9}, "annotation.item_confidence", "dawid-skene"),
        (
            {"annotation__gold__items": "g.csv", "annotation__gold__rate": 0.7},
            "annotation.gold.rate",
            "<= 0.5",
        ),
        ({"annotation__skips": 0}, "annotation.skips", ">= 1"),
        ({"queue__look_ahead": True}, "queue.look_ahead", "whole number"),
        ({"prior__strength": 0}, "prior.strength", "> 0"),
        ({"prior__strength": float("inf")}, "prior.strength", "finite"),
        ({"seed": -1}, "seed", ">= 0"),
        ({"population": "endless"}, "population", "'finite' or 'infinite'"),
        ({"question__tolerance": 1}, "question.tolerance", "< 1"),
        ({"question__top": 0}, "question.top", ">= 1"),
        ({"stop__budget": 0}, "stop.budget", ">= 1"),
        ({"stop__mrr__confidence": 1}, "stop.mrr.confidence", "< 1"),
        ({"label_studio__project": "old"}, "label_studio.project", "number of a project"),
        ({"label_studio__url": "localhost"}, "label_studio.url", "http://"),
        ({"pool": None}, "pool", "keys with values"),
        ({"pool__groups": "score_bin"}, "pool.groups", "score_bin(10)"),
        ({"pool__groups": "score_bin(0)"}, "pool.groups", "bins from 1"),
        ({"pool__groups": "scorebin(3)"}, "pool.groups", "did you mean score_bin"),
        ({"pool__groups": "superclass()"}, "pool.groups", "superclass(map.csv)"),
        ({"pool__groups": []}, "pool.groups", "empty list"),
        ({"pool__groups": ["a", "a"]}, "pool.groups", "twice"),
        ({"pool__groups": [1]}, "pool.groups", "quotes"),
        ({"pool__groups": "p_0"}, "pool.groups", "score_bin(10)"),
        ({"pool__id": "p_0"}, "pool.id", "expected the ids"),
        ({"pool__predictions": ""}, "pool.predictions", "path of a file"),
    ],
)
def test_a_bad_value_is_refused_at_its_place(tmp_path, parts, place, reason):
    (found,) = mistakes(tmp_path, plan_with(**parts))
    assert f"{place}: " in found
    assert reason in found


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"pool__probabilities": None}, "pool: came no predicted and no score"),
        ({"pool__probabilities": None, "pool__score": "s"}, "pool: came no predicted,"),
        ({"pool__predicted": "said"}, "pool.probabilities: came beside"),
        ({"pool__score": "s"}, "pool.probabilities: came beside"),
        ({"pool__probabilities": ["p_0"]}, "pool.probabilities: came one class only"),
        ({"pool__probabilities": ["p_0", "p_0"]}, "pool.probabilities: the column p_0"),
        ({"pool__probabilities": "probs"}, "pool.classes: missing"),
        ({"pool__classes": ["a", "b", "c"]}, "pool.classes: came 3 for 2"),
        ({"pool__classes": ["a"]}, "pool.classes: came 1 class"),
        ({"pool__classes": ["a", "a"]}, "pool.classes: the class a stands there twice"),
    ],
)
def test_the_prediction_is_told_in_exactly_one_way(tmp_path, parts, place):
    (found,) = mistakes(tmp_path, plan_with(**parts))
    assert place in found


def test_annotators_are_never_shown_the_prediction_the_score_or_the_group(tmp_path):
    by_probability = mistakes(tmp_path, plan_with(pool__data={"a": "p_1", "b": "text"}))
    by_prediction = mistakes(
        tmp_path,
        plan_with(
            pool__probabilities=None,
            pool__predicted="said",
            pool__score="sure",
            pool__groups=["colour", "score_bin(3)"],
            pool__data={"a": "said", "b": "sure", "c": "colour"},
        ),
    )

    assert [text.split(": ")[1] for text in by_probability] == ["pool.data.a"]
    assert [text.split(": ")[1] for text in by_prediction] == [
        "pool.data.a", "pool.data.b", "pool.data.c"
    ]  # fmt: skip


def test_the_key_item_id_is_reserved_and_annotators_must_see_something(tmp_path):
    assert "Assay's own" in mistakes(tmp_path, plan_with(pool__data={"item_id": "a"}))[0]
    assert "came no columns" in mistakes(tmp_path, plan_with(pool__data={}))[0]


@pytest.mark.parametrize(
    ("question", "stop", "reason"),
    [
        ({"task": "identify"}, {"rope": {}}, "the task identify has mrr"),
        ({"task": "compare", "compare": "all"}, {"width": 0.1}, "the task compare has rope"),
        ({"task": "estimate"}, {"mrr": {}}, "the task estimate has rmse or width"),
        ({"task": "estimate"}, {"rmse": 0.1, "width": 0.1}, "came rmse and width"),
    ],
)
def test_the_stop_rule_must_be_one_of_the_task(tmp_path, question, stop, reason):
    (found,) = mistakes(tmp_path, plan_with(question=question, stop=stop))
    assert "stop: " in found
    assert reason in found


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ({"task": "compare"}, "question.compare: missing"),
        ({"task": "identify", "compare": "all"}, "question.compare: only the task compare"),
        ({"task": "compare", "compare": "all", "top": 2}, "question.top: only the task identify"),
        ({"task": "estimate", "which": "highest"}, "question.which: only the task identify"),
        ({"task": "estimate", "shortlist": 2}, "question.shortlist: only the task identify"),
        ({"task": "identify", "top": 2, "shortlist": 2}, "expected more than question.top"),
        ({"task": "compare", "compare": [1, 2]}, "quotes"),
        ({"task": "compare", "compare": ["a"]}, "expected [group, group]"),
        ({"task": "compare", "compare": ["a", "a"]}, "two different groups"),
        ({"task": "compare", "compare": [["a", "b"], ["b", "a"]]}, "twice"),
        ({"task": "compare", "compare": []}, "expected [group, group]"),
    ],
)
def test_the_question_has_only_what_its_task_needs(tmp_path, question, place):
    (found,) = mistakes(tmp_path, plan_with(question=question))
    assert place in found
