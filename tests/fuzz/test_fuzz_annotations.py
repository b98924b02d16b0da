"""Whatever stands in an annotation: it is judged, and counted only if it names a class."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.labels import BrokenAnnotation, judge
from tests.amount import IS_SHORT
from tests.fuzz.mutations import anything, mutated
from tests.fuzz.targets import CHOICES, NUMBER, RATING, annotation, bounded

N = 300 if IS_SHORT else 2_000
GOOD = {
    "id": 7,
    "completed_by": 3,
    "was_cancelled": False,
    "updated_at": "2026-01-02T03:04:05.678901Z",
    "lead_time": 1.5,
    "result": [
        {"from_name": "answer", "to_name": "text", "type": "choices", "value": {"choices": ["cat"]}}
    ],
}
RATED = {**GOOD, "result": [{"from_name": "answer", "value": {"rating": 2}}]}
MEASURED = {**GOOD, "result": [{"from_name": "answer", "value": {"number": 0.5}}]}
ODD = st.sampled_from(
    ["cat", "dog", "1", 1, True, [], {}, "\ud800", 10**400, float("nan"), float("inf"), -1, 2.0]
)


@settings(max_examples=N, derandomize=True)
@given(sent=st.sampled_from([GOOD, RATED, MEASURED]).flatmap(lambda good: mutated(good, ODD)))
def test_a_changed_annotation_is_counted_only_if_it_names_a_class(sent: Any) -> None:
    with bounded():
        annotation(json.dumps(sent).encode())


@settings(max_examples=N, derandomize=True)
@given(what=st.dictionaries(st.sampled_from([*GOOD]), anything | ODD))
def test_an_annotation_of_anything_is_judged_or_refused_with_a_reason(what: Any) -> None:
    with bounded():
        annotation(json.dumps({**GOOD, **what}).encode())


@settings(max_examples=N, derandomize=True)
@given(result=anything, rest=st.dictionaries(st.sampled_from(["lead_time", "was_cancelled"]), ODD))
def test_nothing_that_a_person_can_send_raises(result: Any, rest: dict[str, Any]) -> None:
    """A person writes these keys; the others Label Studio writes."""
    for schema in (CHOICES, RATING, NUMBER):
        said = judge({**GOOD, **rest, "result": result}, schema)
        assert said.status != "valid" or said.label in schema.labels


@pytest.mark.parametrize(("key", "came"), [("id", None), ("id", 7.5), ("updated_at", "soon")])
def test_an_annotation_that_label_studio_cannot_have_sent_is_refused_by_name(
    key: str, came: object
) -> None:
    with pytest.raises(BrokenAnnotation, match=rf"{key}.*look there"):
        judge({**GOOD, key: came}, CHOICES)


def test_a_label_beside_the_classes_is_kept_with_its_reason_and_never_counted() -> None:
    sent = {**GOOD, "result": [{"from_name": "answer", "value": {"choices": ["\ud800cat"]}}]}

    said = judge(sent, CHOICES)

    assert (said.status, said.label) == ("rejected", None)
    assert said.reason == r"the label '\ud800cat' is not one of the classes"
