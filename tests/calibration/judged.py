"""The task `evaluate`: how far predictions are from what all people would say, by some votes."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from tests.calibration.made import Floats
from tests.calibration.running import Line
from worker.assessment import Assessment, assess
from worker.evaluator.measures import MEASURES
from worker.plan import load_plan
from worker.pool import check_question, compile_pool
from worker.simulate.against_truth import held
from worker.simulate.found import Found
from worker.store.tally import tally_key

WAY = "evaluate"
N_ITEMS, N_VOTES, N_CLASSES = 400, 5, 4
# How people differ: `alpha` of what they say of an item beside its main class, and how much of the
# prediction is another such draw.
KINDS: dict[str, tuple[float, float, float]] = {
    "b people agree, and so does the prediction": (30.0, 0.5, 0.15),
    "c people agree, the prediction less": (30.0, 0.5, 0.5),
    "d people differ": (2.0, 0.7, 0.5),
    "d people differ, and so does the prediction": (1.0, 0.7, 1.0),
}


def _people(kind: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(N, K) what people say of each item, and what is predicted."""
    main, rest, apart = KINDS[kind]
    alpha = np.full((N_ITEMS, N_CLASSES), rest)
    alpha[np.arange(N_ITEMS), rng.integers(N_CLASSES, size=N_ITEMS)] += main
    human, other = (_dirichlets(alpha, rng) for _ in range(2))
    return human, (1 - apart) * human + apart * other


def _dirichlets(alpha: Floats, rng: np.random.Generator) -> Floats:
    drawn = rng.gamma(alpha)
    shares: Floats = drawn / drawn.sum(axis=1, keepdims=True)
    return shares


@contextmanager
def opened(kind: str, rng: np.random.Generator) -> Iterator[tuple[Assessment, Floats]]:
    """The assessment, and what people say in the order of its rows."""
    with tempfile.TemporaryDirectory() as name:
        here, (human, predicted) = Path(name), _people(kind, rng)
        columns = [f"p_{k}" for k in range(N_CLASSES)]
        with (here / "predictions.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["item_id", *columns])
            rows.writerows([n, *(f"{x:.9f}" for x in of)] for n, of in enumerate(predicted))
        plan = {
            "pool": {"predictions": "predictions.csv", "probabilities": columns},
            "question": {"task": "evaluate"},
            "annotation": {"per_item": N_VOTES},
            "stop": {"width": 0.02},
        }
        (here / "plan.yaml").write_text(yaml.safe_dump(plan))
        read = load_plan(here / "plan.yaml", for_simulation=True)
        pool = compile_pool(read, here / "pools")
        check_question(read, pool)
        order = np.array([int(item) for item in pool.item_ids.to_pylist()])
        yield assess(read, pool), human[order]


def run(kind: str, number: int, at: tuple[int, ...]) -> list[Line]:
    """One run: votes on items that are drawn at random."""
    rng = np.random.default_rng([21, number])
    with opened(kind, rng) as (work, human):
        pool = work.pool
        work = replace(work, plan=work.plan.model_copy(update={"seed": number}))
        assert pool.probability is not None, "a pool for this task has them"
        predicted = pool.probability.astype(np.float64)
        predicted /= predicted.sum(axis=1, keepdims=True)
        measure = MEASURES[work.plan.metric].of(human, predicted[:, None, :])[:, 0]
        cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
        group = pool.cell_group[cell]
        n_groups = len(pool.group_names)
        with np.errstate(invalid="ignore"):
            truth = np.bincount(group, measure, n_groups) / np.bincount(group, minlength=n_groups)
        order, tally, told = rng.permutation(pool.n_items), dict[str, int](), list[Line]()
        for claim, row in enumerate(order[: at[-1]].tolist()):
            votes = rng.multinomial(N_VOTES, human[row])
            said = {pool.classes[k]: int(n) for k, n in enumerate(votes) if n}
            of = int(cell[row])
            tally[tally_key(claim, of, int(pool.predicted[row]), f"{row}:{json.dumps(said)}")] = 1
            if claim + 1 in at:
                found = held(Found(work, work.believe(tally), truth))
                told += [
                    (name, claim + 1, float(one.said.sum()), int(one.came.sum()), one.came.size)
                    for name, one in found.items()
                ]
        return told
