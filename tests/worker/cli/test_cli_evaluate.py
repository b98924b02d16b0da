"""`assay evaluate` as a person or a script meets it: a plan, votes, predictions; nobody labels."""

from __future__ import annotations

import json
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from worker.cli import evaluate as cli_evaluate
from worker.cli.main import cli
from worker.evaluator.contract import EVALUATORS
from worker.setup.checking import check_plan

CLASSES = ("cat", "dog", "fox")
N = 120
IDS = [f"i{n:03d}" for n in range(N)]


def people():
    return np.random.default_rng(1).dirichlet([2, 2, 2], N)


def predictions(width, seed=2):
    moved = people() + width * np.random.default_rng(seed).normal(size=(N, 3))
    moved = np.clip(moved, 0.001, None)
    return moved / moved.sum(axis=1, keepdims=True)


def write_predictions(path, rows, ids=IDS, **columns):
    table = pd.DataFrame(rows, columns=[f"p_{name}" for name in CLASSES])
    table.assign(item_id=ids, **columns).to_csv(path, index=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Votes, the predictions of the pool's predictor `own`, and those of two others."""
    counts = np.random.default_rng(3).multinomial(40, people())
    table = pd.DataFrame(counts, columns=[f"n_{name}" for name in CLASSES])
    table.assign(item_id=IDS).to_csv(tmp_path / "counts.csv", index=False)
    write_predictions(tmp_path / "own.csv", predictions(0.05), half=["a", "b"] * (N // 2))
    shuffled = np.random.default_rng(4).permutation(N)
    for name, width in (("close", 0.01), ("far", 0.2)):
        rows, ids = predictions(width)[shuffled], [IDS[n] for n in shuffled]
        write_predictions(tmp_path / f"{name}.csv", rows, ids)
    return tmp_path


def write_plan(folder: Path, part: str) -> Path:
    plan = folder / "plan.yaml"
    plan.write_text(
        "assessment: pets\n"
        "pool: {predictions: own.csv, probabilities: [p_cat, p_dog, p_fox], data: {image: image}}\n"
        "question: {task: evaluate}\nannotation: {per_item: 3}\n"
        f"evaluate: {{{part}}}\n"
    )
    return plan


def assay(folder: Path, experiment: str, part: str, *more: str):
    plan = write_plan(folder, part)
    arguments = ["evaluate", str(plan), "--experiment", experiment, *more]
    return CliRunner().invoke(cli, arguments)


USUAL = "human: counts.csv, evaluator: zero-mean-ndod, folds: 0"
MODELS = f"{USUAL}, models: {{close: close.csv, far: far.csv}}"


def test_selection_says_who_is_best_and_who_is_most_certain(folder):
    done = assay(folder, "selection", MODELS, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["experiment"] == "selection"
    assert told["best_first"] == told["by_l2"] == ["close", "own", "far"]
    assert told["surest_first"][0] == "close"
    assert (told["assessment"], told["items"], told["votes"]) == ("pets", N, 40)
    assert told["classes"] == list(CLASSES)
    said = assay(folder, "selection", MODELS).output
    assert "close is best" in said
    assert "P(best)" in said


def test_uncertainty_is_told_for_each_part_and_in_words(folder):
    done = assay(folder, "uncertainty", f"{USUAL}, part: half, level: 0.9")
    assert done.exit_code == 0, done.output
    assert "The normalised L2 distance between own and people is" in done.output
    assert "90% HPDI" in done.output
    assert [line.split()[0] for line in done.stdout.splitlines() if " 60 " in line] == ["a", "b"]
    assert "own: what it confuses with what" in done.output
    assert "Where most people say" in done.output


def test_fit_tries_every_evaluator_or_the_one_that_is_named(folder):
    told = json.loads(assay(folder, "fit", USUAL, "--evaluator", "ndod", "--json").stdout)
    assert [one["evaluator"] for one in told["evaluators"]] == ["ndod"]
    assert told["notes"] == []
    parted = assay(folder, "fit", f"{USUAL}, part: half", "--evaluator", "ndod", "--json")
    assert json.loads(parted.stdout)["notes"] == ["`fit` takes the items of all parts together."]
    assert told["evaluators"][0]["held_out"]["distance"]["right_tailed"] < 0.3


def test_the_page_needs_nothing_but_itself_and_says_what_the_json_has(folder):
    done = assay(folder, "selection", MODELS, "--to", str(folder / "out"), "--json")
    page = Path(json.loads(done.stdout)["page"])
    told, text = json.loads(page.with_suffix(".json").read_text()), page.read_text()
    assert told["best_first"] == ["close", "own", "far"]
    assert told["text"].startswith("close is best")
    assert told["text"][:40] in text
    assert text.count("<svg") == 2
    for foreign in ("http://", "https://", "src=", "@import"):
        assert foreign not in text
    assert sorted(path.suffix for path in (folder / "out").iterdir()) == [".html", ".json"]


@pytest.mark.parametrize("experiment", ["fit", "uncertainty"])
def test_names_that_look_like_markup_stay_names(folder, experiment):
    bad = "<b>$x$</b>"
    table = pd.read_csv(folder / "counts.csv").rename(columns={"n_cat": f"n_{bad}"})
    table.to_csv(folder / "counts.csv", index=False)
    rows = pd.read_csv(folder / "own.csv").rename(columns={"p_cat": f"p_{bad}"})
    rows.to_csv(folder / "own.csv", index=False)
    plan = folder / "plan.yaml"
    plan.write_text(
        f'pool: {{predictions: own.csv, probabilities: ["p_{bad}", p_dog, p_fox]}}\n'
        f"question: {{task: evaluate}}\nevaluate: {{{USUAL}}}\n"
    )
    arguments = ["--experiment", experiment, "--evaluator", "ndod", "--to", str(folder / "out")]
    done = CliRunner().invoke(cli, ["evaluate", str(plan), *arguments])
    assert done.exit_code == 0, done.output
    (page,) = (folder / "out").glob("*.html")
    assert bad not in page.read_text()


def test_several_predictions_of_an_item_are_rows_with_its_id(folder):
    rows = np.concatenate([predictions(0.05, seed) for seed in (5, 6)])
    write_predictions(folder / "own.csv", rows, IDS * 2)
    told = json.loads(assay(folder, "uncertainty", USUAL, "--json").stdout)
    assert (told["items"], told["predictions"]) == (N, 2)
    seen = told["predictors"][0]["whole"]["seen_distribution"]
    assert seen["n"] == 2 * N


def test_votes_may_come_one_a_row_and_as_ratings(folder):
    rng = np.random.default_rng(7)
    votes = [(item, rating) for item in IDS for rating in rng.integers(1, 4, 9)]
    pd.DataFrame(votes, columns=["item_id", "stars"]).to_csv(folder / "votes.csv", index=False)
    part = "human: votes.csv, column: stars, evaluator: ndod, scale: {low: 1, high: 3}"
    told = json.loads(assay(folder, "uncertainty", part, "--json").stdout)
    assert (told["items"], told["votes"]) == (N, 9)
    done = assay(folder, "uncertainty", part.replace("high: 3", "high: 2"))
    assert done.exit_code == 1
    assert "The scale has 2 classes (1, 2), but the predictions have 3" in done.output


def test_items_without_votes_or_predictions_are_left_out_and_told(folder):
    table = pd.read_csv(folder / "counts.csv")
    more = table.iloc[[0]].assign(item_id="other")
    pd.concat([table.iloc[:100], more]).to_csv(folder / "counts.csv", index=False)
    told = json.loads(assay(folder, "uncertainty", USUAL, "--json").stdout)
    assert told["items"] == 100
    assert told["notes"] == [
        "20 of 120 predicted items have no votes: left out.",
        "1 of 101 voted items have no prediction: left out.",
    ]


def without_a_row(folder):
    pd.read_csv(folder / "close.csv").iloc[1:].to_csv(folder / "close.csv", index=False)


def twice_a_row(folder):
    table = pd.read_csv(folder / "own.csv")
    pd.concat([table, table.iloc[[5]]]).to_csv(folder / "own.csv", index=False)


def no_votes(folder):
    table = pd.read_csv(folder / "counts.csv")
    table.loc[table.item_id == "i003", ["n_cat", "n_dog", "n_fox"]] = 0
    table.to_csv(folder / "counts.csv", index=False)


def constant(folder):
    write_predictions(folder / "own.csv", np.full((N, 3), 1 / 3))


def nameless(folder):
    table = pd.read_csv(folder / "counts.csv")
    table.loc[4, "item_id"] = ""
    table.to_csv(folder / "counts.csv", index=False)


def other_ids(folder):
    write_predictions(folder / "own.csv", predictions(0.1), [f"x{n}" for n in range(N)])


@pytest.mark.parametrize(
    ("spoil", "experiment", "part", "said"),
    [
        (None, "selection", USUAL, "There is one predictor only"),
        (None, "uncertainty", "evaluator: ndod", "give a table of votes"),
        (None, "uncertainty", "human: nowhere.csv", "there is no such file"),
        (None, "uncertainty", "human: own.csv, column: vote", "no column vote"),
        (None, "uncertainty", f"{USUAL}, level: 95", "expected a number < 1"),
        (None, "uncertainty", "human: counts.csv, folds: 1", "expected 0 (no folds), 2 or more"),
        (None, "uncertainty", f"{USUAL}, scale: {{low: 1}}", "expected `low` and `high`"),
        (None, "uncertainty", f"{USUAL}, scale: {{edges: [0, 2, 1]}}", "in ascending order"),
        (None, "uncertainty", "column: vote", "came without `human`"),
        (None, "uncertainty", "humans: x.csv", "did you mean human?"),
        (None, "selection", f"{USUAL}, models: {{own: far.csv}}", "own is there twice"),
        (without_a_row, "selection", MODELS, "the predictor close lacks 1 of 120 items"),
        (twice_a_row, "uncertainty", USUAL, "but i005 has 2; give as many of each item"),
        (no_votes, "uncertainty", USUAL, "1 of 120 items have no votes: i003"),
        (constant, "uncertainty", USUAL.replace("zero-mean-ndod", "dirichlet"), "are the same"),
        (other_ids, "uncertainty", USUAL, "No item has both votes and a prediction"),
        (nameless, "uncertainty", USUAL, "the id (column item_id) is missing or empty in row 5"),
    ],
)
def test_what_cannot_be_done_is_one_message_that_says_why(folder, spoil, experiment, part, said):
    if spoil is not None:
        spoil(folder)
    done = assay(folder, experiment, part)
    assert done.exit_code == 1, done.output
    assert said in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_a_plan_with_another_question_is_refused(folder):
    plan = folder / "plan.yaml"
    plan.write_text("pool: {predictions: own.csv, probabilities: [p_cat, p_dog, p_fox]}\n"
                    "question: {task: identify}\n")  # fmt: skip
    done = CliRunner().invoke(cli, ["evaluate", str(plan), "--experiment", "fit"])
    assert done.exit_code == 1
    assert "question.task: came identify" in done.output


def test_the_command_knows_the_evaluators_that_there_are():
    assert tuple(EVALUATORS) == cli_evaluate.EVALUATORS


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("human: nope.csv", "nope.csv"),
        ("human: votes.csv", "negative"),
        ("human: counts.csv, part: nope", "no column nope"),
        ("human: counts.csv, models: {other: nope.csv}", "nope.csv"),
        ("models: {short: short.csv}, human: counts.csv", "the predictor short lacks 119"),
    ],
)
def test_check_reads_the_files_of_the_experiments_too(folder, part, said):
    (folder / "votes.csv").write_text("item_id,cat,dog,fox\ni000,-1,2,3\n")
    write_predictions(folder / "short.csv", predictions(0.05)[:1], IDS[:1])
    own = pd.read_csv(folder / "own.csv")
    own.assign(image="http://images/1.png").to_csv(folder / "own.csv", index=False)
    plan, home = write_plan(folder, part), {"ASSAY_HOME": str(folder / "home")}
    done = CliRunner().invoke(cli, ["check", str(plan)], env=home)
    assert done.exit_code == 1, done.output
    assert said in done.output


def test_check_says_which_items_the_experiments_leave_out(folder):
    pd.read_csv(folder / "counts.csv")[:100].to_csv(folder / "counts.csv", index=False)
    own = pd.read_csv(folder / "own.csv")
    own.assign(image="http://images/1.png").to_csv(folder / "own.csv", index=False)
    checked = check_plan(write_plan(folder, USUAL), folder / "pools")
    assert "20 of 120 predicted items have no votes: left out." in checked.warnings


def test_predictions_at_an_address_are_fetched(folder, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path_factory.mktemp("home")))
    beside = assay(folder, "uncertainty", USUAL, "--json")
    with fsspec.open("memory://elsewhere/own.csv", "wb") as there:
        there.write((folder / "own.csv").read_bytes())
    (folder / "own.csv").unlink()
    plan = write_plan(folder, USUAL)
    plan.write_text(plan.read_text().replace("own.csv", "'memory://elsewhere/own.csv'"))

    done = CliRunner().invoke(cli, ["evaluate", str(plan), "--experiment", "uncertainty", "--json"])

    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == json.loads(beside.output)
