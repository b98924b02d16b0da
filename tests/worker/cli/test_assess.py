"""`assay assess`: a report at once from a file of labels, on a machine without any server."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay as notebook
from tests.worker.cli.assessed import report_of, some_labels
from tests.worker.cli.commands import failed
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS, write_plan


def test_where_all_items_are_labelled_everything_is_known_exactly(assay, tmp_path):
    plan = write_plan(tmp_path)
    labels = some_labels(tmp_path, N_ITEMS)

    done = assay("assess", plan, "--labels", labels, "--json")

    report, told = report_of(done), json.loads(done.stdout)
    table = pd.read_csv(tmp_path / "predictions.csv")
    right = (table.predicted == table.truth).groupby(table.predicted).mean()
    for group in report["groups"]:
        exact = pytest.approx(right[group["name"]], abs=1e-6)
        assert group["low"] == group["mean"] == group["high"] == exact
    assert report["overall"]["mean"] == pytest.approx((table.predicted == table.truth).mean())
    assert report["is_certain"]
    assert right.idxmin() in report["text"]
    assert f"{N_ITEMS} of {N_ITEMS} items labelled" in report["text"]
    assert (report["labels"], report["items"]["labelled"]) == (N_ITEMS, N_ITEMS)
    assert report["items"]["unclaimed"] == 0
    assert (told["labelled"], told["items"], told["text"]) == (N_ITEMS, N_ITEMS, report["text"])
    with Path(told["page"]).with_suffix(".csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == "groups"]
        assert [row["name"] for row in rows] == list(CLASSES)
    assert "exact" in " ".join(report["source"]["text"])


def test_a_report_tells_every_metric_whatever_is_asked(assay, tmp_path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, N_ITEMS)
    done = assay("assess", plan, "--labels", labels, "--json")

    report = report_of(done)
    found = {one["metric"]: one for one in report["source"]["metrics"]}
    table = pd.read_csv(tmp_path / "predictions.csv")
    score, right = table.score.to_numpy(), (table.predicted == table.truth).to_numpy()
    assert found["bias"]["overall"]["mean"] == pytest.approx(np.mean(score - right), abs=1e-6)
    assert found["ece"]["overall"]["mean"] == pytest.approx(ece(score, right), abs=1e-6)
    for g, group in enumerate(report["groups"]):
        mine = (table.predicted == group["name"]).to_numpy()
        assert found["accuracy"]["groups"][g]["mean"] == group["mean"]
        own = {"bias": np.mean((score - right)[mine]), "ece": ece(score[mine], right[mine])}
        for metric, value in own.items():
            assert found[metric]["groups"][g]["mean"] == pytest.approx(value, abs=1e-6)
        truth = table.truth[mine].value_counts(normalize=True)
        matrix = report["confusion"]
        shares = dict(zip(matrix["classes"], matrix["mean"][g], strict=True))
        assert shares == pytest.approx({name: truth.get(name, 0.0) for name in shares}, abs=1e-6)
    page = Path(json.loads(done.stdout)["page"]).read_text(encoding="utf-8")
    assert "Accuracy against calibration error" in page
    assert "Half the width" not in page  # of a matrix that is counted


def ece(score: np.ndarray, right: np.ndarray) -> float:
    """The calibration error over ten bins of equal width, straight from the items."""
    at = np.minimum((score * 10).astype(int), 9)
    return float(sum(abs((score - right)[at == b].sum()) for b in range(10)) / score.size)


def test_a_notebook_gets_the_same_report(assay, tmp_path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, 50)
    seen = notebook.assess(plan, labels, labels_are="random")
    made = report_of(assay("assess", plan, "--labels", labels, "--labels-are", "random", "--json"))
    assert (seen.text, seen.labels) == (made["text"], 50)
    assert made["text"] in seen._repr_html_()


def test_of_all_items_it_makes_no_difference_how_they_were_chosen(assay, tmp_path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, N_ITEMS)
    known, random = (
        report_of(assay("assess", plan, "--labels", labels, "--labels-are", use, "--json"))
        for use in ("known", "random")
    )
    for one in (known, random):
        assert one["source"]["use"] == "random"
        del one["made_at"], one["started_at"], one["reproduce"]
    assert known == random


def test_labels_tell_of_the_other_items_only_if_they_are_said_to_be_a_random_sample(
    assay, tmp_path
):
    plan, labels = write_plan(tmp_path, prior="{kind: empirical}"), some_labels(tmp_path, 90)
    known = report_of(assay("assess", plan, "--labels", labels, "--json"))
    random = report_of(
        assay("assess", plan, "--labels", labels, "--labels-are", "random", "--json")
    )

    assert "nobody said how" in known["source"]["text"][0]
    assert "tells of itself only" in known["text"]
    assert "a random sample, as was said" in random["text"]
    assert (known["source"]["use"], random["source"]["use"]) == ("known", "random")
    for one in (known, random):
        assert (one["labels"], one["items"]["labelled"], one["items"]["unclaimed"]) == (90, 90, 60)
        assert one["forecast"] is None
    assert known["source"]["metrics"] == []
    assert known["overall"] is None
    for one in random["source"]["metrics"]:
        assert one["overall"]["low"] < one["overall"]["mean"] < one["overall"]["high"]
    assert random["overall"] == random["source"]["metrics"][0]["overall"]
    assert random["reliability"]["bins"]
    width = [np.mean([g["high"] - g["low"] for g in one["groups"]]) for one in (known, random)]
    assert width[1] < 0.8 * width[0]


def test_one_command_on_a_file_of_predictions_and_labels_is_enough(assay, tmp_path):
    rows = [f"i{n},{'ab'[n % 2]},0.{5 + n % 5},{'ab'[n % 3 == 0]}" for n in range(40)]
    (tmp_path / "mine.csv").write_text("id,predicted,score,label\n" + "\n".join(rows) + "\n")
    for _ in range(2):
        report = report_of(assay("assess", "mine.csv", "--labels", "label", "--json"))
        assert report["is_certain"]
    assert (tmp_path / "mine.yaml").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.csv").write_text((tmp_path / "mine.csv").read_text())
    done = assay("assess", "other/mine.csv", "--labels", "label")
    assert "mine.yaml is there already, and is not of other/mine.csv" in failed(done)


def test_a_plan_as_init_writes_it_is_enough_also_where_its_images_are_not_there(assay, tmp_path):
    rows = [f"i{n},{'ab'[n % 2]},0.{5 + n % 5},img/{n}.png" for n in range(40)]
    text = "item_id,predicted,score,image\n" + "\n".join(rows) + "\n"
    (tmp_path / "p.csv").write_text(text)
    said = "\n".join(f"i{n},{'ab'[n % 3 == 0]}" for n in range(40))
    (tmp_path / "l.csv").write_text(f"item_id,animal\n{said}\n")
    assert assay("init", "p.csv").exit_code == 0

    done = assay("assess", "p.csv", "--labels", "l.csv", "--to", "here")

    assert done.exit_code == 0, done.output
    assert sorted(path.suffix for path in (tmp_path / "here").iterdir()) == [
        ".csv",
        ".html",
        ".json",
    ]
    assert "All 40 items of the pool have a label in l.csv (column animal)." in done.output


def test_what_the_plan_says_of_annotators_and_budget_plays_no_part(assay, tmp_path):
    plan = write_plan(
        tmp_path, stop="{mrr: {}, budget: 10, looks: 3}",
        more="annotation: {per_item: 3, gold: {items: gone.csv}}\nlabel_studio: {project: 7}\n",
    )  # fmt: skip
    report = report_of(assay("assess", plan, "--labels", "truth", "--json"))
    assert report["is_certain"]


def test_a_sample_that_can_be_none_is_told(assay, tmp_path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, 60)
    told = "They do not look like one"
    asked = ("assess", plan, "--labels", labels, "--labels-are", "random")
    assert told not in assay(*asked).output
    table = pd.read_csv(tmp_path / "predictions.csv").sort_values("score")
    table[["item_id", "truth"]][:60].to_csv(labels, index=False)
    assert f"{told}: by score they differ from the pool" in assay(*asked).output
    assert told not in assay("assess", plan, "--labels", labels).output
    plan = write_plan(tmp_path, groups="region")
    table[["item_id", "truth"]][table.region == "north"].to_csv(labels, index=False)
    assert f"{told}: by group they differ from the pool" in assay(*asked).output


def test_numbers_that_were_written_beside_gaps_are_the_classes_they_mean(assay, tmp_path):
    rows = "".join(f"i{n},{n % 2},0.{5 + n % 5}\n" for n in range(12))
    (tmp_path / "numbers.csv").write_text(f"id,predicted,score\n{rows}")
    said = "".join(f"i{n},{'' if n % 4 == 0 else f'{n % 2}.0'}\n" for n in range(12))
    (tmp_path / "l.csv").write_text(f"id,label\n{said}")
    report = report_of(assay("assess", "numbers.csv", "--labels", "l.csv", "--json"))
    assert [group["right"] for group in report["groups"]] == [3, 6]


def test_labels_that_are_left_out_are_counted(assay, tmp_path):
    plan, labels = write_plan(tmp_path), some_labels(tmp_path, 50)
    again = labels.read_text().splitlines()[1]
    with labels.open("a", encoding="utf-8") as file:
        file.write(f"{again}\nelsewhere,cat\ni001,\ni002, \n")
    done = assay("assess", plan, "--labels", labels, "--json")
    told = json.loads(done.stdout)
    assert told["labelled"] == 50
    assert told["left_out"] == {"empty": 2, "elsewhere": 1}
    left_out = "Left out: 2 rows without a label and 1 label of items that are not in the pool."
    assert left_out in report_of(done)["source"]["text"]


def test_labels_of_a_class_that_is_never_predicted_are_told(assay, tmp_path):
    rows = "".join(f"i{n},{'ab'[n % 2]},0.{5 + n % 5}\n" for n in range(12))
    (tmp_path / "p.csv").write_text(f"id,predicted,score\n{rows}")
    (tmp_path / "l.csv").write_text("id,label\ni0,a\ni1,B\ni2,c\ni4,c\nelsewhere,d\n")
    report = report_of(assay("assess", "p.csv", "--labels", "l.csv", "--json"))
    (told,) = (text for text in report["source"]["text"] if "never predicted" in text)
    assert told.startswith("3 labels name a class that is never predicted ('B', 'c')")


@pytest.mark.parametrize(
    ("labels", "given", "said"),
    [
        ("item_id,label\ni000,caat\ni001,dog\n", "l.csv", "did you mean cat"),
        ("item_id,label\ni000,cat\ni000,dog\n", "l.csv", "i000 stands there twice with different"),
        ("item_id,label\n0,cat\n1,dog\n", "l.csv", "none of its 2 labels"),
        ("item_id,label\ni000,\n", "l.csv", "holds no labels"),
        ("item_id,label\ni000,cat\n", "l.csv:lable", "did you mean label?"),
        ("item_id,label\ni000,cat\n", "k.csv:label", "k.csv"),
        ("item_id,label\ni000,cat\n", "labels", "no column labels"),
        ("item_id,label\ni000,cat\n", "no.csv", "and no file no.csv here"),
        ("id,label\ni000,cat\n", "l.csv:label", "no column item_id of the plan's `pool.id`"),
        ("item_id,a,b\ni000,cat,dog\n", "l.csv", "which column has the labels? Name it"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_with_what_to_do(
    assay, tmp_path, labels, given, said
):
    plan = write_plan(tmp_path)
    (tmp_path / "l.csv").write_text(labels)
    assert said in failed(assay("assess", plan, "--labels", given))


def test_what_a_file_of_labels_cannot_answer_is_refused(assay, tmp_path):
    plan = write_plan(tmp_path, more="since: last-month\n")
    assert "since:" in failed(assay("assess", plan, "--labels", "truth"))
    plan.write_text("pool: {project: 12}\nquestion: {task: identify}\nqueue: {mode: prioritise}\n")
    assert "export its tasks" in failed(assay("assess", plan, "--labels", "truth"))
    plan = write_plan(
        tmp_path, by_probabilities=True, question="{task: evaluate}", prior="{}",
        strategy="assay", stop="{width: 0.02}", more="annotation: {per_item: 3}\n",
    )  # fmt: skip
    assert "assay evaluate PLAN" in failed(assay("assess", plan, "--labels", "truth"))
