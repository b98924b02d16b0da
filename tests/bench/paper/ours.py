"""Assay at the paper's settings: plans for `assay simulate`, run as a user runs them.

The predictions are written for the time of a run to a folder that is removed afterwards.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.data import Pool, folder, load

STOP = {"mrr": {"threshold": 0.99, "confidence": 0.95}}
AS_PAPER = {"population": "infinite", "prior": {"kind": "informative", "strength": 2}}


def simulated(
    pool: str,
    question: Value,
    n_runs: int,
    groups: str = "predicted_class",
    at: tuple[int, ...] = (),
    until: int | None = None,
    as_paper: bool = False,
) -> Value | None:
    """What `assay simulate --json` says of the default plan; None if it cannot, and why is shown.

    `as_paper` asks for the paper's prior, population and strategy instead of the defaults: the
    core against the baseline of this folder.
    """
    settings = {"pool": pool, "question": question, "n_runs": n_runs, "groups": groups}
    try:
        return remembered(simulate, _core(), at=at, until=until, as_paper=as_paper, **settings)
    except subprocess.CalledProcessError:
        return None


def simulate(
    pool: str,
    question: Value,
    n_runs: int,
    groups: str,
    at: tuple[int, ...],
    until: int | None,
    as_paper: bool,
) -> Value:
    """Run `assay simulate`; what it says on standard error is shown."""
    with tempfile.TemporaryDirectory() as where:
        plan = _write(Path(where), load(pool), question, groups, as_paper)
        command = [str(Path(sys.executable).with_name("assay")), "simulate", str(plan)]
        command += ["--truth", "truth", "--json", "--runs", str(n_runs), "--seed", "0"]
        command += ["--at", ",".join(map(str, at))] if at else []
        command += ["--until", str(until)] if until else []
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: Value = json.loads(said)["results"][0]
    return result


def _write(where: Path, pool: Pool, question: Value, groups: str, as_paper: bool) -> Path:
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
    plan: Value = {"question": question, "pool": place | meaning}
    if question["task"] == "identify":
        plan["stop"] = STOP
    if question.get("costs") in ("human", "superclass"):
        plan["question"] = question | _superclasses(where, classes)
    if as_paper:
        place["strata"] = 1
        many = question.get("top", 1) != 1
        plan |= AS_PAPER | {"strategy": "multiple-play" if many else "thompson"}
    path = where / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


def _superclasses(where: Path, classes: list[str]) -> Value:
    """Write the map of CIFAR-100's superclasses in the plan's words; say who is a person."""
    lines = (folder() / "cifar100" / "superclasses.csv").read_text(encoding="utf-8").split()[1:]
    rows = [line.split(",") for line in lines]
    named = {classes[int(k)]: name for k, _, name in rows}
    text = "class,superclass\n" + "".join(f"{k},{name}\n" for k, name in named.items())
    (where / "superclasses.csv").write_text(text, encoding="utf-8")
    people = [k for k, name in named.items() if name == "people"]
    return {"superclasses": "superclasses.csv", "people": people}


def _core() -> str:
    """A hash of the code that a simulation rests on."""
    root = Path(__file__).resolve().parents[3] / "worker"
    parts = ("core", "simulate", "pool", "plan")
    files = [f for part in parts for f in sorted((root / part).rglob("*.py"))]
    text = "".join(f.read_text(encoding="utf-8") for f in [*files, root / "assessment.py"])
    return hashlib.sha256(text.encode()).hexdigest()
