"""Labels from before the assessment, in the sections of a report that look at single items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.amount import IS_SHORT
from tests.worker.pool.known_pool import assessment_of, labels_of_the_rest, truth_of
from worker.assessment import Assessment
from worker.core.posterior.intervals import whole
from worker.report.contents import Reliability
from worker.report.families import families
from worker.report.reliability import reliability
from worker.store.records import Record

ESTIMATE: dict[str, Any] = {"question": {"task": "estimate"}, "stop": {"rmse": 0.02}}
MAP = "class,superclass\ncat,pet\ndog,pet\ncow,cattle\n"


def shown(work: Assessment) -> Reliability:
    found = reliability(work, work.believe({}), {}, [])
    assert found is not None
    return found


def errors_of(score: list[float], right: NDArray[np.bool_]) -> float:
    """The ECE over ten bins of equal width, straight from the items."""
    at, sure = np.minimum((np.array(score) * 10).astype(int), 9), np.array(score)
    gaps = [abs((sure[at == b] - right[at == b]).sum()) for b in range(10)]
    return float(sum(gaps) / len(score))


@pytest.mark.parametrize("use", ["known", "random"])
def test_where_everything_was_annotated_the_whole_report_knows_it(tmp_path: Path, use: str):
    said, score, true = truth_of(np.random.default_rng(1), 600)
    right = np.array(said) == np.array(true)
    (tmp_path / "map.csv").write_text(MAP)
    parents: dict[str, Any] = {"parents": f"superclass({tmp_path / 'map.csv'})"}
    of_parents = {"task": "identify", "level": "parents"}
    work = assessment_of(
        tmp_path / "a", said, score, list(true), use, pool=parents, question=of_parents
    )
    of_ece = assessment_of(
        tmp_path / "e", said, score, list(true), use,
        pool={"groups": "score_bin(10)"}, question={"task": "estimate", "metric": "ece"},
        stop={"rmse": 0.02},
    )  # fmt: skip

    found, (above, _) = shown(work), families(work, work.believe({}), {}, [])

    ece = errors_of(score, right)
    assert (found.ece.low, found.ece.mean, found.ece.high) == pytest.approx((ece,) * 3, abs=1e-6)
    assert whole(of_ece.believe({})) == pytest.approx((ece,) * 3, abs=1e-6)
    assert shown(of_ece).ece == found.ece
    assert all(b.labelled == b.items for b in found.bins)
    assert len(above) == 2
    for family in above:
        mine = np.isin(said, ["cow"] if family.name == "cattle" else ["cat", "dog"])
        exact = (family.accuracy.low, family.accuracy.mean, family.accuracy.high)
        assert exact == pytest.approx((right[mine].mean(),) * 3, abs=1e-6)
        assert family.labelled == family.items == mine.sum()
        assert family.reliability is not None
        own = errors_of([x for x, m in zip(score, mine, strict=True) if m], right[mine])
        assert family.reliability.ece.mean == pytest.approx(own, abs=1e-6)


def test_a_sample_from_before_says_the_same_as_labels_of_now(tmp_path: Path):
    rng = np.random.default_rng(2)
    said, score, true = truth_of(rng, 300)
    known = [t if rng.random() < 0.4 else None for t in true]
    sample = shown(assessment_of(tmp_path / "s", said, score, known, "random", **ESTIMATE))
    apart = shown(assessment_of(tmp_path / "k", said, score, known, "known", **ESTIMATE))
    n_known = sum(label is not None for label in known)
    assert sum(b.labelled for b in sample.bins) == sum(b.labelled for b in apart.bins) == n_known
    # as a sample they tell of the others, too
    width = {one: np.mean([b.high - b.low for b in one.bins]) for one in (sample, apart)}
    assert width[sample] < 0.8 * width[apart]


@pytest.mark.slow
def test_annotations_of_errors_only_do_not_bias_the_curve(tmp_path: Path):
    """Half of the wrong items were annotated, and no right one; then some labels at random."""
    n_runs, held, off = 10 if IS_SHORT else 40, list[bool](), list[float]()
    for seed in range(n_runs):
        rng = np.random.default_rng(300 + seed)
        said, score, true = truth_of(rng, 300)
        pairs = list(zip(said, true, strict=True))
        known = [t if t != s and rng.random() < 0.5 else None for s, t in pairs]
        work = assessment_of(tmp_path / str(seed), said, score, known, **ESTIMATE)
        tally = labels_of_the_rest(work, true, 0.3)
        belief = work.believe(tally)
        found = reliability(work, belief, tally, records_of(work, true, 0.3))
        assert found is not None
        right = np.array([s == t for s, t in pairs])
        at = np.minimum((np.array(score) * 10).astype(int), 9)
        for b, k in zip(found.bins, np.unique(at), strict=True):
            accuracy = right[at == k].mean()
            held.append(b.low - 1e-6 <= accuracy <= b.high + 1e-6)
            off.append(b.accuracy - accuracy)
    assert np.mean(held) >= 0.88
    assert abs(np.mean(off)) < 0.03


def records_of(work: Assessment, true: list[str], share: float) -> list[Record]:
    """The records behind `labels_of_the_rest`."""
    found = []
    for cell in np.flatnonzero(work.pool.cell_open):
        rows = list(work.pool.rows_of(int(cell)))[: int(np.ceil(share * work.pool.cell_size[cell]))]
        for row in rows:
            item = work.pool.item(row)
            label = true[int(item.item_id) - 1]
            found.append(Record(item.item_id, 0, row, int(cell), item.predicted, outcome=label))
    return found
