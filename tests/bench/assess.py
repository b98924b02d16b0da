"""From labels to the page by `assay assess`, and what the papers state of their own data."""

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.bench.measuring import line, say
from tests.bench.paper.data import folder, load

N_ITEMS, N_CLASSES, N_RUNS = 10_000, 100, 5
# `population: infinite` and Beta(1, 1), as the papers have them.
PLAN = """\
population: infinite
pool: {{predictions: p.csv, predicted: predicted, score: score, strata: 1, groups: {groups}}}
prior: {{kind: uniform, strength: 2}}
question: {question}
"""


class Stated(NamedTuple):
    """What a paper states, and what a report says."""

    what: str
    stated: float
    said: float


def run() -> None:
    """Print the seconds of the whole command, and the papers' numbers beside ours."""
    say(f"\n`assay assess`: {N_ITEMS:,} items, {N_CLASSES} classes, a process and a home each time")
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        write(here)
        seconds(here, N_RUNS, ("labels.csv",))  # compiles
        for what, labels, goal in (
            ("all labelled", ("labels.csv",), "3 s"),
            ("a random sample of 1,000", ("some.csv", "--labels-are", "random"), "3 s"),
            ("1,000, nobody knows why", ("some.csv",), "3 s"),
        ):
            runs = [seconds(here, n, labels) for n in range(N_RUNS)]
            took, busy = (sorted(of) for of in zip(*runs, strict=True))
            told = f"{took[N_RUNS // 2]:.2f}, {took[-1]:.2f} s"
            line(f"{what}: to the page, median and slowest of {N_RUNS}", told, goal)
            line("... of which processor time (median)", f"{busy[N_RUNS // 2]:.2f} s", "")
        if not (folder() / "cifar100").exists():
            say("The papers' data is not here.")
            return
        for one in known_posteriors(here / "paper"):
            line(f"CIFAR-100, {one.what}", f"{one.said:.4f}", f"{one.stated:g} within .01")


def write(here: Path) -> None:
    """Write predictions, the labels of all items, and those of some."""
    rng = np.random.default_rng(5)
    names = np.array([f"class-{k:03d}" for k in range(N_CLASSES)])
    predicted = rng.integers(N_CLASSES, size=N_ITEMS)
    score = rng.beta(8, 2, N_ITEMS)
    is_right = rng.random(N_ITEMS) < score
    label = np.where(is_right, predicted, (predicted + 1) % N_CLASSES)
    said = [f"i{n},{names[predicted[n]]},{score[n]:.4f},text {n}" for n in range(N_ITEMS)]
    _write(here / "predictions.csv", "id,predicted,score,text", said)
    labels = [f"i{n},{names[label[n]]}" for n in rng.permutation(N_ITEMS)]
    _write(here / "labels.csv", "id,label", labels)
    _write(here / "some.csv", "id,label", labels[:1000])


def _write(path: Path, head: str, rows: list[str]) -> None:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def seconds(here: Path, number: int, labels: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of the command, which writes the plan, too: by the clock, and of a processor."""
    (here / "predictions.yaml").unlink(missing_ok=True)
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    # as where it is installed: what Python compiled of it is kept, beside nobody's files
    compiled = {"PYTHONPATH": str(Path.cwd()), "PYTHONPYCACHEPREFIX": str(here / "compiled")}
    command = [sys.executable, "-m", "worker.cli", "assess", "predictions.csv", "--labels", *labels]
    subprocess.run(
        command,
        cwd=here,
        env=kept | {"ASSAY_HOME": str(here / f"{labels}-{number}")} | compiled,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, busy


def known_posteriors(here: Path) -> Iterator[Stated]:
    """The posteriors that the supplement states, from reports of all labels of its own data."""
    here.mkdir()
    pool, names = load("cifar100"), (folder() / "cifar100" / "classes.txt").read_text().split()
    said = zip(pool.predicted.tolist(), pool.score.tolist(), pool.label.tolist(), strict=True)
    rows = [f"i{n},{names[p]},{s:.6f},{names[t]}" for n, (p, s, t) in enumerate(said)]
    _write(here / "p.csv", "item_id,predicted,score,label", rows)
    with (folder() / "cifar100" / "superclasses.csv").open(encoding="utf-8") as file:
        of = [
            f"{names[int(row['class'])]},{row['superclass_name']}" for row in csv.DictReader(file)
        ]
    _write(here / "map.csv", "class,superclass", of)
    parents = "superclass(map.csv)"
    of_parents = _report(here, parents, "{task: compare, compare: [people, trees]}")
    means = {group["name"]: group["mean"] for group in of_parents["groups"]}
    for name, a, b in (("people", 280, 203), ("trees", 351, 162)):
        yield Stated(f"accuracy of {name}, Beta({a}, {b})", a / (a + b), means[name])
    what = "P({} less accurate than {} by more than .05)"
    yield Stated(what.format("people", "trees"), 0.96, of_parents["pairs"][0]["below"])
    two = _report(here, "predicted_class", "{task: compare, compare: [woman, man]}")
    yield Stated(what.format("woman", "man"), 0.82, two["pairs"][0]["below"])
    worst = _report(here, "predicted_class", "{task: identify}")
    chances = {group["name"]: group["p_lowest"] for group in worst["groups"]}
    yield Stated("P(lizard is the least accurate class)", 0.68, chances["lizard"])


def _report(here: Path, groups: str, question: str) -> dict[str, Any]:
    (here / "plan.yaml").write_text(PLAN.format(groups=groups, question=question))
    done = subprocess.run(
        [sys.executable, "-m", "worker.cli", "assess", "plan.yaml", "--labels", "label", "--json"],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        check=True,
        capture_output=True,
    )
    told = json.loads(done.stdout)
    report: dict[str, Any] = json.loads(Path(told["json"]).read_text(encoding="utf-8"))
    return report
