"""What a cell of a notebook shows of an assessment and of its report: all of it is text."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from tests.promises.small import CLASSES, small_assessment
from tests.promises.world import World
from tests.report.examples import NASTY, nasty
from worker.notebook import Snapshot, snapshot
from worker.report.page import page
from worker.store import MemoryLedger
from worker.store.settings import Settings


class Shown(HTMLParser):
    """The elements of a piece of HTML with their attributes, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("th", "td"):
            self.words += " "

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The small assessment with two labels."""
    folder = tmp_path_factory.mktemp("views")
    work, header = small_assessment(folder, "{mrr: {confidence: 0.9999}}")
    world = World(work, header, MemoryLedger("small"), folder / "out")
    world.ledger.begin(header)
    world.turn()
    for _ in range(2):
        task = world.desk.next_task(0)
        assert task is not None
        world.desk.annotate(task, "cat", 0)
    world.turn()
    return snapshot(work, header, world.ledger, Settings(folder, None, None))


def test_an_assessment_is_shown_with_its_groups_and_what_else_there_is(seen):
    words = Shown(seen._repr_html_()).words

    assert seen.text in words
    assert "2 of 18 items labelled" in words
    for name, row in seen.groups.iterrows():
        numbers = f"{row['mean']:.3f} {row['low']:.3f} to {row['high']:.3f} {row['labelled']:.0f}"
        assert f"{name} {numbers}" in words
    for frame in ("groups (3 rows)", "judgements (2)", "choices (", "decisions (0)"):
        assert frame in words


def test_no_text_of_an_assessment_becomes_an_element_or_turns_what_follows(seen):
    names = dict(zip(CLASSES, (NASTY[0], NASTY[3], NASTY[9]), strict=True))
    planted = replace(
        seen, title=NASTY[0], text=NASTY[9] + NASTY[3], groups=seen.groups.rename(index=names)
    )

    html = planted._repr_html_()

    assert Shown(html).elements == Shown(seen._repr_html_()).elements
    assert NASTY[0] in Shown(html).words
    assert not {"\u202e", "\u202d"} & set(html)


def test_of_many_groups_both_ends_are_shown_and_of_compared_models_none(seen):
    names = [f"g{n:02d}" for n in range(60)]
    many = pd.concat([seen.groups] * 20).set_axis(names).rename_axis("group")
    many["mean"] = np.linspace(0.2, 0.9, 60)
    compared = pd.DataFrame(columns=["size", "share"], index=pd.Index([], name="group"))

    words = Shown(replace(seen, groups=many)._repr_html_()).words
    without = Shown(replace(seen, groups=compared)._repr_html_())

    assert [name for name in names if name in words] == [*names[:6], *names[-6:]]
    assert "48 groups between" in words
    assert "table" not in dict(without.elements)
    assert seen.text in without.words


def test_a_report_is_shown_as_its_page_in_a_frame_that_reaches_nothing_around_it():
    report = nasty()

    ((tag, attributes),) = Shown(report._repr_html_()).elements

    assert tag == "iframe"
    assert attributes["srcdoc"] == page(report)
    assert attributes["sandbox"] == "allow-scripts"  # not: the same origin, forms, windows
