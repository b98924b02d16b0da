"""A simulation makes the very choices, and stops at the very label, of the service at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import FakeDesk
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS, header_of, plan_at_work
from worker.assessment import assess
from worker.plan import Plan
from worker.pool import Pool, compile_pool
from worker.pool.truth import read_truth
from worker.simulate.measuring import Log, Measures
from worker.simulate.replay import labels
from worker.simulate.truths import outcomes, true_values
from worker.store import MemoryLedger
from worker.turn.loop import advance


def labelled_live(plan: Plan, pool: Pool, truth: dict[str, str], folder: Path) -> list[str]:
    """Run the service with one annotator, who knows the truth; return the items in order."""
    assessment, header = assess(plan, pool), header_of(plan, pool)
    ledger, desk = MemoryLedger(plan.assessment), FakeDesk()
    ledger.begin(header)
    items: list[str] = []
    while True:
        advance(assessment, header, ledger, desk, folder, f"turn-{len(items)}")
        task = desk.next_task(0)
        if task is None:
            return items
        items.append(desk.data_of(task)["item_id"])
        desk.annotate(task, truth[items[-1]], 0)


def sequences(plan: Plan, folder: Path) -> tuple[list[str], list[str]]:
    """The items in the order in which they were labelled, live and replayed, until the stop."""
    pool = compile_pool(plan, folder / "pools")
    codes = read_truth(plan, pool, "truth")
    ids = [pool.item(row).item_id for row in range(pool.n_items)]
    truth = {item: CLASSES[code] for item, code in zip(ids, codes, strict=True)}

    live = labelled_live(plan, pool, truth, folder / "decisions")

    assessment = assess(plan, pool)
    outcome = outcomes(assessment, codes)
    log = Log(assessment, true_values(assessment, outcome), Measures(N_ITEMS, only_stop=True))
    replayed = []
    for n, revealed in enumerate(labels(assessment, outcome), start=1):
        replayed.append(ids[revealed.row])
        log.next_look = n  # live the rule is asked after every label
        log.take(n, revealed.belief)
        if log.stop is not None:
            break
    return live, replayed


@pytest.mark.parametrize(
    ("strategy", "prior", "question", "stop"),
    [
        ("thompson", "{kind: uniform}", "{task: identify}", "{mrr: {confidence: 0.99}}"),
        ("thompson", "{kind: informative}", "{task: identify, top: 2}", "{mrr: {}}"),
        ("thompson", "{kind: informative}", "{task: compare, compare: all}", "{rope: {}}"),
        ("random", "{kind: uniform}", "{task: estimate}", "{rmse: 0.03}"),
        ("thompson", "{kind: uniform}", "{task: identify}", "{mrr: {}, budget: 17}"),
        ("assay", "{kind: informative}", "{task: identify, top: 2}", "{mrr: {}}"),
        ("assay", "{kind: empirical}", "{task: identify}", "{mrr: {confidence: 0.99}}"),
        ("assay", "{kind: empirical}", "{task: estimate}", "{width: 0.2}"),
        ("assay", "{kind: empirical}", "{task: identify}", "{mrr: {confidence: 0.9}, looks: 3}"),
        ("assay", "{kind: empirical}", "{task: identify}", "{mrr: {}, guarantee: anytime}"),
        ("assay", "{kind: empirical}", "{task: estimate}", "{width: 0.3, guarantee: anytime}"),
    ],
)
def test_live_and_replayed_choices_and_stops_are_the_same(
    tmp_path, strategy, prior, question, stop
):
    plan = plan_at_work(tmp_path, strategy=strategy, prior=prior, question=question, stop=stop)
    live, replayed = sequences(plan, tmp_path)
    assert len(live) > 10
    assert replayed == live


@pytest.mark.parametrize(
    ("question", "groups", "stop"),
    [
        ("{task: estimate, metric: ece}", "predicted_class", "{rmse: 0.02}"),
        ("{task: estimate, metric: ece}", "score_bin(5)", "{rmse: 0.02}"),
        ("{task: identify, metric: bias}", "predicted_class", "{mrr: {}}"),
        ("{task: identify, metric: cost, costs: costs.csv}", "predicted_class", "{mrr: {}}"),
        ("{task: identify, metric: recall, positive: cow}", "region", "{mrr: {confidence: 0.99}}"),
        ("{task: estimate, metric: confusion}", "predicted_class", "{rmse: 0.06}"),
    ],
)
def test_they_are_the_same_for_every_metric(tmp_path, question, groups, stop):
    plan = plan_at_work(
        tmp_path,
        strategy="assay",
        prior="{kind: empirical}",
        question=question,
        stop=stop,
        groups=groups,
        by_probabilities=True,
    )
    live, replayed = sequences(plan, tmp_path)
    assert len(live) > 10
    assert replayed == live
