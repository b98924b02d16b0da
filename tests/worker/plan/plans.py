"""The smallest plan, with keys replaced, and the mistakes that are found in it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from worker.errors import PlanError
from worker.plan import Plan, load_plan

SMALLEST = """\
assessment: digits
pool:
  predictions: digits.csv
  probabilities: [p_0, p_1]
  data: {image: url}
question: {task: identify}
"""


def plan_with(smallest: str = SMALLEST, /, **parts: Any) -> dict[str, Any]:
    """The smallest plan, with some keys replaced: `pool__strata=2` is `pool: {strata: 2}`."""
    values = yaml.safe_load(smallest)
    for key, value in parts.items():
        *folder, name = key.split("__")
        at = values
        for step in folder:
            at = at.setdefault(step, {})
        at[name] = value
    return values


def load(folder: Path, plan: str | dict[str, Any]) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(plan if isinstance(plan, str) else yaml.safe_dump(plan), encoding="utf-8")
    return load_plan(path)


def mistakes(folder: Path, plan: str | dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(PlanError) as caught:
        load(folder, plan)
    return caught.value.problems
