"""Whatever is asked of whatever pool: it is refused with a reason, or it runs to the very end."""

import csv
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.amount import IS_SHORT
from worker.core.strategies import STRATEGIES
from worker.errors import AssayError
from worker.simulate.cases import Asked, prepare, replay_run

N_PLANS = 60 if IS_SHORT else 400
GROUPS = (
    "predicted_class", "region", "score_bin(4)", "equal_mass_bin(5)", "superclass(above.csv)",
    ["region", "predicted_class"], ["predicted_class", "score_bin(3)"],
)  # fmt: skip
RULES: dict[str, tuple[dict[str, Any], ...]] = {
    "identify": tuple(
        {"mrr": {"threshold": t, "confidence": c}} for t in (0.5, 0.99, 1.0) for c in (0.5, 0.99)
    ),
    "compare": tuple(
        {"rope": {"epsilon": e, "confidence": c}} for e in (0, 0.01, 0.2) for c in (0.6, 0.95)
    ),
    "estimate": tuple({kind: most} for kind in ("rmse", "width") for most in (0.01, 0.3)),
}


def maybe(keys: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the keys, each with one of its values."""
    return st.fixed_dictionaries(
        {}, optional={key: st.sampled_from(values) for key, values in keys.items()}
    )


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """A plan that makes sense, or nearly so; `n_items` and `n_classes` tell of its pool."""
    n_classes = draw(st.integers(2, 6))
    names = [f"c{k}" for k in range(n_classes)]
    said: tuple[dict[str, Any], ...] = (
        {"probabilities": [f"p_{name}" for name in names]},
        {"predicted": "predicted", "score": "score", "classes": names},
        {"predicted": "predicted", "classes": names},
    )
    metric = draw(st.sampled_from(["accuracy", "bias", "ece", "cost", "confusion", "recall", "f1"]))
    task = "estimate" if metric == "confusion" else draw(st.sampled_from(list(RULES)))
    question: dict[str, Any] = {"task": task, "metric": metric}
    if task == "compare":
        question["compare"] = "all"
    if task == "identify":
        question |= draw(maybe({"top": (1, 2, 3), "tolerance": (0.01, 0.5)}))
        question |= draw(maybe({"which": ("lowest", "highest")}))
    if metric == "cost":
        named = {"costs": "superclass", "superclasses": "above.csv"}
        question |= draw(st.sampled_from([{"costs": "costs.csv"}, named]))
    if metric in ("recall", "f1"):
        question["positive"] = "c1"
    stop = draw(maybe({"guarantee": ("anytime",), "looks": (1, 2, 5), "min_per_group": (1, 3)}))
    stop |= draw(st.one_of(st.just({}), st.sampled_from(RULES[task])))
    pool = draw(st.sampled_from(said)) | draw(maybe({"strata": (1, 2, 16)}))
    return {
        "n_items": draw(st.sampled_from([2, 3, 5, 12, 40])),
        "n_classes": n_classes,
        "spread": draw(st.sampled_from([0.1, 1.0, 4.0, 30.0])),
        "seed": draw(st.integers(0, 2**31)),
        "pool": pool | {"groups": draw(st.sampled_from(GROUPS))},
        "question": question,
        "stop": stop,
        **draw(
            maybe(
                {
                    "prior": [{"kind": kind} for kind in ("uniform", "informative", "empirical")],
                    "population": ("infinite",),
                    "strategy": list(STRATEGIES),
                }
            )
        ),
    }


def written(folder: Path, plan: dict[str, Any]) -> Path:
    """Write a plan, its pool with the column `truth`, and the files that it may name."""
    n, k = plan.pop("n_items"), plan.pop("n_classes")
    rng = np.random.default_rng(plan["seed"])
    truth, region = rng.integers(k, size=n), rng.choice(["north", "south"], n)
    logit = rng.normal(0, plan.pop("spread"), (n, k))
    logit[np.arange(n), truth] += rng.choice([0, 1, 3])
    shares = np.exp(logit - logit.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    names = [f"c{j}" for j in range(k)]
    costs = rng.integers(0, 5, (k, k)) * (1 - np.eye(k, dtype=int))
    rows = [["item_id", *(f"p_{name}" for name in names), "predicted", "score", "region", "truth"]]
    for i in range(n):
        best = int(shares[i].argmax())
        of_item = [*shares[i].tolist(), names[best], float(shares[i, best])]
        rows.append([i, *of_item, region[i], names[truth[i]]])
    above = [["class", "superclass"], *([name, "AB"[j % 2]] for j, name in enumerate(names))]
    matrix = [["", *names], *([name, *row] for name, row in zip(names, costs, strict=True))]
    files = {"predictions.csv": rows, "above.csv": above, "costs.csv": matrix}
    for name, lines in files.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
    plan["pool"]["predictions"] = "predictions.csv"
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    return folder / "plan.yaml"


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["truth", None], ids=["true classes", "drawn truths"])
@settings(max_examples=N_PLANS)
@given(plan=plans())
def test_a_plan_is_refused_or_runs_to_the_end_where_nothing_is_wrong_any_more(truth, plan):
    with tempfile.TemporaryDirectory() as name:
        path = written(Path(name), plan)
        note(path.read_text(encoding="utf-8"))
        try:
            case = prepare(path, path.parent / "pools", Asked(truth))[0]
        except AssayError:
            return
        run = replay_run(asdict(case), number=0)
    assert run["stop"] is not None
    if plan.get("population") == "infinite" or run["labels"] < case.n_items:
        return
    assert run["rmse"][-1] < 1e-9
    assert run["stop"]["is_right"] or run["stop"]["reason"] == "answered"
