"""The reliability diagram: what is known of score bins, whatever the groups are."""

import numpy as np
import pytest

from tests.report.at_work import AtWork, at_work
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS
from worker.assessment.verdicts import assess_now
from worker.findings.evidence import overall
from worker.findings.item_classes import answered
from worker.report.contents import Reliability
from worker.report.reliability import against_scores, inner_bounds, reliability
from worker.store.records import load

ESTIMATE = {
    "question": "{task: estimate}",
    "stop": "{rmse: 0.000001}",
    "prior": "{kind: empirical}",
}


def curve_of(one: AtWork) -> Reliability:
    _, belief, _ = assess_now(one.work, one.ledger)
    found = reliability(
        one.work,
        belief,
        one.ledger.state().tally,
        [load(text) for text in one.ledger.every_record()],
    )
    assert found is not None
    return found


def all_that_labels_tell(one: AtWork) -> Reliability:
    """With the ECE, of which a report says nothing yet."""
    pool, tally = one.work.pool, one.ledger.state().tally
    known = answered(one.work, tally, [load(text) for text in one.ledger.every_record()])
    group, score = np.repeat(pool.cell_group, pool.cell_size), pool.score.astype(float)
    return against_scores(score, group, inner_bounds(one.work), known)


def true_curve(one: AtWork) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean score and accuracy of every bin with items, and the ECE, straight from the items."""
    pool = one.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    right = np.array([CLASSES[i.predicted] == one.truth[i.item_id] for i in items])
    score = pool.score.astype(float)
    at = np.minimum((score * 10).astype(int), 9)
    bins = np.unique(at)
    means = np.array([score[at == b].mean() for b in bins])
    accuracy = np.array([right[at == b].mean() for b in bins])
    share = np.array([(at == b).mean() for b in bins])
    return means, accuracy, float(share @ np.abs(means - accuracy))


def test_once_all_is_labelled_it_is_the_true_one(tmp_path):
    one = at_work(tmp_path, N_ITEMS + 5, **ESTIMATE)
    found = curve_of(one)
    means, accuracy, ece = true_curve(one)
    assert [b.score for b in found.bins] == pytest.approx(means.tolist(), abs=1e-6)
    for b, true in zip(found.bins, accuracy, strict=True):
        assert b.low == b.accuracy == b.high == pytest.approx(true, abs=1e-6)
        assert b.items == b.labelled
    assert found.ece.mean == pytest.approx(ece, abs=1e-6)
    assert all(p.low == p.accuracy == p.high for p in found.curve)
    assert found.curve_ece is not None
    assert found.curve_ece.low == found.curve_ece.high


def test_before_that_its_intervals_hold_the_truth(tmp_path):
    one = at_work(tmp_path, 60, strategy="random", **ESTIMATE)
    found = all_that_labels_tell(one)
    _, accuracy, ece = true_curve(one)
    inside = [b.low <= true <= b.high for b, true in zip(found.bins, accuracy, strict=True)]
    # one unlucky sample shifts neighbouring bins together; how often is for tests/core/test_curve
    assert sum(inside) >= len(inside) / 2
    assert found.ece is not None
    assert found.ece.low <= ece <= found.ece.high
    assert all(p.low <= p.accuracy <= p.high for p in found.curve)
    assert found.curve_ece is not None
    assert found.curve_ece.low <= found.curve_ece.mean <= found.curve_ece.high
    assert sum(b.items for b in found.bins) == N_ITEMS
    assert sum(b.labelled for b in found.bins) == 60


def test_until_all_is_labelled_the_bins_are_told_but_no_second_ece(tmp_path):
    found = curve_of(at_work(tmp_path, 15, **ESTIMATE))
    assert found.bins
    assert found.curve
    assert found.ece is None
    assert found.curve_ece is None


def test_the_bins_are_the_plans_own_where_it_names_some(tmp_path):
    bins = curve_of(at_work(tmp_path, 20, groups="equal_mass_bin(4)", **ESTIMATE)).bins
    assert len(bins) == 4
    assert max(b.items for b in bins) - min(b.items for b in bins) <= 2


def test_it_is_the_same_for_the_same_tally(tmp_path):
    one = at_work(tmp_path, 30, **ESTIMATE)
    assert curve_of(one) == curve_of(one)


@pytest.mark.parametrize(("n_labels", "is_told"), [(12, False), (N_ITEMS, True)])
def test_the_mean_of_the_groups_eces_is_told_once_all_is_known(tmp_path, n_labels, is_told):
    asked = {"question": "{task: estimate, metric: ece}", "stop": "{rmse: 1e-9}"}
    one = at_work(tmp_path, n_labels, **asked)
    _, belief, _ = assess_now(one.work, one.ledger)
    assert (overall(one.work, belief) is not None) == is_told
