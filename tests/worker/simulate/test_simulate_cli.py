"""`assay simulate` and `assay plan-labels` as a person or a script meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from tests.worker.simulate.simulated_pool import N_ITEMS, write_plan
from worker.cli.main import cli

Assay = Callable[..., Result]


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assay:
    """Run a command where there is neither Label Studio nor Redis."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    for name in ("REDIS_URL", "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: CliRunner().invoke(cli, [str(a) for a in arguments])


def test_it_prints_json_and_nothing_else(assay, tmp_path):
    plan = write_plan(tmp_path)
    done = assay(
        "simulate", plan, "--truth", "truth", "--strategies", "random,thompson",
        "--priors", "uniform,informative", "--runs", 3, "--at", "20,50", "--processes", 1, "--json",
    )  # fmt: skip

    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["pool"] == "predictions.csv"
    assert (report["items"], report["runs"], report["finished"]) == (N_ITEMS, 3, 3)
    assert len(report["results"]) == 4
    for result in report["results"]:
        assert list(result["rmse_at"]) == ["20", "50"]
        assert result["labels_to_mrr99"] >= result["labels_to_mrr95"] > 0
        assert 0 <= result["regret"] < 1
        assert result["stop"]["stopped"] == 3
        assert result["stop"]["right"] <= 3
        assert result["stop"]["claimed"] == 0.95
        assert 0.95 <= result["stop"]["confidence_mean"] <= 1
        assert 0 < result["stop"]["labels_median"] <= N_ITEMS
        assert result["cpu_s_per_run"] > 0


@pytest.mark.parametrize(
    ("question", "stop", "of_the_pool"),
    [("{task: identify}", "{mrr: {}, looks: 3}", []), ("{task: estimate}", "{rmse: 0.05}", [1])],
)
def test_it_says_how_much_of_what_would_be_published_is_true(
    assay, tmp_path, question, stop, of_the_pool
):
    plan = write_plan(tmp_path, question=question, stop=stop)
    asked = ("--truth", "truth", "--strategies", "assay", "--runs", 4, "--at", "20,40,50")
    done = assay("simulate", plan, *asked, "--processes", 1, "--json")
    assert done.exit_code == 0, done.stderr

    (result,) = json.loads(done.stdout)["results"]
    found = {(row["what"], row["labels"]): row for row in result["held"]}
    wanted = {"group interval": [3], "rank interval": [3], "overall interval": of_the_pool}
    for what, each in wanted.items():  # how many of them a run publishes
        rows = [found[key] for key in ((what, n) for n in (20, 40, 50, None)) if key in found]
        assert len(rows) == 4 * len(each)  # None: at the stop
        for row, n in product(rows, each):
            assert row["said"] == pytest.approx(0.95)
            assert 0 <= row["came"] <= 1
            assert row["runs"] == 4
            assert row["n"] == 4 * n
    shown = assay("simulate", plan, *asked, "--processes", 1).stdout
    assert "would publish (said)" in shown
    assert re.search(r"group interval +[01]\.\d\d \(0\.95\)", shown)


def without_times(report: dict) -> dict:
    for result in report["results"]:
        del result["cpu_s_per_run"]
    return report


def test_the_result_is_the_same_on_however_many_processes(assay, tmp_path):
    plan = write_plan(tmp_path)
    reports = [
        without_times(
            json.loads(
                assay(
                    "simulate", plan, "--truth", "truth", "--runs", 5, "--seed", 4,
                    "--processes", n, "--json",
                ).stdout
            )
        )
        for n in (1, 2)
    ]  # fmt: skip
    assert reports[0] == reports[1]


def test_people_get_a_table(assay, tmp_path):
    done = assay(
        "simulate", write_plan(tmp_path), "--truth", "truth", "--runs", 2, "--processes", 1
    )
    assert done.exit_code == 0
    assert "MRR>.95" in done.stdout
    assert re.search(r"thompson +uniform +\d", done.stdout)
    assert "RMSE of thompson" in done.stdout


def test_a_page_holds_the_curves_and_the_tests_and_loads_nothing(assay, tmp_path):
    page = tmp_path / "simulation.html"
    done = assay(
        "simulate", write_plan(tmp_path), "--truth", "truth", "--strategies",
        "thompson,top-two,bayes-ucb,epsilon-greedy", "--beta", "0.3", "--quantile", "0.9",
        "--epsilon", "0.2", "--strengths", "2,20", "--runs", 2, "--processes", 1, "--until", 60,
        "--report", page,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "Wilcoxon" in done.stdout
    text = page.read_text(encoding="utf-8")
    for told in ("top-two 0.3", "uniform 20", "Mean reciprocal rank against labels", "signed-rank"):
        assert told in text
    assert text.count("<svg") == 8
    assert not re.search(r"(src|href)=\"(https?:)?//", text)


def test_the_truth_may_be_in_a_file_of_its_own(assay, tmp_path):
    plan = write_plan(tmp_path)
    table = pd.read_csv(tmp_path / "predictions.csv")
    own = tmp_path / "truth.csv"
    table[["item_id", "truth"]].sample(frac=1, random_state=1).to_csv(own, index=False)

    def simulated(truth: str) -> dict:
        arguments = ("--truth", truth, "--runs", 2, "--until", 40, "--processes", 1, "--json")
        return without_times(json.loads(assay("simulate", plan, *arguments).stdout))

    beside, within = simulated(f"{own}:truth"), simulated("truth")
    assert beside["results"] == within["results"]
    assert beside["truth"] == f"{own}:truth"


@pytest.mark.parametrize(
    ("rows", "column", "said"),
    [
        ("item_id,truth\ni000,cat\n", "truth", "149 items of the pool are not in the file"),
        ("item_id,truth\ni000,cat\ni000,dog\n", "truth", "i000 stands there twice"),
        ("item_id,truth\ni000,cat\n", "trut", "did you mean truth?"),
        ("id,truth\ni000,cat\n", "truth", "no column item_id of the plan's `pool.id`"),
    ],
)
def test_a_file_of_truths_that_does_not_fit_is_refused(assay, tmp_path, rows, column, said):
    (tmp_path / "truth.csv").write_text(rows, encoding="utf-8")
    done = assay("simulate", write_plan(tmp_path), "--truth", f"{tmp_path / 'truth.csv'}:{column}")
    assert done.exit_code == 1
    assert said in done.stderr


def test_without_truth_it_draws_plausible_ones(assay, tmp_path):
    done = assay("simulate", write_plan(tmp_path), "--runs", 3, "--processes", 1, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["truth"] is None


def test_plan_labels_says_what_the_question_will_cost(assay, tmp_path):
    plan = write_plan(tmp_path, stop="{mrr: {}, budget: 60}")
    done = assay("plan-labels", plan, "--runs", 12, "--processes", 1, "--json")

    assert done.exit_code == 0
    report = json.loads(done.stdout)
    low, high = report["labels_quartiles"]
    assert 1 <= low <= report["labels_median"] <= high <= N_ITEMS
    assert report["budget"] == 60
    assert 0 <= report["answered_within_budget"] <= 1
    said = assay("plan-labels", plan, "--runs", 12, "--processes", 1).stdout
    assert f"about {report['labels_median']:,} labels" in said
    assert "The budget of 60 labels" in said


def test_several_people_an_item_are_that_many_annotations(assay, tmp_path):
    plan = write_plan(tmp_path, more="annotation: {per_item: 5}\n")
    options = ("--runs", 3, "--processes", 1)
    report = json.loads(assay("plan-labels", plan, *options, "--json").stdout)
    said = assay("plan-labels", plan, *options).stdout
    assert f"5 people judge: about {5 * report['labels_median']:,} annotations" in said
    assert "an item with its 5 annotations" in assay("simulate", plan, *options).stdout


def test_runs_that_the_budget_ended_are_told(assay, tmp_path):
    plan = write_plan(tmp_path, stop="{mrr: {}, budget: 5}")
    done = assay("simulate", plan, "--runs", 2, "--processes", 1)
    assert done.exit_code == 0
    told = "2 of 2 runs of thompson, uniform, ended without an answer (2 because the budget was"
    assert told in done.stdout


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--runs", "0"), "--runs"),
        (("--until", "0"), "--until"),
        (("--seed", "-1"), "--seed"),
        (("--processes", "0"), "--processes"),
        (("--strategies", "thomson"), "did you mean thompson?"),
        (("--strategies", ""), "expected some of"),
        (("--priors", "emprical"), "did you mean empirical?"),
        (("--at", "10,x"), "expected numbers of labels"),
        (("--at", "0"), "expected numbers of labels"),
        (("--at", "90", "--until", "50"), "raise --until"),
        (("--strengths", "2,x"), "expected numbers above 0"),
        (("--strengths", "0"), "expected numbers above 0"),
        (("--strengths", "2", "--priors", "empirical"), "is fitted to the labels"),
        (("--beta", "1"), "0<x<1"),
        (("--epsilon", "0.2"), "add epsilon-greedy to --strategies"),
        (("--at", "100,5000"), "runs end at 150 labels"),
        (("--at", "900", "--until", "1000"), "the pool has 150 items"),
    ],
)
def test_a_wrong_option_is_wrong_use_and_is_named(assay, tmp_path, arguments, said):
    done = assay("simulate", write_plan(tmp_path), *arguments)
    assert done.exit_code == 2
    assert arguments[0] in done.stderr
    assert said in done.stderr


def without_one_truth(text: str) -> str:
    return re.sub(r"^(i004,.*,)\w+$", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("change", "column", "said"),
    [
        (lambda text: text, "trut", "did you mean truth?"),
        (without_one_truth, "truth", "first: i004"),
        (lambda text: re.sub(r"^(i\d+),\w+", r"\1,cat", text, flags=re.M), "truth", "pool.groups"),
    ],
    ids=["no such column", "an item without truth", "one group"],
)
def test_what_cannot_be_simulated_is_said_with_its_cure(assay, tmp_path, change, column, said):
    plan = write_plan(tmp_path)
    predictions = tmp_path / "predictions.csv"
    predictions.write_text(change(predictions.read_text(encoding="utf-8")), encoding="utf-8")

    done = assay("simulate", plan, "--truth", column, "--runs", 1)

    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert said in done.stderr
    assert done.stdout == ""
