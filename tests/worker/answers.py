"""Outputs of models that a person judges: a made file, and a plan about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from connector.schema import Schema
from worker.plan import Plan

RIGHT, WRONG = ["Correct", "Acceptable"], ["Wrong", "Unsafe"]
SCHEMA = Schema("answer", "question", (*RIGHT, *WRONG), None, {"Acceptable": "Correct"})
MODELS = ("small", "large")
TOPICS = {"sums": 0.95, "dates": 0.5, "units": 0.85, "names": 0.9}


def write_outputs(folder: Path, n: int = 400, seed: int = 1) -> dict[str, str]:
    """Write `answers.jsonl`, and return item -> the choice that is true of its output.

    A quarter of the right ones are called acceptable, a third of the others unsafe; a judge gives
    higher probabilities to right ones.
    """
    rng = np.random.default_rng(seed)
    truth, rows = {}, []
    for i in range(n):
        topic = [*TOPICS][i % len(TOPICS)]
        is_right = bool(rng.random() < TOPICS[topic])
        judged = np.clip(rng.normal(0.75 if is_right else 0.4, 0.2), 0, 1)
        choices = (RIGHT, [0.75, 0.25]) if is_right else (WRONG, [2 / 3, 1 / 3])
        truth[f"a{i}"] = str(rng.choice(choices[0], p=choices[1]))
        rows.append(
            {
                "item_id": f"a{i}",
                "prompt": f"Question {i} about {topic}?",
                "output": f"<b>Answer</b> {i}.\n\nIt has *two* paragraphs.",
                "judge_p": round(float(judged), 3),
                "model": f"m{i % 3}",
                "topic": topic,
                "human": truth[f"a{i}"],
            }
        )
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    return truth


def write_pairs(
    folder: Path, n: int = 150, alike: float = 1.0, more: tuple[dict[str, Any], ...] = ()
) -> dict[str, str]:
    """Write `answers.jsonl`; return item -> verdict. Two models fail at the same prompts.

    Args:
        alike: in so many of the prompts; in the others each fails by itself. more: rows beside.
    """
    rng = np.random.default_rng(3)
    truth, rows = {}, []
    for i in range(n):
        fails = rng.random() < 0.4
        for model in MODELS:
            item = f"{model}-{i}"
            own = fails if rng.random() < alike else rng.random() < 0.4
            truth[item] = "Wrong" if own else "Correct"
            rows.append(
                {
                    "item_id": item, "prompt": f"Question {i}?", "output": f"Answer {i}.",
                    "model": model, "topic": f"t{i % 3}", "human": truth[item],
                }
            )  # fmt: skip
    rows += more
    rng.shuffle(rows)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    return truth


def rates_of_judge(folder: Path, truth: dict[str, str], topic: str = "") -> dict[str, float]:
    """TPR and TNR of the judge by their metrics, item by item; of one topic, or of all."""
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if not topic or row["topic"] == topic]
    said = [(row["judge_p"] >= 0.5, truth[row["item_id"]] in RIGHT) for row in rows]
    right = [judge for judge, person in said if person]
    wrong = [judge for judge, person in said if not person]
    return {"judge_tpr": sum(right) / len(right), "judge_tnr": 1 - sum(wrong) / len(wrong)}


def values_of(**parts: Any) -> dict[str, Any]:
    """A plan about these outputs as plain values; parts replace keys of its parts."""
    plan: dict[str, Any] = {
        "assessment": "answers",
        "pool": {
            "predictions": "answers.jsonl",
            "data": {"question": "prompt", "answer": "output"},
            "score": "judge_p",
            "groups": "topic",
        },
        "annotation": {"verdict": {"right": RIGHT, "wrong": WRONG}},
        "question": {"task": "identify"},
    }
    for key, more in parts.items():
        plan[key] = plan[key] | more if isinstance(plan.get(key), dict) else more
    return plan


def plan_of(folder: Path, **parts: Any) -> Plan:
    return Plan.model_validate(values_of(**parts), context={"folder": folder})
