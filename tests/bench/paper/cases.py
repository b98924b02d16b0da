"""The paper's pools as cases of `assay simulate`, and runs of them on all cores.

The predictions are written for the time of a study to a folder that is removed afterwards.
"""

import hashlib
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.bench.paper.cache import Value
from tests.bench.paper.data import Ints, Pool, folder
from worker.assessment import Assessment, assess
from worker.plan import Plan
from worker.pool import open_pool
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.replay import run_seed, shuffled
from worker.simulate.spread import follow, n_cores
from worker.simulate.truths import outcomes

Order = TypeVar("Order")
Result = TypeVar("Result")
Method = Literal["assay", "anytime", "paper", "paper-finite"]

SUPERCLASS = "superclass(superclasses.csv)"  # groups, of CIFAR-100
STOP = {"mrr": {"threshold": 0.99, "confidence": 0.95}}
_SHUFFLING = 3  # as in `worker.simulate.replay`
# What a plan says beyond pool, question and stop rule; nothing: all by default.
_WAYS: dict[Method, Value] = {
    "assay": {},
    "anytime": {},
    "paper": {"population": "infinite", "prior": {"kind": "informative", "strength": 2}},
    "paper-finite": {"prior": {"kind": "informative", "strength": 2}},
}


@contextmanager
def planned(
    pool: Pool, question: Value, groups: str = "predicted_class", method: Method = "assay"
) -> Iterator[Path]:
    """A plan on disk, with the pool's predictions and truth beside it.

    "paper" has the paper's prior, population and strategy instead of the defaults, and one stratum;
    "paper-finite" differs from it in believing in the pool that there is: its claims can become
    sure before all is labelled. "anytime" has the default, but for the guarantee.
    """
    with tempfile.TemporaryDirectory() as where:
        yield _write(Path(where), pool, question, groups, method)


@contextmanager
def prepared(pool: Pool, question: Value, asked: Asked, method: Method = "assay") -> Iterator[Case]:
    """A plan as `worker.simulate` takes its runs; valid inside the block."""
    with planned(pool, question, method=method) as path:
        yield prepare(path, path.parent / "pools", asked)[0]


@lru_cache(maxsize=4)
def opened(case: Case) -> tuple[Assessment, Ints]:
    """The assessment of a case, and the (N,) outcomes of the pool's rows; once a process."""
    plan = Plan.model_validate_json(case.plan, context={"for_simulation": True})
    assessment = assess(plan, open_pool(Path(case.pool), case.pool_sha256))
    assert case.truth is not None, "the bench has the truth of its pools"
    return assessment, outcomes(assessment, np.load(case.truth))


def of_run(assessment: Assessment, case: Case, number: int) -> Assessment:
    """The assessment with the seed that a run of that number has in `worker.simulate.replay`."""
    seed = run_seed(case.seed, number)
    return replace(assessment, plan=assessment.plan.model_copy(update={"seed": seed}))


def order_of(assessment: Assessment) -> Ints:
    """(N,) the order of the items in a run, as `worker.simulate.replay` has it."""
    return shuffled(assessment, np.random.default_rng([assessment.plan.seed, _SHUFFLING]))


def spread(work: Callable[[Order], Result], orders: Sequence[Order]) -> list[Result]:
    """`work` of each order, on all cores that this process may use."""
    if n_cores() == 1:
        return [work(order) for order in orders]
    spawning = multiprocessing.get_context("spawn")  # as `worker.simulate.spread`
    with ProcessPoolExecutor(
        n_cores(), spawning, initializer=follow, initargs=(os.getpid(),)
    ) as executor:
        return list(executor.map(work, orders))


def core() -> str:
    """A hash of the code that a simulation rests on."""
    here = Path(__file__).resolve()
    worker = here.parents[3] / "worker"
    parts = ("assessment", "core", "simulate", "pool", "plan")
    files = [f for part in parts for f in sorted((worker / part).rglob("*.py"))]
    text = "".join(f.read_text(encoding="utf-8") for f in [*files, here])
    return hashlib.sha256(text.encode()).hexdigest()


def _write(where: Path, pool: Pool, question: Value, groups: str, method: Method) -> Path:
    classes = [f"c{k:04d}" for k in range(pool.n_classes)]
    columns = {
        "item_id": pa.array([f"i{i:06d}" for i in range(pool.label.size)]),
        "truth": pa.array([classes[k] for k in pool.label]),
    }
    if pool.probs is not None:
        columns["probabilities"] = pa.array(list(pool.probs))
        meaning: Value = {"probabilities": "probabilities"}
    else:
        columns["predicted"] = pa.array([classes[k] for k in pool.predicted])
        columns["score"] = pa.array(pool.score)
        meaning = {"predicted": "predicted", "score": "score"}
    pq.write_table(pa.table(columns), where / f"{pool.name}.parquet")
    place: Value = {"predictions": f"{pool.name}.parquet", "groups": groups, "classes": classes}
    plan: Value = {"question": question, "pool": place | meaning} | _WAYS[method]
    if question["task"] == "identify":
        plan["stop"] = STOP | ({"guarantee": "anytime"} if method == "anytime" else {})
    if groups == SUPERCLASS:
        _superclasses(where, classes)
    if question.get("costs") in ("human", "superclass"):
        named, people = _superclasses(where, classes)
        who = {"people": people} if question["costs"] == "human" else {}
        plan["question"] = question | {"superclasses": named} | who
    if method in ("paper", "paper-finite"):
        plan["pool"] |= {"strata": 1}
        plan["strategy"] = "multiple-play" if question.get("top", 1) != 1 else "thompson"
    path = where / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


def _superclasses(where: Path, classes: list[str]) -> tuple[str, list[str]]:
    """Write the map of CIFAR-100's superclasses in the plan's words; name it, and the people."""
    lines = (folder() / "cifar100" / "superclasses.csv").read_text(encoding="utf-8").split()[1:]
    rows = [line.split(",") for line in lines]
    named = {classes[int(k)]: name for k, _, name in rows}
    text = "class,superclass\n" + "".join(f"{k},{name}\n" for k, name in named.items())
    (where / "superclasses.csv").write_text(text, encoding="utf-8")
    people = [k for k, name in named.items() if name == "people"]
    return "superclasses.csv", people
