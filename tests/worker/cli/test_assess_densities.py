"""What `assay assess` tells beside what is asked: densities, and of outputs kinds of failure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.worker.answers import values_of, write_outputs
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


def test_of_outputs_a_report_speaks_of_pass_rates_and_kinds_of_failure(assay, tmp_path: Path):
    write_outputs(tmp_path)
    plan = tmp_path / "answers.yaml"
    plan.write_text(yaml.safe_dump(values_of()), encoding="utf-8")
    report = report_of(assay("assess", plan, "--labels", "human", "--json"))
    assert report["metric_name"] == report["source"]["metrics"][0]["name"] == "pass rate"
    assert [one["name"] for one in report["failures"]] == ["Wrong", "Unsafe"]
    table = pd.read_json(tmp_path / "answers.jsonl", lines=True)
    for one in report["failures"]:
        assert one["low"] == one["mean"] == one["high"]
        assert one["mean"] == pytest.approx((table.human == one["name"]).mean(), abs=1e-6)
