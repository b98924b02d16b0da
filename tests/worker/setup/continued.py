"""An assessment on a real server, carried to some label, that another one may go on with."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from redis import Redis

from tests.fakes import FakeDesk
from tests.report.at_work import AtWork
from tests.worker.simulate.simulated_pool import CLASSES, header_of, plan_at_work
from worker.assessment import assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.service.context import Context
from worker.setup.since import with_earlier
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

WAYS = {"strategy": "assay", "prior": "{kind: empirical}", "stop": "{mrr: {confidence: 0.9999}}"}
N_THEN = 40


def at_work(folder: Path, db: Redis, name: str, n_labels: int, since: str = "", **ways: Any):
    """An assessment on a real server, carried to some label."""
    plan = plan_at_work(folder, **(WAYS | ways))
    path = folder / "plan.yaml"
    text = path.read_text(encoding="utf-8").replace("assessment: small", f"assessment: {name}")
    path.write_text(f"{text}{since}", encoding="utf-8")
    plan = load_plan(path)
    pools = folder / "pools"
    context = Context(Settings(folder, None, None), "redis://unused")
    context.close()
    context.state = db
    pool = with_earlier(plan, compile_pool(plan, pools), pools, lambda: nullcontext(context))
    header, ledger = header_of(plan, pool), ValkeyLedger(db, name)
    ledger.begin(header)
    codes = read_truth(plan, pool, "truth")
    truth = {pool.item(r).item_id: CLASSES[codes[r]] for r in range(pool.n_items)}
    begun = AtWork(assess(plan, pool), header, ledger, FakeDesk(), truth, folder / "decisions")
    begun.label(n_labels)
    return begun


def _at(db: Redis) -> Any:
    context = Context(Settings(Path("nowhere"), None, None), "redis://unused")
    context.close()
    context.state = db
    return context


def _at_home(db: Redis, home: Path) -> Any:
    context = _at(db)
    context.settings = Settings(home, None, None)
    return context
