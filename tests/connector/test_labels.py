"""Labelling configurations and annotations, also those that nobody should have written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.errors import BadConfig, UnknownClasses
from connector.labels import judge, microseconds
from connector.schema import Schema, read_schema, write_config

SCHEMA = Schema("answer", "text", ("cat", "dog", "7"))
CLASSES = SCHEMA.labels
CONFIG = write_config(CLASSES, ["text"], "answer")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["answer", "cat", "choices"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["from_name", "value", "choices", "type"]) | st.text(), inner
        )
    ),
    max_leaves=12,
)
xml_text = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"
)  # XML 1.0 has no other characters
class_names = st.lists(
    st.text(xml_text, min_size=1, max_size=12).filter(lambda name: name == name.strip()),
    min_size=2,
    max_size=6,
    unique=True,
)


def region(*labels: Any, name: str = "answer") -> dict[str, Any]:
    return {
        "from_name": name,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": list(labels)},
    }


def annotation(result: Any, **other: Any) -> dict[str, Any]:
    return {
        "id": 5,
        "completed_by": 3,
        "result": result,
        "was_cancelled": False,
        "updated_at": "2025-06-15T15:06:40.000123Z",
        "lead_time": 2.5,
    } | other


class TestJudging:
    """An annotation becomes a judgement, whatever somebody stored."""

    def test_an_answer_is_valid(self) -> None:
        judgement = judge(annotation([region("dog")]), SCHEMA)

        assert (judgement.annotation, judgement.author) == (5, 3)
        assert (judgement.status, judgement.label, judgement.reason) == ("valid", "dog", "")
        assert judgement.at_us == 1_750_000_000_000_123
        assert judgement.seconds == 2.5

    def test_answers_to_other_questions_do_not_disturb(self) -> None:
        result = [region("A comment", name="notes"), region("dog"), region("x", name="quality")]

        assert judge(annotation(result), SCHEMA).label == "dog"

    def test_an_author_may_come_as_an_object(self) -> None:
        assert judge(annotation([region("dog")], completed_by={"id": 9}), SCHEMA).author == 9

    def test_a_skip_is_a_skip_whatever_it_holds(self) -> None:
        judgement = judge(annotation([region("dog")], was_cancelled=True), SCHEMA)

        assert (judgement.status, judgement.label) == ("skipped", None)

    @pytest.mark.parametrize(
        ("result", "reason"),
        [
            ([], "an empty result"),
            (None, "not a list"),
            ({}, "not a list"),
            ([region("dog", name="other")], "no answer to 'answer'"),
            ([region("dog"), region("cat")], "not exactly one label"),
            ([region("dog", "cat")], "not exactly one label"),
            ([region()], "not exactly one label"),
            ([{"from_name": "answer"}], "not exactly one label"),
            ([{"from_name": "answer", "value": {"choices": "dog"}}], "not exactly one label"),
            ([region("ZZZ")], "'ZZZ' is not one of the classes"),
            ([region(7)], "'7' is not one of the classes"),
            ([region(["dog"])], "is not one of the classes"),
            (["dog", 5, None], "no answer to 'answer'"),
        ],
    )
    def test_what_does_not_answer_is_rejected_with_its_reason(
        self, result: Any, reason: str
    ) -> None:
        judgement = judge(annotation(result), SCHEMA)

        assert (judgement.status, judgement.label) == ("rejected", None)
        assert reason in judgement.reason

    @pytest.mark.parametrize("author", [None, "", {}, {"id": None}, "ada"])
    def test_an_answer_by_nobody_is_rejected(self, author: Any) -> None:
        judgement = judge(annotation([region("dog")], completed_by=author), SCHEMA)

        assert (judgement.status, judgement.author) == ("rejected", None)
        assert "nobody" in judgement.reason

    def test_a_long_label_makes_no_long_reason(self) -> None:
        assert len(judge(annotation([region("x" * 100_000)]), SCHEMA).reason) < 200

    @given(result=json_values, author=json_values, cancelled=json_values, lead_time=json_values)
    def test_it_never_raises_and_its_parts_fit_together(
        self, result: Any, author: Any, cancelled: Any, lead_time: Any
    ) -> None:
        sent = annotation(result, completed_by=author, was_cancelled=cancelled, lead_time=lead_time)

        judgement = judge(sent, SCHEMA)

        assert (judgement.status == "valid") == (judgement.label in SCHEMA.labels)
        assert (judgement.status == "rejected") == (judgement.reason != "")

    @given(st.lists(json_values, max_size=3).map(lambda extra: [*extra, region("cat")]))
    def test_no_odd_neighbour_makes_it_raise(self, result: list[Any]) -> None:
        assert judge(annotation(result), SCHEMA).status in ("valid", "rejected")


class TestStamps:
    """Microseconds since 1970, exactly."""

    @pytest.mark.parametrize(
        ("stamp", "expected"),
        [
            ("2025-06-15T15:06:40.000123Z", 1_750_000_000_000_123),
            ("2025-06-15T15:06:40Z", 1_750_000_000_000_000),
            ("2025-06-15T17:06:40.000123+02:00", 1_750_000_000_000_123),
            ("1970-01-01T00:00:00.000001+00:00", 1),
        ],
    )
    def test_they_are_read_to_the_microsecond(self, stamp: str, expected: int) -> None:
        assert microseconds(stamp) == expected

    @given(st.datetimes(timezones=st.just(UTC)))
    def test_they_order_as_the_moments_do(self, moment: datetime) -> None:
        later = moment.replace(microsecond=999_999)

        assert microseconds(later.isoformat()) - microseconds(moment.isoformat()) == (
            999_999 - moment.microsecond
        )


class TestReadingAConfiguration:
    """The control that answers the question."""

    def test_the_only_choices_need_no_name(self) -> None:
        assert read_schema(CONFIG, None, CLASSES) == SCHEMA
        assert read_schema(CONFIG, "answer", CLASSES[::-1]) == SCHEMA

    def test_of_several_choices_one_must_be_named(self) -> None:
        two = CONFIG.replace(
            "</View>",
            '<Choices name="quality" toName="text"><Choice value="bad"/></Choices></View>',
        )

        with pytest.raises(BadConfig, match=r"2 Choices controls \(answer, quality\)"):
            read_schema(two, None, CLASSES)
        assert read_schema(two, "answer", CLASSES) == SCHEMA

    def test_a_configuration_without_choices_says_so(self) -> None:
        config = (
            '<View><Text name="text" value="$text"/><Rating name="stars" toName="text"/></View>'
        )

        with pytest.raises(BadConfig, match="has 0 Choices controls"):
            read_schema(config, None, CLASSES)
        with pytest.raises(BadConfig, match=r"named 'stars'; it has stars \(Rating\)"):
            read_schema(config, "stars", CLASSES)

    def test_an_unknown_control_is_named_with_those_there_are(self) -> None:
        with pytest.raises(BadConfig, match=r"'digit'; it has answer \(Choices\)"):
            read_schema(CONFIG, "digit", CLASSES)

    @pytest.mark.parametrize(
        "config",
        [
            "",
            "<View>",
            "not XML",
            "<View></View",
            CONFIG.replace('toName="text"', 'toName="nothing"'),
            CONFIG.replace('name="answer" ', ""),
        ],
    )
    def test_a_broken_configuration_is_refused(self, config: str) -> None:
        with pytest.raises(BadConfig, match="labelling configuration"):
            read_schema(config, None, CLASSES)

    def test_one_that_takes_several_labels_is_refused(self) -> None:
        config = CONFIG.replace('choice="single"', 'choice="multiple"')

        with pytest.raises(BadConfig, match='choice="single"'):
            read_schema(config, None, CLASSES)

    def test_labels_that_are_not_the_classes_are_named(self) -> None:
        with pytest.raises(UnknownClasses, match="lacks cow and offers dog, 7"):
            read_schema(CONFIG, None, ["cat", "cow"])

    def test_an_alias_is_the_label(self) -> None:
        config = CONFIG.replace('<Choice value="cat"/>', '<Choice value="A cat" alias="cat"/>')

        assert read_schema(config, None, CLASSES) == SCHEMA


class TestWritingAConfiguration:
    """What `project: new` gets."""

    @pytest.mark.parametrize(
        "names",
        [
            ['say "hi"', "it's"],
            ["R&B", "a < b", "a > b", "&amp;"],
            ["naïve", "猫🐈", "Ωmega"],
            ["$text", "{x}", "a,b", "a|b", "0", "00"],
            ["a  b", "a b"],
        ],
    )
    def test_nasty_class_names_come_back_as_they_were(self, names: list[str]) -> None:
        config = write_config(names, ["text"], "answer")

        assert read_schema(config, None, names).labels == tuple(names)

    @given(class_names)
    def test_any_class_names_come_back_as_they_were(self, names: list[str]) -> None:
        config = write_config(names, ["text"], "answer")

        assert read_schema(config, "answer", names).labels == tuple(names)

    @pytest.mark.parametrize(
        ("key", "tag"),
        [
            ("image", "Image"),
            ("image_url", "Image"),
            ("Photo", "Image"),
            ("audio", "Audio"),
            ("html", "HyperText"),
            ("video", "Video"),
            ("text", "Text"),
            ("imagery", "Text"),
        ],
    )
    def test_a_key_is_shown_by_what_it_sounds_like(self, key: str, tag: str) -> None:
        config = write_config(CLASSES, [key, "title"], "answer")

        assert f'<{tag} name="{key}" value="${key}"/>' in config
        assert read_schema(config, None, CLASSES).to_name == key
