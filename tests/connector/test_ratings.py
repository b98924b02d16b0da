"""Ratings and numbers as classes."""

import math

import pytest

from connector.errors import BadConfig
from connector.labels import judge
from connector.ratings import Bins
from connector.schema import Schema, read_schema, write_config

STARS, STAR_CLASSES = Bins((1.0, 2.0, 3.0, 4.0), is_whole=True), ("bad", "so-so", "good")
AGES, AGE_CLASSES = Bins((0.0, 18.0, 65.0, 120.0), is_whole=False), ("young", "grown", "old")
FROM_ZERO = Bins((0.0, 1.0, 2.0, 3.0), is_whole=True)


def annotation(value, n=1, kind="rating"):
    region = {"from_name": "answer", "to_name": "text", "type": kind, "value": value}
    updated = "2026-01-01T00:00:00Z"
    return {"id": 1, "completed_by": 7, "updated_at": updated, "result": [region] * n}


@pytest.mark.parametrize(
    ("bins", "number", "place"),
    [
        (STARS, 1, 0), (STARS, 3, 2), (STARS, 4, None), (STARS, 0, None), (STARS, 2.5, None),
        (AGES, 0, 0), (AGES, 17.9, 0), (AGES, 18, 1), (AGES, 120, 2), (AGES, 120.1, None),
        (AGES, -1, None), (AGES, math.nan, None), (AGES, math.inf, None), (FROM_ZERO, 0, 0),
    ],
)  # fmt: skip
def test_a_number_is_of_the_class_whose_bin_holds_it(bins, number, place):
    assert bins.place(number) == place


@pytest.mark.parametrize(
    ("bins", "classes", "tag"),
    [
        (STARS, STAR_CLASSES, '<Rating name="answer" toName="text" maxRating="3"'),
        (AGES, AGE_CLASSES, '<Number name="answer" toName="text" min="0" max="120" required'),
        (FROM_ZERO, STAR_CLASSES, '<Number name="answer" toName="text" min="0" max="2" step="1"'),
    ],
)
def test_the_control_that_is_written_gives_the_numbers_of_the_scale(bins, classes, tag):
    config = write_config(classes, ["text"], "answer", bins)
    assert tag in config
    assert read_schema(config, None, classes, bins) == Schema("answer", "text", classes, bins)


@pytest.mark.parametrize(
    ("control", "bins", "text"),
    [
        ('<Rating name="a" toName="t" maxRating="5"/>', STARS, "1 to 5"),
        ('<Rating name="a" toName="t"/>', STARS, "1 to 5"),
        ('<Rating name="a" toName="t" maxRating="3"/>', AGES, "0 to 120"),
        ('<Rating name="a" toName="t"/><Number name="b" toName="t"/>', AGES, "b (Number)"),
        ('<Choices name="a" toName="t"><Choice value="x"/></Choices>', STARS, "a (Choices)"),
    ],
)
def test_a_control_with_other_numbers_is_refused_with_the_cure(control, bins, text):
    config = f'<View><Text name="t" value="$text"/>{control}</View>'
    with pytest.raises(BadConfig, match="scale") as refused:
        read_schema(config, None, STAR_CLASSES, bins)
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("value", "bins", "label"),
    [
        ({"rating": 2}, STARS, "so-so"),
        ({"number": 40}, AGES, "grown"),
        ({"number": 64.9}, AGES, "grown"),
    ],
)
def test_an_answer_counts_as_the_class_of_its_number(value, bins, label):
    classes = STAR_CLASSES if bins is STARS else AGE_CLASSES
    found = judge(annotation(value), Schema("answer", "text", classes, bins))
    assert (found.status, found.label) == ("valid", label)


@pytest.mark.parametrize(
    ("value", "n"),
    [
        ({"rating": 9}, 1), ({"rating": 1.5}, 1), ({"rating": True}, 1), ({"rating": "2"}, 1),
        ({"rating": None}, 1), ({"choices": ["good"]}, 1), ({"rating": 1, "number": 2}, 1),
        ({"rating": 2}, 2), (None, 1), ([2], 1),
    ],
)  # fmt: skip
def test_whatever_is_no_number_of_the_scale_is_rejected_with_a_reason(value, n):
    found = judge(annotation(value, n), Schema("answer", "text", STAR_CLASSES, STARS))
    assert (found.status, found.label) == ("rejected", None)
    assert found.reason
