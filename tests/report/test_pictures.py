"""Pictures: what they need, what they say, and that they do not depend on the moment."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.report.examples import EXAMPLES, NASTY, nasty, thousand
from tests.report.examples_ordinary import ANIMALS, ordinary
from tests.report.examples_questions import confused
from worker.formats import plain
from worker.report.page import page, pictures
from worker.report.pictures_confusion import confusion
from worker.report.pictures_groups import forest, rows, sorted_groups
from worker.report.pictures_svg import Picture
from worker.report.text_width import columns, shortened


def parsed(picture: Picture) -> ElementTree.Element:
    head = '<svg xmlns:xlink="http://www.w3.org/1999/xlink" '
    return ElementTree.fromstring(str(picture.svg).replace("<svg ", head, 1))


def words(picture: Picture) -> list[str]:
    return [element.text or "" for element in parsed(picture).iter("text")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_picture_is_well_formed_and_says_in_words_what_it_shows(name: str) -> None:
    drawn = [picture for picture in pictures(EXAMPLES[name]()).values() if picture]
    assert drawn
    for picture in drawn:
        root = parsed(picture)
        assert root.get("role") == "img"
        assert root.get("aria-label") == picture.alt != ""
        assert picture.title


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_report_makes_the_same_bytes(name: str) -> None:
    assert page(EXAMPLES[name]()) == page(EXAMPLES[name]())


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_two_elements_of_a_page_have_the_same_id_and_every_reference_has_its_target(
    name: str,
) -> None:
    text = page(EXAMPLES[name]())
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    named = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', text)
    assert set(named) <= set(ids)


def test_the_forest_is_sorted_from_the_end_that_the_question_asks_about() -> None:
    report = ordinary()
    means = [group.mean for group in sorted_groups(report)]
    assert means == sorted(means)
    highest = [group.mean for group in sorted_groups(replace(report, which="highest"))]
    assert highest == means[::-1]
    names = [group.name for group in sorted_groups(report)]
    assert [word for word in words(forest(report)) if word in ANIMALS] == names


def test_of_a_thousand_groups_those_around_the_boundary_and_the_other_end_are_drawn() -> None:
    groups = sorted_groups(thousand())
    shown = rows(groups)
    assert len(shown.groups) <= 70
    assert shown.groups.count(None) == len(shown.left_out)
    assert sum(shown.left_out) + sum(g is not None for g in shown.groups) == 1_000
    assert all(group in shown.groups for group in groups if group.is_chosen)
    assert f"{shown.left_out[0]:,} more groups; the table has them all" in words(forest(thousand()))


def test_a_boundary_in_the_middle_is_shown_from_both_sides() -> None:
    groups = [replace(g, is_chosen=n < 500) for n, g in enumerate(sorted_groups(thousand()))]
    shown = rows(groups)
    assert groups[499] in shown.groups
    assert groups[500] in shown.groups
    assert groups[999] in shown.groups
    assert sum(shown.left_out) + sum(g is not None for g in shown.groups) == 1_000


def test_axes_keep_all_their_digits() -> None:
    ticks = words(forest(EXAMPLES["all-right"]()))
    numbers = [float(t) for t in ticks if re.fullmatch(r"[\d.]+", t)]
    assert numbers == sorted(set(numbers))
    assert max(numbers) <= 1


def test_names_on_pictures_are_text_and_nothing_else() -> None:
    for picture in pictures(nasty()).values():
        if picture is None:
            continue
        tags = {element.tag for element in parsed(picture).iter()}
        assert tags <= {"svg", "g", "path", "text", "title", "use", "defs", "clipPath", "rect"}
    said = "".join(parsed(forest(nasty())).itertext())
    for name in NASTY:
        assert " ".join(plain(name).split()) in said


def test_long_names_are_cut_where_they_would_leave_the_picture() -> None:
    assert columns(shortened("x" * 300, 16)) == 16
    assert columns(shortened("日本語のとても長いグループ名前", 16)) <= 16
    assert shortened("short", 16) == "short"


def test_a_matrix_of_many_classes_shows_those_with_the_most_errors() -> None:
    report = confused(60)
    assert report.confusion is not None
    known = [row[k] for k, row in enumerate(report.confusion.mean) if row[k] is not None]
    worst = min(range(len(known)), key=lambda k: known[k] or 0.0)
    assert f"class {worst:03d}" in words(confusion(report))
    assert "30 of 60 classes, those predicted with the fewest right answers" in (
        confusion(report).alt
    )


def test_a_class_that_is_never_predicted_is_a_column_without_a_row() -> None:
    assert words(confusion(confused(9))).count("dolphin") == 2
    assert words(confusion(confused(9))).count("bear") == 1
