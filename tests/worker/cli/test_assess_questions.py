"""`assay assess`: every question, of one model and of several, and the papers' numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.bench.assess import known_posteriors
from tests.bench.paper.data import folder
from tests.worker.answers import rates_of_judge, values_of, write_outputs
from tests.worker.cli.assessed import report_of, some_labels
from tests.worker.cli.commands import failed
from tests.worker.plan.plans import load
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS, write_plan

METRICS = [
    ("accuracy", "", "predicted_class"),
    ("bias", "", "predicted_class"),
    ("ece", "", "predicted_class"),
    ("ece", "", "score_bin(10)"),
    ("cost", ", costs: costs.csv", "predicted_class"),
    ("confusion", "", "predicted_class"),
    ("tpr", ", positive: cow", "region"),
]
RULES = {"estimate": "{rmse: 0.02}", "identify": "{mrr: {}}", "compare": "{rope: {}}"}


QUESTIONS = [
    (task, *of)
    for task in RULES
    for of in METRICS
    if task == "estimate" or (of[0] != "confusion" and of[2] != "score_bin(10)")
]


@pytest.mark.parametrize(("task", "metric", "more", "groups"), QUESTIONS)
def test_every_question_has_its_report_from_all_labels_and_from_a_sample(
    assay, tmp_path, task, metric, more, groups
):
    pairs = ", compare: all" if task == "compare" else ""
    plan = write_plan(
        tmp_path, by_probabilities=True, prior="{}", groups=groups, stop=RULES[task],
        question=f"{{task: {task}, metric: {metric}{more}{pairs}}}",
    )  # fmt: skip
    whole = report_of(assay("assess", plan, "--labels", "truth", "--json"))
    sample = assay(
        "assess", plan, "--labels", some_labels(tmp_path, 60), "--labels-are", "random", "--json"
    )
    part = assay("assess", plan, "--labels", tmp_path / "labels.csv", "--json")

    assert whole["is_certain"]
    assert all(g["low"] == pytest.approx(g["high"], abs=1e-6) for g in whole["groups"])
    assert report_of(sample)["labels"] == report_of(part)["labels"] == 60


@pytest.mark.skipif(not (folder() / "cifar100").exists(), reason="the paper's data is not here")
def test_reports_of_the_papers_data_say_what_the_papers_state(tmp_path):
    for one in known_posteriors(tmp_path / "paper"):
        assert one.said == pytest.approx(one.stated, abs=0.01), one.what


@pytest.mark.parametrize(
    ("question", "stop"),
    [
        ("{task: identify}", "{mrr: {}}"),
        ("{task: compare}", "{rope: {epsilon: 0.01}}"),
        ("{task: identify, of: models, which: highest}", "{mrr: {}}"),
    ],
)
def test_one_file_of_labels_tells_of_several_models(assay, tmp_path, question, stop):
    plan = write_plan(tmp_path)
    table = pd.read_csv(tmp_path / "predictions.csv", dtype=str)
    table["predicted"] = np.where(np.arange(N_ITEMS) % 7 == 0, "cat", table.predicted)
    table.to_csv(tmp_path / "new.csv", index=False)
    models = [
        f"{{name: {name}, predictions: {file}.csv, predicted: predicted, score: score}}"
        for name, file in (("old", "predictions"), ("new", "new"))
    ]
    plan.write_text(
        f"pool: {{classes: [{', '.join(CLASSES)}]}}\nmodels: [{', '.join(models)}]\n"
        f"question: {question}\nstop: {stop}\n"
    )

    whole = report_of(assay("assess", plan, "--labels", "predictions.csv:truth", "--json"))
    labels = some_labels(tmp_path, 90)
    sample = report_of(
        assay("assess", plan, "--labels", labels, "--labels-are", "random", "--json")
    )
    part = assay("assess", plan, "--labels", labels)

    assert whole["is_certain"]
    old = pd.read_csv(tmp_path / "predictions.csv")
    if whole["models"]["differences"]:
        exact = (old.predicted == old.truth).mean() - (table.predicted == old.truth).mean()
        (row,) = whole["models"]["differences"]
        assert (row["low"], row["high"]) == pytest.approx((exact, exact), abs=1e-6)
    elif "best" in whole["models"]:
        right = [(one.predicted == old.truth).mean() for one in (old, table)]
        assert [group["mean"] for group in whole["groups"]] == pytest.approx(right, abs=1e-6)
        assert [one["second"] for one in sample["densities"]["differences"]] == ["new"]
    else:
        right = (old.predicted == old.truth).groupby(old.predicted).mean()
        for row in whole["models"]["groups"][: len(CLASSES)]:
            assert row["mean"] == pytest.approx(right[row["group"]], abs=1e-6)
    assert sample["labels"] == 90
    assert "say --labels-are random if they were drawn at random" in failed(part)


def test_of_outputs_the_judges_rates_and_the_kinds_of_failure_are_told(assay, tmp_path):
    truth = write_outputs(tmp_path)
    load(tmp_path, values_of())
    done = assay("assess", tmp_path / "plan.yaml", "--labels", "human", "--json")
    report = report_of(done)
    found = {one["metric"]: one for one in report["source"]["metrics"]}
    for metric in ("judge_tpr", "judge_tnr"):
        exact = pytest.approx(rates_of_judge(tmp_path, truth)[metric], abs=1e-6)
        assert found[metric]["overall"] == {"mean": exact, "low": exact, "high": exact}
        for group, told in zip(report["groups"], found[metric]["groups"], strict=True):
            own = rates_of_judge(tmp_path, truth, group["name"])[metric]
            assert told["mean"] == pytest.approx(own, abs=1e-6)
    assert found["accuracy"]["name"] == "pass rate"
    assert report["judge"] == []  # told once
    assert [kind["name"] for kind in report["failures"]] == ["Wrong", "Unsafe"]
