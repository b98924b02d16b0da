"""Two models with the same labels, with a real Label Studio: which one is better?"""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from connector.local import LabelStudioServer
from tests.live.pools import SignUp, Trial, exported, label_until_stopped, outcomes_of
from tests.live.service import Service, eventually

pytestmark = pytest.mark.live

N_ITEMS, N_DISAGREED = 60, 24


def two_models(folder: Path) -> Trial:
    """Sixty photos; two models disagree on twenty-four, of which `new` has all right."""
    assessment = f"models-{secrets.token_hex(4)}"
    folder = folder / assessment
    folder.mkdir(parents=True)
    truth = {f"item-{n:02d}": ("ant", "bee")[n % 2] for n in range(N_ITEMS)}
    wrong = {f"item-{n:02d}" for n in range(N_DISAGREED)}
    for model in ("old", "new"):
        rows = ["item_id,said,sure,text"]
        for item, label in truth.items():
            said = (
                {"ant": "bee", "bee": "ant"}[label] if model == "old" and item in wrong else label
            )
            rows.append(f"{item},{said},0.8,a photo of {item}")
        (folder / f"{model}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: {assessment}\n"
        "models:\n"
        "  - {name: old, predictions: old.csv, predicted: said, score: sure}\n"
        "  - {name: new, predictions: new.csv, predicted: said, score: sure}\n"
        "pool: {data: {text: text}}\n"
        "question: {task: compare}\n"
        "stop: {rope: {epsilon: 0.02}}\n",
        encoding="utf-8",
    )
    return Trial(assessment, plan, "answer", "text", truth, {})


def test_the_better_model_is_named_by_labels_of_what_they_disagree_on(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = two_models(tmp_path)
    project = running.begin(trial.plan)

    label_until_stopped(running, trial, project, annotator())

    decision = running.json("status", trial.assessment)["decision"]
    (row,) = decision["models"]["differences"]
    assert (decision["reason"], row["better"]) == ("answered", "new")
    assert row["disagreed"] == N_DISAGREED
    assert row["labelled"] == decision["labels"] <= N_DISAGREED
    assert "new is better than old by" in decision["text"]
    eventually(lambda: running.context.ledger(trial.assessment).metadata().get("told_desk"))
    assert running.decision_file(trial.assessment)["models"] == decision["models"]
    labelled = outcomes_of(exported(label_studio, project), trial)
    assert set(labelled) <= {f"item-{n:02d}" for n in range(N_DISAGREED)}
    page = tmp_path / "report"
    said = running.run("report", trial.assessment, "--to", str(page))
    assert said.code == 0, said.err
    assert "The models" in next(page.rglob("*.html")).read_text(encoding="utf-8")
    assert running.json("replay", trial.assessment)["is_equal"] is True
