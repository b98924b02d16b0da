"""The hash of a plan, the same on every machine."""

import hashlib
import json
from pathlib import Path
from typing import Any

from worker.plan.group_spec import GroupBy, group_factors
from worker.plan.model import Plan
from worker.plan.pool_part import PoolPlan
from worker.plan.since_part import since_file


def plan_hash(plan: Plan) -> str:
    """Return the SHA-256 (hex) of the plan, the same on every machine: folders do not count.

    Nor does who is told of the result, and when: it changes no choice and no decision.
    """
    values = plan.model_dump(mode="json", exclude={"report", "notify", "stall_after"})
    values["pool"] = without_folders(plan.pool)
    for key, file in plan.question.paths.items():
        values["question"][key.removeprefix("question.")] = file.name
    if plan.annotation.gold is not None:
        values["annotation"]["gold"]["items"] = plan.annotation.gold.items.name
    for stored, model in zip(values.get("models", ()), plan.models or (), strict=True):
        stored["predictions"] = model.predictions.name
    if (earlier := since_file(plan.since)) is not None:
        values["since"] = earlier.name
    if plan.label_studio.config is not None:
        values["label_studio"]["config"] = plan.label_studio.config.name
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def without_folders(pool: PoolPlan) -> dict[str, Any]:
    """Return the plan of a pool as plain values, its files by their names only."""
    factors = [
        str(GroupBy("superclass", map_path=Path(f.map_path).name) if f.map_path else f)
        for f in group_factors(pool.groups)
    ]
    above = pool.parent_factor
    if above is not None and above.map_path:
        above = GroupBy("superclass", map_path=Path(above.map_path).name)
    values = pool.model_dump(mode="json")
    for stored, opinion in zip(values.get("opinions", ()), pool.opinions or (), strict=True):
        stored["predictions"] = None if opinion.predictions is None else opinion.predictions.name
    return (
        values
        | {
            "predictions": pool.predictions.name,
            "groups": factors[0] if isinstance(pool.groups, str) else factors,
        }
        | ({} if above is None else {"parents": str(above)})
        | ({"sites": {k: v.name for k, v in pool.sites.items()}} if pool.sites else {})
    )


def canonical_json(values: object) -> str:
    """Return JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
