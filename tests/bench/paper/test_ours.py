"""What the page says of Assay is what `assay simulate` does, and its own loops keep the rules."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tests.bench.paper import cache, claims, late, ours, pairs
from tests.bench.paper.asked import Number
from tests.bench.paper.cases import prepared
from tests.bench.paper.data import load
from worker.simulate.cases import Asked, replay_run

WORST = {"task": "identify", "which": "lowest", "top": 1}
POOL = "20newsgroups"
N_ITEMS = 240


@pytest.fixture(autouse=True)
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that can be had everywhere: three classes, one of them much worse."""
    rng = np.random.default_rng(3)
    predicted, score = rng.integers(0, 3, N_ITEMS), rng.uniform(0.5, 1, N_ITEMS)
    is_right = rng.random(N_ITEMS) < score - 0.35 * (predicted == 1)
    label = np.where(is_right, predicted, (predicted + 1) % 3)
    (tmp_path / POOL).mkdir()
    np.savez(tmp_path / POOL / "cleanlab.npz", pred=predicted, score=score, label=label)
    monkeypatch.setenv("ASSAY_PAPER_DATA", str(tmp_path))


def test_without_stops_the_ranking_is_that_of_assay_simulate():
    with prepared(load(POOL), WORST, Asked(truth="truth", seed=0, until=60)) as case:
        curves = [replay_run(asdict(case), number)["mrr"] for number in range(4)]
        ranked = [ours._ranks((case, number, 60)) for number in range(4)]

    np.testing.assert_array_equal(ranked, curves)


def test_the_paper_on_the_finite_pool_stops_and_on_the_infinite_one_only_ends():
    finite = ours.stop(POOL, WORST, 3, None, "paper-finite")["ends"]
    infinite = ours.stop(POOL, WORST | {"top": 2}, 3, None, "paper")["ends"]

    assert all(end[0] <= N_ITEMS for end in finite)
    assert all(end[2] == "exhausted" for end in infinite if end[0] == N_ITEMS)


def test_what_was_run_is_kept_for_as_long_as_the_code_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "kept")
    first, again = (ours.stopped(POOL, WORST, 2, 60) for _ in range(2))
    assert first == again
    assert first.n_items == N_ITEMS
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 1
    monkeypatch.setattr(ours, "core", lambda: "other code")
    assert ours.stopped(POOL, WORST, 2, 60) == first
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 2


def test_a_late_or_wrong_finding_counts_as_the_whole_pool():
    found = ours.Stops(100, 4, labels=(10, 20, 30), right=(True, False, True), exhausted=1)

    assert sorted(found.until_right) == [10, 30, 100, 100]
    assert found.median == 65


def test_every_pair_is_decided_within_its_own_items():
    found = pairs.compare(POOL, 2)

    assert found["pairs"] == 3
    assert 1 <= found["labels"] <= 180


def test_claims_come_in_their_order_and_say_at_least_what_was_asked():
    found = claims.claim(POOL, 4)["claims"]

    for run in range(4):
        levels = [found[str(level)][run] for level in claims.LEVELS]
        assert [c.labels for c in levels] == sorted(c.labels for c in levels)
        assert all(c.confidence >= x - 1e-9 for c, x in zip(levels, claims.LEVELS, strict=True))
        assert found[claims.CONFIRMED][run].labels >= found["0.95"][run].labels


@pytest.mark.parametrize("delay", late.DELAYS)
def test_late_answers_end_in_a_right_finding_or_in_none(delay: late.Delay):
    ends = late.delay_runs(POOL, 1, delay, 3)["ends"]

    assert all(end is None or (end[1] and end[0] <= N_ITEMS) for end in ends)


def test_ratios_have_a_geometric_mean_and_shares_a_plain_one():
    ratio = Number("labels", 0.5, 1.0, rows=[("a", 0.25), ("b", 1.0)])
    share = Number("right", 0.9, 0.95, is_share=True, rows=[("a", 1.0), ("b", 0.9), ("c", None)])

    assert ratio.cells()[2:4] == ("mean 0.500, largest 1.000", "yes")
    assert share.cells()[2:4] == ("mean 0.950, least 0.900", "**no**, of the rows known")
