"""What `assay assess` draws the densities of, beside its numbers."""

from __future__ import annotations

from pathlib import Path

from tests.worker.cli.assessed import report_of, some_labels
from tests.worker.simulate.simulated_pool import N_ITEMS, write_plan
from worker.report.densities import MOST_ECES


def test_a_random_sample_shows_the_ece_of_the_pool_and_of_groups(assay, tmp_path: Path):
    plan = write_plan(tmp_path, prior="{kind: empirical}")
    labels = some_labels(tmp_path, 60)
    done = assay("assess", plan, "--labels", labels, "--labels-are", "random", "--json")
    report = report_of(done)
    told, found = report["densities"], {one["metric"]: one for one in report["source"]["metrics"]}
    pool, *groups = told["ece"]
    assert pool["name"] == "the whole pool"
    assert {key: pool[key] for key in ("mean", "low", "high")} == found["ece"]["overall"]
    of_groups = [one["mean"] for one in found["ece"]["groups"]]
    assert [one["mean"] for one in groups] == sorted(of_groups, reverse=True)[:MOST_ECES]
    assert told["differences"]


def test_where_everything_is_known_exactly_there_is_nothing_to_draw(assay, tmp_path: Path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, N_ITEMS)
    report = report_of(assay("assess", plan, "--labels", labels, "--json"))
    assert report["densities"] is None
