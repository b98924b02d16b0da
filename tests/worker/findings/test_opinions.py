"""What second opinions are worth is what the labels say, and one that misleads is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.report.at_work import at_work as live
from worker.assessment import Assessment, assess
from worker.assessment.verdicts import assess_now
from worker.core.posterior.belief import Belief
from worker.core.posterior.mixing import with_variants
from worker.findings.decision import decision
from worker.findings.opinions import opinions_of
from worker.findings.opinions_drawn import labels_of
from worker.findings.opinions_strata import labels_ratio, sides_of
from worker.findings.opinions_values import Opinions
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.simulate.against_truth import STATISTICS
from worker.simulate.found import Found
from worker.simulate.replay import labels
from worker.simulate.truths import outcomes, right_of_cells, true_values

N, CLASSES = 1500, ("a", "b", "c")
OLD = "[{name: old, predicted: old}]"


def pool_of(
    folder: Path, opinions: str, *, task: str = "estimate", has_scores: bool = True, seed: int = 1
) -> tuple[Assessment, np.ndarray]:
    """A classifier that is right in .8, and what else is known of its items; with the outcomes.

    old: right in .9. against: agrees where the classifier is wrong. chance: any class. told: the
    true class. judge: in logits of its own standard deviations 1.5 times as sure as it should be.
    """
    rng = np.random.default_rng(seed)
    truth, score = rng.integers(3, size=N), rng.uniform(0.4, 1, N)
    sure = rng.normal(size=N)
    is_right = rng.random(N) < 1 / (1 + np.exp(-(1.6 + 3 * (score - 0.7) + 1.5 * sure)))
    said = np.where(is_right, truth, (truth + 1) % 3)
    columns = {
        "id": np.arange(N),
        "predicted": np.array(CLASSES)[said],
        "truth": np.array(CLASSES)[truth],
        "old": np.array(CLASSES)[np.where(rng.random(N) < 0.9, truth, (truth + 2) % 3)],
        "against": np.array(CLASSES)[np.where(is_right, (said + 1) % 3, said)],
        "chance": np.array(CLASSES)[rng.integers(3, size=N)],
        "told": np.array(CLASSES)[truth],
        "score": score.round(5),
        "judge": (1 / (1 + np.exp(-sure))).round(5),
        "source": np.array(["web", "mail"])[rng.integers(2, size=N)],
    }
    columns["old"][::50] = ""
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (folder / "predictions.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    stop = "{rmse: 0.0001}" if task == "estimate" else "{mrr: {confidence: 0.9999}}"
    (folder / "plan.yaml").write_text(
        f"pool: {{predictions: predictions.csv, id: id, predicted: predicted, classes: [a, b, c],"
        f" score: {'score' if has_scores else 'null'}, groups: predicted_class,"
        f" opinions: {opinions}}}\nquestion: {{task: {task}}}\nstop: {stop}\n"
    )
    plan = load_plan(folder / "plan.yaml", for_simulation=True)
    work = assess(plan, compile_pool(plan, folder / "pools"))
    return work, outcomes(work, read_truth(plan, work.pool, "truth"))


def after(work: Assessment, outcome: np.ndarray, n: int) -> Belief:
    belief = work.first
    for k, revealed in enumerate(labels(work, outcome), start=1):
        belief = revealed.belief
        if k == n:
            break
    return belief


def worth(work: Assessment, belief: Belief) -> Opinions:
    found = opinions_of(work, belief)
    assert found is not None
    return found


def test_before_there_are_labels_only_what_the_files_say_is_told(tmp_path):
    work, outcome = pool_of(tmp_path, OLD)
    found = worth(work, after(work, outcome, 20))
    (old,) = found.of
    assert old.silent == N // 50
    with (tmp_path / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert old.agrees == pytest.approx(
        np.mean([r["predicted"] == r["old"] for r in rows if r["old"]]), abs=1e-6
    )
    assert [side.accuracy for side in old.sides] == [None, None]
    assert (found.ratio, found.saved, found.weights) == (None, None, ())
    assert found.text.endswith("There are too few labels yet to tell what that is worth.")
    assert "says nothing of 30 items" in found.text


def test_once_all_is_labelled_everything_is_as_it_is(tmp_path):
    work, outcome = pool_of(tmp_path, OLD)
    belief, right = after(work, outcome, N), right_of_cells(work, outcome)
    found = worth(work, belief)
    sides = sides_of(work.pool.opinions[0], work.pool)
    for side, is_in in zip(found.of[0].sides, sides, strict=True):
        true = right[is_in].sum() / work.pool.cell_size[is_in].sum()
        told = side.accuracy
        assert told is not None
        assert told.low == told.mean == told.high == pytest.approx(true, abs=1e-6)
        assert side.items == side.labelled
    assert found.ratio is not None
    true = labels_ratio(work.pool, right[None], labels_of(work.pool, belief).all)[0]
    assert found.ratio.low == found.ratio.mean == found.ratio.high == pytest.approx(true, abs=1e-6)
    assert true > 1.3


def test_so_many_labels_are_saved_as_the_same_error_would_take_without(tmp_path):
    work, outcome = pool_of(tmp_path, OLD)
    found = worth(work, after(work, outcome, 200))
    assert found.ratio is not None
    assert found.saved is not None
    for end in ("mean", "low", "high"):
        saved, ratio = getattr(found.saved, end), getattr(found.ratio, end)
        # the variance of a mean of n of N items goes with 1 / n - 1 / N
        assert ratio * (1 / (200 + saved) - 1 / N) == pytest.approx(1 / 200 - 1 / N, rel=0.01)
        assert saved < 200 * (ratio - 1)
    assert found.ratio.low < found.ratio.mean < found.ratio.high
    assert f"It saved about {found.saved.mean} labels" in found.text


def test_what_is_told_in_simulations_is_held_against_the_truth(tmp_path):
    came = {"accuracy by agreement": [], "ratio of labels": []}
    for seed in range(12):
        (tmp_path / str(seed)).mkdir()
        work, outcome = pool_of(tmp_path / str(seed), OLD, seed=seed)
        truth, right = true_values(work, outcome), right_of_cells(work, outcome)
        for n in (60, 200):
            found = Found(work, after(work, outcome, n), truth, right=right)
            for name, kept in came.items():
                held = STATISTICS[name](found)
                assert held is not None
                kept += held.came.tolist()
    assert {name: len(kept) for name, kept in came.items()} == {
        "accuracy by agreement": 48,
        "ratio of labels": 24,
    }
    for kept in came.values():
        assert np.mean(kept) > 0.8


class TwoGroups:
    """A pool of two groups, of two strata of like scores each."""

    known, has_scores, n_cells = None, False, 4
    cell_group, cell_unit = np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)
    cell_size, group_size = np.array([101, 101, 11, 11]), np.array([202, 22])


def test_the_ratio_is_that_of_variances_within_strata_where_there_are_labels():
    labelled = np.array([10, 10, 0, 0])
    ratio = labels_ratio(TwoGroups, np.array([[91, 11, 5, 5], [101, 0, 5, 5]]), labelled)
    within = 91 * 10 / 100 + 11 * 90 / 100
    assert ratio.tolist() == pytest.approx([102 * 100 / 201 / within, 1000])


def test_a_weight_is_near_the_one_that_the_items_have(tmp_path):
    work, outcome = pool_of(
        tmp_path, "[{name: judge, right: judge}, {name: from, category: source}]"
    )
    found = worth(work, after(work, outcome, 600))
    weights = {(one.opinion, one.term): one for one in found.weights}
    judge = weights["judge", "judge"]
    assert judge.weight == pytest.approx(1.5, abs=0.3)
    assert judge.times == pytest.approx(np.exp(judge.weight), rel=1e-4)
    assert abs(weights["from", "web"].weight - weights["from", "mail"].weight) < 0.5


@pytest.mark.parametrize("opinion", ["old", "chance"])
def test_an_opinion_that_helps_or_tells_nothing_is_not_warned_of(tmp_path, opinion):
    work, outcome = pool_of(tmp_path, f"[{{name: {opinion}, predicted: {opinion}}}]")
    for n in (60, 150, 300):
        assert worth(work, after(work, outcome, n)).warnings == ()


def test_an_opinion_that_agrees_where_errors_are_is_named(tmp_path):
    work, outcome = pool_of(
        tmp_path, "[{name: upside, predicted: against}, {name: old, predicted: old}]"
    )
    found = worth(work, after(work, outcome, 100))
    (warning,) = found.warnings
    assert warning.startswith("The opinion upside misleads: where it agrees there are more errors")
    assert found.of[0].warning == warning
    assert found.of[1].warning == ""


def test_a_judge_that_is_surest_of_what_is_wrong_is_named(tmp_path):
    work, outcome = pool_of(tmp_path, "[{name: judge, right: judge}]")
    plan = (tmp_path / "predictions.csv").read_text().splitlines()
    column = plan[0].split(",").index("judge")
    rows = [row.split(",") for row in plan[1:]]
    for row in rows:
        row[column] = f"{1 - float(row[column]):.5f}"
    (tmp_path / "predictions.csv").write_text("\n".join([plan[0], *map(",".join, rows)]) + "\n")
    read = load_plan(tmp_path / "plan.yaml", for_simulation=True)
    work = assess(read, compile_pool(read, tmp_path / "again"))
    outcome = outcomes(work, read_truth(read, work.pool, "truth"))
    (warning,) = worth(work, after(work, outcome, 200)).warnings
    assert "where it is sure that the classifier is right there are more errors" in warning


def test_the_true_label_given_as_an_opinion_is_named_after_forty_labels(tmp_path):
    work, outcome = pool_of(
        tmp_path, "[{name: gold, predicted: told}, {name: old, predicted: old}]"
    )
    assert worth(work, after(work, outcome, 30)).warnings == ()
    (warning,) = worth(work, after(work, outcome, 130)).warnings
    assert warning.startswith("The opinion gold told right from wrong in all of ")


@pytest.mark.parametrize("task", ["identify", "estimate"])
@pytest.mark.parametrize("has_scores", [True, False])
def test_every_question_is_told_what_the_opinions_are_worth(tmp_path, task, has_scores):
    work, outcome = pool_of(tmp_path, OLD, task=task, has_scores=has_scores)
    found = worth(work, after(work, outcome, 200))
    assert found.ratio is not None
    (old,) = found.of
    assert ("found the classifier right" in found.text) == (task == "identify")
    assert all((side.accuracy is None) == (task == "identify") for side in old.sides)
    assert all(0 <= side.right <= side.labelled for side in old.sides)


def test_labels_in_doubt_make_it_less_sure(tmp_path):
    work, outcome = pool_of(tmp_path, OLD)
    belief = after(work, outcome, 200)
    sure = worth(work, belief).of[0].sides[0].accuracy
    swapped = np.stack([belief.right, belief.wrong], axis=1)
    agrees = sides_of(work.pool.opinions[0], work.pool)[0]
    some = np.minimum(swapped[:, 0], 1) * agrees
    doubt = swapped + np.stack([-some, some], axis=1)
    unsure = worth(work, with_variants(belief, [swapped, doubt])).of[0].sides[0].accuracy
    assert sure is not None
    assert unsure is not None
    assert unsure.high - unsure.low > sure.high - sure.low


def test_a_pool_without_opinions_says_nothing_of_them(tmp_path):
    one = live(tmp_path, 20, prior="{kind: empirical}", stop="{mrr: {confidence: 0.9999}}")
    state, belief, verdict = assess_now(one.work, one.ledger)
    assert opinions_of(one.work, belief) is None
    said = decision(one.work, one.header, state, belief, verdict, kind="stop", reason="by hand")
    assert "opinions" not in json.loads(said)
