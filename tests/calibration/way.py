"""A plan that is tried, and what plans have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.calibration.made import MADE, REAL, TOLD, Made

Values = Mapping[str, Any]
_PAIRS = [["c00", "c01"], ["c02", "c03"], ["c04", "c05"]]
FOUR = ("a model", "b one rate", "d overconfident", "f one-sided")
WHOLE = {"groups": "all_items"}
IDENTIFY, ESTIMATE = {"task": "identify"}, {"task": "estimate"}
COMPARE = {"task": "compare", "compare": _PAIRS}
RMSE = {"rmse": 0.05}


@dataclass(frozen=True, slots=True)
class Way:
    """A plan, and the kinds of pools that it is tried on.

    has_scores: whether the classifier gives any. size: of the made pools. has_report: look at the
    sections of a report, too. n_models: two to compare. has_probabilities: of all classes.
    has_opinions: more is known of the items than the score. has_verdict: people judge outputs.
    """

    name: str
    plan: Values
    kinds: tuple[str, ...] = (*MADE, *REAL)
    has_scores: bool = True
    size: str = "ten"
    has_report: bool = False
    n_models: int = 1
    has_probabilities: bool = False
    has_opinions: bool = False
    has_verdict: bool = False


def opinions_of(pool: Made) -> list[dict[str, str]]:
    """The opinions of a plan; their columns are written beside the predictions."""
    if pool.second is not None:
        return [{"name": "other", "predicted": "o_class", "score": "o_score"}]
    if pool.kind in TOLD:
        return [{"name": "judge", "right": "o_right"}]
    return [
        {"name": "other", "predicted": "o_class", "score": "o_score"},
        {"name": "judge", "right": "o_right"},
        {"name": "length", "number": "o_number"},
        {"name": "source", "category": "o_category"},
    ]


def plan_of(way: Way, pool: Made, classes: tuple[str, ...]) -> dict[str, Any]:
    """The plan as plain values; its files are `predictions.csv`, `second.csv` and `costs.csv`."""
    kind = pool.kind
    plan = dict(way.plan)
    said: dict[str, Any] = {"predicted": "predicted"} | (
        {"score": "score"} if way.has_scores else {}
    )
    if way.has_probabilities:
        said = {"probabilities": [f"p_{name}" for name in classes]}
    asked: dict[str, Any] = {"groups": "predicted_class", "classes": list(classes)}
    if way.has_verdict:
        said.pop("predicted")
        asked = {"groups": "predicted"}
        if pool.prompt is not None:
            asked["pairs_by"] = "prompt"
        plan["annotation"] = {"verdict": {"right": ["c00"], "wrong": ["c01", "c02", "c03"]}}
    if kind == "f one stratum":
        asked["strata"] = 1
    if way.has_opinions:
        asked["opinions"] = opinions_of(pool)
    if way.n_models > 1:
        files = {"first": "predictions.csv", "second": "second.csv"}
        files |= {f"other {m}": f"other-{m}.csv" for m in range(len(pool.others))}
        plan["models"] = [{"name": n, "predictions": file} | said for n, file in files.items()]
        if "where" in way.plan["question"]:
            asked["groups"] = "site"
    else:
        asked |= {"predictions": "predictions.csv"} | said
    return plan | {"pool": asked | plan.get("pool", {})}
