"""The small facts beside the state come back as what they are."""

import pytest

from worker.store.metadata import read_metadata


def test_numbers_are_numbers_and_texts_are_texts():
    found = read_metadata({"cursor": "12", "polled_at": "1.5", "error": "", "strays": "{}"})
    assert found == {"cursor": 12, "polled_at": 1.5, "error": "", "strays": "{}"}


def test_a_number_that_was_taken_back_is_not_there():
    assert read_metadata({"report_slot": "", "failing_since": ""}) == {}


def test_what_a_later_release_wrote_stays_a_text():
    assert read_metadata({"of_tomorrow": "7"}) == {"of_tomorrow": "7"}


def test_what_is_no_number_is_named():
    with pytest.raises(ValueError, match="cursor is 'here', expected a number"):
        read_metadata({"cursor": "here"})
