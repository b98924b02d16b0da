"""The densities of a report: the same posterior as its numbers, a few kB a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.report.at_work import at_work
from tests.report.examples_questions import from_labels
from worker.report.contents_densities import Densities, Outline
from worker.report.densities import MOST_ECES
from worker.report.gathering import gather
from worker.report.page import page, pictures

OPEN = "{mrr: {confidence: 0.9999}}"
COMPARE = {
    "question": "{task: compare, compare: all}",
    "stop": "{rope: {confidence: 0.9999, epsilon: 0.1}}",
}
EMPIRICAL = {"strategy": "assay", "prior": "{kind: empirical}"}


def densities(tmp_path: Path, **parts: str) -> tuple[Densities, object]:
    one = at_work(tmp_path, 30, **(EMPIRICAL | parts))
    report = gather(one.work, one.header, one.ledger)
    assert report.densities is not None
    return report.densities, report


def share(of: Outline, low: float, high: float) -> float:
    """The area of a density between two places."""
    at = np.linspace(of.at[0], of.at[-1], 4001)
    density = np.interp(at, of.at, of.density)
    return float(density[(at >= low) & (at <= high)].sum() / density.sum())


@pytest.mark.parametrize(
    "parts",
    [
        {"question": "{task: identify}", "stop": OPEN},
        {"question": "{task: identify}", "stop": f"{OPEN}\npopulation: infinite"},
        {"question": "{task: identify, metric: bias}", "stop": OPEN},
        {"question": "{task: identify, metric: ece}", "stop": OPEN},
        COMPARE,
    ],
    ids=lambda parts: " ".join(parts.values()),
)
def test_what_is_drawn_of_a_difference_is_what_its_numbers_say(tmp_path: Path, parts):
    told, _ = densities(tmp_path, **parts)
    assert told.differences
    for one in told.differences:
        sides = (-9.0, -told.epsilon), (-told.epsilon, told.epsilon), (told.epsilon, 9.0)
        drawn = [share(one.outline, *side) for side in sides]
        # whole items of small groups lie on either side of a bound that a smooth line runs through
        assert drawn == pytest.approx([one.below, one.within, one.above], abs=0.1)
        assert share(one.outline, one.low, one.high) > 0.9


def test_pairs_that_are_compared_say_the_same_twice(tmp_path: Path):
    told, report = densities(tmp_path, **COMPARE)
    pairs = {(p.first, p.second): (p.below, p.within, p.above) for p in report.pairs}
    assert told.epsilon == 0.1
    assert {(d.first, d.second): (d.below, d.within, d.above) for d in told.differences} == pairs


def test_the_worst_group_stands_beside_the_next_ones(tmp_path: Path):
    told, report = densities(tmp_path, question="{task: identify}", stop=OPEN)
    means = {group.name: group.mean for group in report.groups}
    order = sorted(means, key=means.get)
    assert [(d.first, d.second) for d in told.differences] == [
        (order[0], other) for other in order[1:7]
    ]
    assert order[0] in told.text
    for one in told.differences:
        assert one.mean == pytest.approx(means[one.first] - means[one.second], abs=2e-6)


def test_the_ece_of_groups_is_drawn_where_it_is_asked_for(tmp_path: Path):
    told, report = densities(tmp_path, question="{task: identify, metric: ece}", stop=OPEN)
    by_name = {group.name: group for group in report.groups}
    assert len(told.ece) == min(MOST_ECES, len(by_name))
    for one in told.ece:
        group = by_name[one.name]
        assert (one.mean, one.low, one.high) == (group.mean, group.low, group.high)
        assert one.outline.at[0] >= 0
        assert share(one.outline, one.low, one.high) > 0.9


def test_a_picture_takes_a_few_kilobytes_and_says_its_probabilities():
    report = from_labels()
    drawn = pictures(report)
    for name in ("differences", "eces"):
        picture = drawn[name]
        assert picture is not None
        assert len(picture.svg) < 12_000
    assert "within 0.05 44.0%" in drawn["differences"].svg
    assert "higher 50.0%" in drawn["differences"].alt
    assert 'id="apart-table"' in page(report)


def test_of_an_estimate_the_largest_groups_stand_beside_each_other(tmp_path: Path):
    told, report = densities(tmp_path, question="{task: estimate}", stop="{rmse: 0.0001}")
    order = sorted(report.groups, key=lambda group: -group.size)
    assert [(d.first, d.second) for d in told.differences] == [
        (order[0].name, other.name) for other in order[1:7]
    ]
