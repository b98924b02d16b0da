"""Every document that is published, of a real assessment of every task and metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tests.fakes import FakeDesk
from tests.report.at_work import AtWork, at_work
from tests.report.crowds import Crowd, crowd
from tests.worker.answers import SCHEMA, write_outputs
from tests.worker.answers import plan_of as plan_of_outputs
from tests.worker.assessment.evaluated import Evaluated, evaluated
from tests.worker.assessment.models_pool import header_of, plan_of, values_of, write_models
from tests.worker.simulate.simulated_pool import write_plan
from worker.assessment import assess
from worker.assessment.verdicts import assess_now
from worker.findings.decision import decision
from worker.notebook import snapshot
from worker.pool import compile_pool
from worker.report.comparing import compare
from worker.report.contents import as_json
from worker.report.contents_comparison import as_json as comparison_json
from worker.report.gathering import gather
from worker.report.labelled import report_on
from worker.report.status import status_of
from worker.service.context import Context
from worker.setup.earlier import Earlier, labelled_items
from worker.setup.since import continue_with
from worker.store import MemoryLedger
from worker.store.settings import read_settings
from worker.store.snapshots import taken_together

Begun = AtWork | Crowd | Evaluated
OPEN = "{mrr: {confidence: 0.9999}}"
N_LABELS = 30

PARTS: dict[str, dict[str, Any]] = {
    "identify": {"stop": OPEN},
    "identify, uniform": {"prior": "{kind: uniform}", "strategy": "thompson", "stop": OPEN},
    "identify, any time": {"stop": "{guarantee: anytime}"},
    "identify, infinite": {"stop": f"{OPEN}\npopulation: infinite"},
    "parents": {
        "question": "{task: estimate, level: parents}",
        "groups": "[region, predicted_class], parents: region",
        "stop": "{rmse: 0.0001}",
    },
    "opinions": {
        "question": "{task: estimate}",
        "stop": "{rmse: 0.0001}",
        "opinions": "[{name: old, predicted: old}, {name: length, number: length}]",
        "labels": 90,
    },
    "stopped": {"stop": "{looks: 1, mrr: {confidence: 0.5}}"},
    "estimate": {"question": "{task: estimate}", "stop": "{rmse: 0.2}"},
    "compare": {
        "question": "{task: compare, compare: all}",
        "stop": "{rope: {confidence: 0.9999}}",
    },
    "bias": {"question": "{task: identify, metric: bias}", "stop": OPEN},
    "ece": {"question": "{task: identify, metric: ece}", "stop": OPEN},
    "ece of the pool": {
        "question": "{task: estimate, metric: ece}",
        "groups": "score_bin(5)",
        "stop": "{rmse: 0.0001}",
    },
    "cost": {
        "question": "{task: identify, metric: cost, costs: costs.csv}",
        "stop": OPEN,
        "by_probabilities": True,
    },
    "confusion": {
        "question": "{task: estimate, metric: confusion}",
        "stop": "{rmse: 0.0001}",
        "by_probabilities": True,
    },
    "rates": {
        "question": "{task: estimate, metric: recall, positive: cat}",
        "groups": "region",
        "stop": "{rmse: 0.0001}",
        "by_probabilities": True,
    },
    "F1 of the pool": {
        "question": "{task: estimate, metric: f1, positive: cat}",
        "groups": "all_items",
        "stop": "{rmse: 0.0001}",
        "by_probabilities": True,
    },
    "recall by class": {
        "question": "{task: identify, metric: recall_by_class}",
        "stop": OPEN,
        "by_probabilities": True,
    },
    "macro F1": {
        "question": "{task: estimate, metric: f1_macro}",
        "groups": "region",
        "stop": "{rmse: 0.0001}",
        "by_probabilities": True,
    },
    "recall": {
        "question": "{task: identify, metric: recall, positive: cat}",
        "groups": "region",
        "stop": OPEN,
        "by_probabilities": True,
    },
}


def begun(folder: Path) -> Iterator[tuple[str, Begun]]:
    """An assessment of every task and metric, with some labels."""
    for name, parts in PARTS.items():
        own = {"strategy": "assay", "prior": "{kind: empirical}"} | parts
        n_labels = own.pop("labels", N_LABELS)
        yield name, at_work(folder / name.replace(" ", "-"), n_labels, **own)
    for name, where in (("which model", "both"), ("worst of each model", None)):
        yield name, _models(folder / name.replace(" ", "-"), where)
    yield "best model", _models(folder / "best-model", None, of="models")
    yield "continued", _continued(folder)
    yield "verdicts", _verdicts(folder / "verdicts", "identify", {"mrr": {"confidence": 0.9999}})
    yield "all verdicts", _verdicts(folder / "all-verdicts", "estimate", {"rmse": 0.0001})
    voted = crowd(
        folder / "crowd", "{rule: dawid-skene, per_item: 3, gold: {items: gold.csv}}", n_items=30
    )
    voted.label((0.9, 0.8, 0.0), 2)
    yield "several annotators", voted
    judged = evaluated(folder / "moods", "stop: {width: 0.0001}\n")
    judged.vote(rounds=6)
    yield "evaluate", judged


def _models(folder: Path, where: str | None, **asked: str) -> AtWork:
    truth = write_models(folder, {"old": 0.7, "new": 0.8})
    question = {"task": "identify"} if where is None else {"task": "compare", "where": where}
    question |= asked
    pool = {} if where is None else {"groups": "region"}
    plan = plan_of(folder, values_of(["old", "new"], question, pool=pool))
    compiled = compile_pool(plan, folder / "pools")
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, compiled)
    ledger.begin(header)
    work = assess(plan, compiled)
    one = AtWork(work, header, ledger, FakeDesk(), truth, folder / "decisions")
    one.label(12)
    return one


def _verdicts(folder: Path, task: str, stop: dict[str, Any]) -> AtWork:
    truth = write_outputs(folder)
    plan = plan_of_outputs(folder, question={"task": task}, stop=stop)
    work = assess(plan, compile_pool(plan, folder / "pools"))
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, work.pool)
    ledger.begin(header)
    one = AtWork(work, header, ledger, FakeDesk(SCHEMA), truth, folder / "decisions")
    one.label(N_LABELS)
    return one


def _continued(folder: Path) -> AtWork:
    """The second month of an assessment."""
    parts = {"strategy": "assay", "prior": "{kind: empirical}", "stop": OPEN}
    one = at_work(folder / "one", N_LABELS, **parts)
    state, records = taken_together(one.ledger)
    items = labelled_items(one.work, records)
    then = Earlier(one.work, state.tally, items, state.status, "")
    plan = one.work.plan
    pool = continue_with(plan, compile_pool(plan, folder / "two"), then)
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, pool)
    ledger.begin(header)
    work = assess(plan, pool)
    two = AtWork(work, header, ledger, FakeDesk(), one.truth, folder / "decisions")
    two.label(N_LABELS)
    return two


def documents(one: Begun) -> Iterator[tuple[str, Any]]:
    """Name and plain values of all that is published of an assessment."""
    state, belief, verdict = assess_now(one.work, one.ledger)
    said = decision(one.work, one.header, state, belief, verdict, kind="stop", reason="by hand")
    yield "decision", json.loads(said)
    report = as_json(gather(one.work, one.header, one.ledger))
    yield "report", report
    if isinstance(one, AtWork):
        one.label(3)
    again = gather(one.work, one.header, one.ledger, previous=json.loads(json.dumps(report)))
    yield "report", as_json(again)
    context = SimpleNamespace(
        header=lambda _: one.header, ledger=lambda _: one.ledger, settings=read_settings()
    )
    status = status_of(cast(Context, context), one.header.assessment, one.work).as_json()
    for key in ("decision", "review"):  # as they were published
        published = status.pop(key)
        if published is not None:
            yield "decision", published
    yield "status", status
    seen = snapshot(one.work, one.header, one.ledger, read_settings())
    yield (
        "notebook",
        {
            "labels": seen.labels,
            "revision": seen.revision,
            "pool_items": seen.pool_items,
            "confidence": seen.confidence,
            **{
                name: getattr(seen, name)
                .reset_index()
                .drop(columns="index", errors="ignore")
                .to_dict(orient="records")
                for name in ("groups", "annotators", "decisions", "judgements", "choices")
            },
        },
    )
    if one.work.plan.models is None:
        case = one.work, one.header, one.ledger
        yield "comparison", comparison_json(compare(case, case))


def from_labels(folder: Path) -> Iterator[tuple[str, Any]]:
    """The same of reports from a file of labels, of a random sample of the items."""
    plan = write_plan(folder, prior="{kind: empirical}")
    rows = [line.split(",") for line in (folder / "predictions.csv").read_text().splitlines()]
    labels = [f"{row[0]},{row[rows[0].index('truth')]}" for row in rows[:60]]
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    given = f"{folder / 'labels.csv'}:truth"
    yield "report", as_json(report_on(plan, given, "random", folder / "pools"))


def leaves(value: Any, at: str = "") -> Iterator[str]:
    """The paths of all numbers (not of truth values, nor nan): `groups[].low`."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{at}.{key}")
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner, f"{at}[]")
    elif (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and not np.isnan(value)
    ):
        yield at
