"""`assay check` says what each opinion would be used for, and how many strata come out."""

import json
from pathlib import Path

import pytest

from tests.worker.cli.commands import failed
from tests.worker.pool.opinions_pool import N, animals, own_file, write

PLAN = """\
assessment: mine
pool:
  predictions: a.csv
  predicted: said
  score: sure
  data: {image: url}
  opinions:
    - {name: old, predicted: old_class, score: old_score, predictions: own.csv, id: key}
    - {name: judge, right: judge_p}
    - {name: words, number: n_words}
    - {name: source, category: source}
    - {name: ensemble, probabilities: [e_cat, e_cow, e_dog]}
question: {task: identify}
"""


def taken_for_right() -> float:
    """The share of the items that the judge speaks of for which it says more than one half."""
    said = [float(of) for of in animals()["judge_p"][2:]]
    return sum(of > 0.5 for of in said) / len(said)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = animals() | {"n_words": [7] * N}
    table["judge_p"][:2] = ["", ""]
    write(tmp_path, table)
    own_file(tmp_path, table, ("old_class", "old_score"))
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def test_check_says_what_each_opinion_is_for_and_what_is_missing(assay, folder):
    table = animals()
    same = [a == b for a, b in zip(table["said"], table["old_class"], strict=True)]
    share = 100 * sum(same[row] for row in range(N) if row % 5) / (N - N // 5)

    said = assay("check", "plan.yaml").stdout

    lines = [line for line in said.splitlines() if line.startswith("Opinion ")]
    so = 100 * taken_for_right()
    assert lines[:4] == [
        f"Opinion old: another classifier's class and score; agrees on {share:.1f}% of the items; "
        "says nothing of 12.",
        f"Opinion judge: how likely the prediction is right; more so than not on {so:.1f}% of the "
        "items; says nothing of 2.",
        "Opinion words: a number, which may go with errors; no more than the score says, or the "
        "same of all items; leave it out.",
        "Opinion source: a category of 2 values (web, mail), which may go with errors.",
    ]
    assert lines[4].startswith("Opinion ensemble: another classifier's probabilities; agrees on ")


def test_check_says_how_many_strata_come_out_a_group(assay, folder):
    value = json.loads(assay("check", "plan.yaml", "--json").stdout)
    each = value["cells"] / value["groups"]
    assert value["strata_per_group"] == round(each, 1)
    said = assay("check", "plan.yaml").stdout
    assert f"{each:.1f} strata a group on average, by the score and 5 opinions" in said


def test_check_tells_scripts_the_same_of_each_opinion(assay, folder):
    value = json.loads(assay("check", "plan.yaml", "--json").stdout)
    old, judge, words, source, _ = value["opinions"]
    assert (old["kind"], old["missing"], old["differs"]) == ("predicted", 12, True)
    assert 0 < old["agrees"] < 1
    assert (judge["agrees"], judge["missing"]) == (pytest.approx(taken_for_right()), 2)
    assert not words["differs"]
    assert source["text"].startswith("source: a category of 2 values")


def test_check_of_a_plan_without_opinions_says_nothing_of_them(assay, folder):
    begin, end = PLAN.index("  opinions"), PLAN.index("question")
    (folder / "plan.yaml").write_text(PLAN[:begin] + PLAN[end:])
    said = assay("check", "plan.yaml").stdout
    assert "16 strata of the score" in said
    assert "pinion" not in said
    assert json.loads(assay("check", "plan.yaml", "--json").stdout)["opinions"] == []


def test_check_of_a_classifier_without_scores_names_no_strata_of_them(assay, folder):
    begin, end = PLAN.index("  opinions"), PLAN.index("question")
    text = PLAN[:begin] + PLAN[end:]
    (folder / "plan.yaml").write_text(text.replace("  score: sure\n", ""))
    said = assay("check", "plan.yaml").stdout
    assert "no scores (" in said
    assert "of the score" not in said


def test_a_fault_of_an_opinion_is_one_message(assay, folder):
    table = animals() | {"judge_p": [7] * N}
    write(folder, table)
    assert "the opinion judge (column judge_p) is not within 0 and 1" in failed(
        assay("check", "plan.yaml")
    )
