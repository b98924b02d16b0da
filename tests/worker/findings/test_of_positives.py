"""Recall, precision and F1 from a plan to a decision, over the loop itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from tests.report.at_work import AtWork, at_work
from tests.worker.simulate.simulated_pool import N_ITEMS
from worker.assessment.verdicts import assess_now
from worker.core.posterior.summary import draws, marginals
from worker.errors import PlanError
from worker.pool import check_question
from worker.pool.file import Item

CONFUSED: dict[str, Any] = {
    "stop": "{rmse: 0.0001}",
    "prior": "{kind: empirical}",
    "by_probabilities": True,
}


def asked(folder: Path, metric: str, n_labels: int, stop: str = "{rmse: 0.0001}") -> AtWork:
    question = f"{{task: estimate, metric: {metric}, positive: cat}}"
    return at_work(folder, n_labels, question=question, groups="all_items", stop=stop)


def true_value(begun: AtWork, metric: str) -> float:
    """Counted item by item."""
    pool = begun.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    said = {item.item_id for item in items if pool.classes[item.predicted] == "cat"}
    truly = {item for item, name in begun.truth.items() if name == "cat"}
    hits = len(said & truly)
    below: Mapping[str, float] = {
        "recall": len(truly), "precision": len(said), "f1": (len(said) + len(truly)) / 2,
    }  # fmt: skip
    return hits / below[metric]


@pytest.mark.parametrize("metric", ["recall", "precision", "f1"])
def test_the_decision_tells_the_value_of_the_whole_pool_once_all_is_labelled(tmp_path, metric):
    begun = asked(tmp_path, metric, N_ITEMS)
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    true = true_value(begun, metric)
    assert decision["overall"] == {"mean": pytest.approx(true, abs=1e-6)} | dict.fromkeys(
        ("low", "high"), pytest.approx(true, abs=1e-6)
    )
    assert f"of all items is {true:.4f} ({true:.4f} to {true:.4f})" in decision["finding"]


def by_scikit_learn(begun: AtWork, metric: str, own: list[Item], **asked: str | None) -> Any:
    said = [begun.work.pool.classes[item.predicted] for item in own]
    truly = [begun.truth[item.item_id] for item in own]
    place = ("precision", "recall", "f1").index(metric)
    labels = begun.work.pool.classes
    return precision_recall_fscore_support(truly, said, labels=labels, zero_division=0, **asked)[
        place
    ]


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_averaged_over_the_classes_it_is_what_scikit_learn_says_once_all_is_labelled(
    tmp_path, metric
):
    question = f"{{task: estimate, metric: {metric}_macro}}"
    begun = at_work(tmp_path, N_ITEMS, question=question, groups="region", **CONFUSED)
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    pool = begun.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    group = np.repeat(pool.cell_group, pool.cell_size)
    for g, row in enumerate(decision["groups"]):
        own = [item for item, of in zip(items, group, strict=True) if of == g]
        true = by_scikit_learn(begun, metric, own, average="macro")
        assert row["mean"] == row["low"] == row["high"] == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("metric", ["recall", "f1"])
def test_each_class_has_the_value_that_scikit_learn_says_once_all_is_labelled(tmp_path, metric):
    question = f"{{task: estimate, metric: {metric}_by_class}}"
    begun = at_work(tmp_path, N_ITEMS, question=question, **CONFUSED)
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    pool = begun.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    true = by_scikit_learn(begun, metric, items, average=None)
    for name in ("mean", "low", "high"):
        assert [row[name] for row in decision["groups"]] == pytest.approx(true, abs=1e-6)


def test_the_class_with_the_lowest_f1_is_found_and_said_from_half_the_labels(tmp_path):
    question = "{task: identify, metric: f1_by_class}"
    parts = CONFUSED | {"stop": "{mrr: {confidence: 0.95}}"}
    begun = at_work(tmp_path, N_ITEMS // 2, question=question, strategy="assay", **parts)
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    pool = begun.work.pool
    items = [pool.item(row) for row in range(pool.n_items)]
    worst = int(by_scikit_learn(begun, "f1", items, average=None).argmin())
    assert f"“{pool.classes[worst]}” is the class with the lowest F1" in decision["finding"]


def test_an_estimate_stops_before_all_is_labelled_and_holds_the_truth(tmp_path):
    begun = asked(tmp_path, "f1", N_ITEMS, "{rmse: 0.08}")
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    assert decision["labels"] < N_ITEMS
    assert decision["overall"]["low"] <= true_value(begun, "f1") <= decision["overall"]["high"]


def test_a_groups_distribution_uses_its_labels_once_as_the_joint_draws_do(tmp_path):
    begun = asked(tmp_path, "f1", 40)
    _, belief, _ = assess_now(begun.work, begun.ledger)
    (distribution,) = marginals(belief)
    assert distribution is not None
    at = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    expected = np.quantile(draws(belief)[:, 0], at)
    assert distribution.quantiles(at) == pytest.approx(expected, abs=0.03)


def test_a_class_that_nobody_predicted_is_refused(tmp_path):
    begun = asked(tmp_path, "f1", 0)
    pool, plan = begun.work.pool, begun.work.plan
    pool.cell_unit[:] = 0
    with pytest.raises(PlanError, match="no item is predicted cat, so its recall and F1 are 0"):
        check_question(plan, pool)
