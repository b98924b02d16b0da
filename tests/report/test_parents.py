"""Parents of groups in the report: superclasses, sites."""

import numpy as np
import pytest

from tests.report.at_work import AtWork, at_work
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS
from worker.report.contents import Report
from worker.report.gathering import gather
from worker.report.page import page

OF_REGIONS = {
    "question": "{task: estimate, level: parents}",
    "stop": "{rmse: 0.000001}",
    "prior": "{kind: empirical}",
    "groups": "[region, predicted_class], parents: region",
}


def report_of(one: AtWork) -> Report:
    return gather(one.work, one.header, one.ledger)


def accuracy_of(one: AtWork, region: str) -> float:
    pool = one.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    right = [
        CLASSES[i.predicted] == one.truth[i.item_id]
        for i in items
        if pool.group_names[i.group].startswith(region)
    ]
    return float(np.mean(right))


def test_once_all_is_labelled_parents_have_their_true_accuracies(tmp_path):
    one = at_work(tmp_path, N_ITEMS + 5, **OF_REGIONS)
    report = report_of(one)
    assert {family.name for family in report.parents} == {"north", "south"}
    assert report.parents_are == "region"
    for family in report.parents:
        true = accuracy_of(one, family.name)
        assert family.accuracy.low == family.accuracy.high == pytest.approx(true, abs=1e-6)
        assert family.items == family.labelled
        assert family.reliability is not None
        assert sum(b.items for b in family.reliability.bins) == family.items


def test_before_that_they_have_intervals_and_the_spread_between_them(tmp_path):
    one = at_work(tmp_path, 60, strategy="random", **OF_REGIONS)
    report = report_of(one)
    assert sum(family.labelled for family in report.parents) == 60
    for family in report.parents:
        assert family.accuracy.low < family.accuracy.mean < family.accuracy.high
    assert report.apart is not None
    assert 0 <= report.apart.sd.low <= report.apart.sd.mean <= report.apart.sd.high
    assert report.apart.new.low < report.apart.new.mean < report.apart.new.high
    html = page(report)
    for text in ("By region", "north: accuracy against score", "at a further one"):
        assert text in html


def test_where_only_their_groups_are_asked_about_nothing_is_said_of_them(tmp_path):
    parts = OF_REGIONS | {"question": "{task: estimate}"}
    report = report_of(at_work(tmp_path, 20, **parts))
    assert report.parents == ()
    assert report.overall is not None
    assert report.apart is None
    assert "parents-table" not in page(report)


def test_parents_that_are_asked_about_have_one_accuracy_on_the_page_and_one_name(tmp_path):
    (tmp_path / "map.csv").write_text("class,superclass\ncat,pet\ndog,pet\ncow,cattle\n")
    one = at_work(
        tmp_path,
        40,
        groups="predicted_class, parents: superclass(map.csv)",
        question="{task: identify, level: parents}",
        prior="{kind: empirical}",
    )
    report = report_of(one)
    assert {family.name for family in report.parents} == {"pet", "cattle"}
    for family in report.parents:
        (group,) = (g for g in report.groups if g.name == family.name)
        told = (family.accuracy.mean, family.accuracy.low, family.accuracy.high)
        assert told == (group.mean, group.low, group.high)
    assert report.question_text == "Which is the least accurate group of 2?"
