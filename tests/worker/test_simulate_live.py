"""A simulation makes the very choices, and stops at the very label, of the service at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import SCHEMA, FakeDesk
from tests.worker.simulated_pool import CLASSES, N_ITEMS, write_plan
from worker.assessment import assess
from worker.ledger import Header, MemoryLedger
from worker.loop import advance
from worker.plan import Plan, load_plan, plan_hash
from worker.pool import Pool, compile_pool
from worker.pool.truth import read_truth
from worker.simulate.replay import labels
from worker.simulate.truths import outcomes

# One open item at a time: so the choice before a label is the choice after the one before it.
LIVE = "assessment: small\nqueue: {look_ahead: 1}\n"


def plan_at_work(folder: Path, strategy: str, prior: str, question: str, stop: str) -> Plan:
    path = write_plan(
        folder, strategy=strategy, prior=prior, question=question, stop=stop, more=LIVE
    )
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("pool: {", "pool: {data: {text: item_id}, "), encoding="utf-8")
    return load_plan(path)


def header_of(plan: Plan, pool: Pool) -> Header:
    return Header(
        assessment=plan.assessment,
        plan=plan.model_dump_json(),
        plan_hash=plan_hash(plan),
        pool_hash=pool.hash,
        pool_file=str(pool.path),
        pool_sha256=pool.file_sha256,
        pool_stat=pool.stat,
        project=1,
        url="http://fake",
        control=SCHEMA.control,
        to_name=SCHEMA.to_name,
        labels=SCHEMA.labels,
        started_at="2026-01-01T00:00:00+00:00",
    )


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


@pytest.mark.parametrize(
    ("strategy", "prior", "question", "stop"),
    [
        ("thompson", "{kind: uniform}", "{task: identify}", "{mrr: {confidence: 0.99}}"),
        ("thompson", "{kind: informative}", "{task: compare, compare: all}", "{rope: {}}"),
        ("random", "{kind: uniform}", "{task: estimate}", "{rmse: 0.03}"),
        ("thompson", "{kind: uniform}", "{task: identify}", "{mrr: {}, budget: 17}"),
        ("assay", "{kind: informative}", "{task: identify, top: 2}", "{mrr: {}}"),
    ],
)
def test_live_and_replayed_choices_and_stops_are_the_same(
    tmp_path, strategy, prior, question, stop
):
    plan = plan_at_work(tmp_path, strategy, prior, question, stop)
    pool = compile_pool(plan, tmp_path / "pools")
    codes = read_truth(plan, pool, "truth")
    ids = [pool.item(row).item_id for row in range(pool.n_items)]
    truth = {item: CLASSES[code] for item, code in zip(ids, codes, strict=True)}

    live = labelled_live(plan, pool, truth, tmp_path / "decisions")

    assessment = assess(plan, pool)
    replayed = []
    for n, revealed in enumerate(labels(assessment, outcomes(assessment, codes)), start=1):
        replayed.append(ids[revealed.row])
        if assessment.decide(revealed.belief, N_ITEMS - n).stop:
            break
    assert len(live) > 10
    assert replayed == live
