"""The smallest plan that estimates, questions of other metrics, and the mistakes that are found."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.worker.plan.plans import plan_with
from worker.errors import PlanError
from worker.plan import Plan, load_plan

SMALLEST = """\
assessment: digits
pool:
  predictions: digits.csv
  probabilities: [p_0, p_1]
  data: {image: url}
question: {task: estimate}
"""
ONLY_SCORES = {"pool__probabilities": None, "pool__predicted": "said", "pool__score": "sure"}
NO_SCORES = {"pool__probabilities": None, "pool__predicted": "said"}
COST = {"task": "identify", "metric": "cost", "costs": "c.csv"}
RECALL = {"task": "identify", "metric": "recall", "positive": "1"}


def load(folder: Path, **parts: Any) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan_with(SMALLEST, **parts)), encoding="utf-8")
    return load_plan(path)


def mistakes(folder: Path, **parts: Any) -> tuple[str, ...]:
    with pytest.raises(PlanError) as caught:
        load(folder, **parts)
    return caught.value.problems


def asking(question: dict[str, Any]) -> dict[str, Any]:
    """The parts of a plan with this question; `groups` among its keys are those of the pool."""
    rest = {key: value for key, value in question.items() if key != "groups"}
    groups = {"pool__groups": question["groups"]} if "groups" in question else {}
    return {"question": rest, **groups}
