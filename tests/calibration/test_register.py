"""No number is published that nobody tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from tests.calibration.documents import begun, documents, from_labels, leaves
from tests.calibration.statistics import NAMES
from tests.calibration.ways import WAYS
from worker.findings.published import EXACT, PUBLISHED, is_exact, row_of
from worker.findings.published_paths import is_of, spelled
from worker.plan.question_part import Metric, QuestionPlan, Task
from worker.web.metrics import _GAUGES

ROOT = Path(__file__).parents[2]
Seen = dict[str, set[str]]
# Shown where a run has them; the assessments here have none.
JUDGED = ("evaluate", "accuracy")  # the plan's default metric; `tests.calibration.judged` tries it
RARE = ("metrics", "status retired.*")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Document -> the paths of all numbers that it shows, over all tasks and metrics."""
    found: Seen = {"metrics": set(_GAUGES)}
    for _, one in begun(tmp_path_factory.mktemp("documents")):
        for name, document in documents(one):
            found.setdefault(name, set()).update(path.lstrip(".") for path in leaves(document))
    for name, document in from_labels(tmp_path_factory.mktemp("labels")):
        found[name].update(path.lstrip(".") for path in leaves(document))
    return found


def every(shown: Seen) -> Iterator[tuple[str, str]]:
    return ((name, path) for name, paths in shown.items() for path in sorted(paths))


def test_every_number_that_is_shown_is_in_the_register_or_exact(shown):
    unknown = [
        f"{name}: {path}"
        for name, path in every(shown)
        if row_of(name, path) is None and not is_exact(name, path)
    ]
    assert not unknown, "put each in PUBLISHED, with what tries it, or in EXACT"


def test_no_number_is_both(shown):
    assert not [
        f"{name}: {path}"
        for name, path in every(shown)
        if row_of(name, path) and is_exact(name, path)
    ]


def test_every_row_of_the_register_is_shown_somewhere(shown):
    stale = [
        f"{document}: {pattern}"
        for row in PUBLISHED
        for document in row.documents
        for pattern in row.paths
        if not any(is_of(path, [pattern]) for path in shown[document])
    ]
    assert not stale


def test_every_row_names_what_tries_it_and_that_is_there():
    for row in PUBLISHED:
        assert row.tried_by, row.says
        for name in row.tried_by:
            assert name in NAMES or (ROOT / name).is_file(), f"{row.says}: {name}"


def can_ask(task: str, metric: str) -> bool:
    asked: dict[str, object] = {"task": task, "metric": metric}
    asked |= {"which": "highest"} if task == "identify" else {}
    asked |= {"compare": "all"} if task == "compare" else {}
    asked |= {"positive": "c00"} if metric in ("recall", "precision", "f1") else {}
    asked |= {"costs": "costs.csv"} if metric == "cost" else {}
    try:
        QuestionPlan.model_validate(asked)
    except ValidationError:
        return False
    return True


def test_every_question_that_a_plan_can_ask_is_tried():
    asked = [way.plan["question"] for way in WAYS]
    tried = {(one["task"], one.get("metric", "accuracy")) for one in asked} | {JUDGED}
    every = list(product(get_args(Task), get_args(Metric)))
    assert {one for one in every if can_ask(*one)} == tried


def test_every_task_is_tried_with_every_population_and_guarantee():
    plans = [(way.plan["question"]["task"], way.plan) for way in WAYS]
    populations = {(task, plan.get("population", "finite")) for task, plan in plans}
    guarantees = {
        (task, plan.get("stop", {}).get("guarantee", "posterior")) for task, plan in plans
    }
    tasks = {task for task, _ in plans}
    assert populations == set(product(tasks, ("finite", "infinite")))
    assert guarantees == set(product(tasks, ("posterior", "anytime")))


def test_a_new_number_is_not_let_pass():
    for document in ("decision", "report", "status", "notebook", "comparison", "metrics"):
        for path in ("surprise", "groups[].mean_of_something", "overall.sd", "items[].x"):
            assert row_of(document, path) is None
            assert not is_exact(document, path)


def test_braces_and_stars_mean_one_key():
    assert spelled("a.{b,c}.d") == ["a.b.d", "a.c.d"]
    assert is_of("x.y", ["x.*"])
    assert not is_of("x.y.z", ["x.*"])
    assert not is_of("x[].y", ["x.y"])
    assert all(isinstance(paths, str) for _, paths in EXACT)
