"""`assay init` proposes the opinions that it recognises, and never the true class."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.worker.setup.test_drafting import write
from worker.assessment import assess
from worker.plan import Plan, load_plan
from worker.pool import check_question, compile_pool
from worker.setup.drafting import draft_plan

N = 40
CLASSES = ("cat", "cow", "dog")


def animals(**more: list[Any]) -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    return {
        "item_id": [f"i{row}" for row in range(N)],
        "predicted": rng.choice(CLASSES, N).tolist(),
        "score": (rng.integers(40, 100, N) / 100).tolist(),
        "text": [f"what one reads of item {row}" for row in range(N)],
    } | more


def classes(seed: int) -> list[str]:
    found: list[str] = np.random.default_rng(seed).choice(CLASSES, N).tolist()
    return found


def shares(seed: int) -> list[float]:
    found: list[float] = (np.random.default_rng(seed).integers(101, size=N) / 100).tolist()
    return found


def drafted(
    folder: Path, columns: dict[str, list[Any]], **given: Any
) -> tuple[Plan, str, list[str]]:
    """The drafted plan, which passes the check; its text, and the guesses."""
    said: list[str] = []
    path = write(folder / "a.csv", columns)
    text = draft_plan(path, folder / "plan.yaml", say=said.append, **given)
    (folder / "plan.yaml").write_text(text, encoding="utf-8")
    plan = load_plan(folder / "plan.yaml")
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    assess(plan, pool)
    return plan, text, said


def proposed(plan: Plan) -> list[dict[str, Any]]:
    return [one.model_dump(exclude_none=True) for one in plan.pool.opinions or ()]


def comments(text: str) -> list[str]:
    """The opinions that the plan has as comments."""
    lines = [line.strip() for line in text.splitlines()]
    return [line.strip(" #-") for line in lines if line.startswith(("# - {", "#   - {"))]


def test_another_classifier_is_proposed_with_its_score(tmp_path: Path) -> None:
    columns = animals(old_class=classes(3), old_score=shares(4))
    plan, text, said = drafted(tmp_path, columns)
    assert proposed(plan) == [{"name": "old_class", "predicted": "old_class", "score": "old_score"}]
    assert "opinion: old_class (another classifier's class, beside its score old_score)" in said
    assert not any(line.startswith("not shown: old_class") for line in said)
    assert (plan.pool.predicted, plan.pool.score) == ("predicted", "score")
    assert not comments(text)


@pytest.mark.parametrize("name", ["model_b", "bert_prediction", "pred_old", "predicted_label_v1"])
def test_a_column_that_is_called_a_prediction_is_proposed(tmp_path: Path, name: str) -> None:
    plan, _, said = drafted(tmp_path, animals(**{name: classes(3)}))
    assert proposed(plan) == [{"name": name, "predicted": name}]
    assert f"opinion: {name} (another classifier's class)" in said


@pytest.mark.parametrize(
    "name",
    [
        *("truth", "label", "gold", "target", "y", "true", "y_true", "true_class", "gold_label"),
        *("ground_truth", "old_label", "human_class", "expert_category", "annotator_1"),
        *("majority_vote", "corrected_class", "final_answer", "gt"),
    ],
)
def test_what_is_called_like_the_true_class_is_never_proposed(tmp_path: Path, name: str) -> None:
    beside = {f"{name}_confidence": shares(4)}
    plan, text, said = drafted(tmp_path, animals(**{name: classes(3)}, **beside))
    assert plan.pool.opinions is None
    assert f"no opinion: {name} (it is called like the true class)" in said
    assert not any(name == one.split()[-1].rstrip("}") for one in comments(text))
    assert plan.pool.score == "score"


@pytest.mark.parametrize(
    ("name", "beside"),
    [("sentiment", {}), ("second", {}), ("airline", {"airline_conf": shares(4)})],
)
def test_classes_of_which_nobody_can_say_whose_they_are_are_a_comment(
    tmp_path: Path, name: str, beside: dict[str, list[float]]
) -> None:
    plan, text, said = drafted(tmp_path, animals(**{name: classes(3)}, **beside))
    assert plan.pool.opinions is None
    score = ", score: airline_conf" if beside else ""
    assert comments(text) == [f"{{name: {name}, predicted: {name}{score}}}"]
    assert any(line.startswith(f"perhaps an opinion: {name} (") for line in said)


@pytest.mark.parametrize(
    ("name", "values"),
    [("judge_prob", shares(3)), ("llm_judge", ["yes", "no"] * (N // 2)), ("judge", shares(3))],
)
def test_a_judge_says_whether_the_prediction_is_right(
    tmp_path: Path, name: str, values: list[Any]
) -> None:
    plan, _, said = drafted(tmp_path, animals(**{name: values}))
    assert proposed(plan) == [{"name": name, "right": name}]
    assert any(line.startswith(f"opinion: {name} (") for line in said)


@pytest.mark.parametrize("name", ["correct", "is_right", "error", "human_judge", "loss"])
def test_whether_the_prediction_is_right_is_never_proposed(tmp_path: Path, name: str) -> None:
    plan, text, _ = drafted(tmp_path, animals(**{name: [1, 0] * (N // 2)}))
    assert plan.pool.opinions is None
    assert not comments(text)


def test_a_second_set_of_probabilities_is_proposed_in_the_order_of_the_classes(
    tmp_path: Path,
) -> None:
    rows = np.random.default_rng(3).dirichlet([1, 1, 1], N).round(2)
    rows[:, 2] = (1 - rows[:, 0] - rows[:, 1]).round(2)
    columns = {f"e_{name}": rows[:, k].tolist() for k, name in enumerate(("dog", "cat", "cow"))}
    plan, _, said = drafted(tmp_path, animals(**columns), predicted="predicted")
    assert proposed(plan) == [{"name": "e", "probabilities": ("e_cat", "e_cow", "e_dog")}]
    assert "opinion: e_... (probabilities of another classifier)" in said


def test_beside_probabilities_another_set_is_an_opinion(tmp_path: Path) -> None:
    rows = np.random.default_rng(3).dirichlet([1, 1], (2, N)).round(2)
    columns = {
        name: values for name, values in animals().items() if name not in ("predicted", "score")
    }
    for at, begin in enumerate(("new_", "old_")):
        columns |= {
            f"{begin}{name}": rows[at, :, k].tolist() for k, name in enumerate(("cat", "dog"))
        }
    plan, _, _ = drafted(tmp_path, columns)
    assert plan.pool.probabilities == ("new_cat", "new_dog")
    assert proposed(plan) == [{"name": "old", "probabilities": ("old_cat", "old_dog")}]


def test_numbers_and_categories_are_comments_that_nobody_asked_for(tmp_path: Path) -> None:
    more = {
        "n_words": [row % 17 for row in range(N)],
        "source": ["web", "mail"] * (N // 2),
        "row": list(range(N)),
        "same": [1] * N,
    }
    plan, text, _ = drafted(tmp_path, animals(**more))
    assert plan.pool.opinions is None
    assert plan.pool.strata == 16
    assert comments(text) == [
        "{name: n_words, number: n_words}",
        "{name: source, category: source}",
    ]
    switched = text.replace("  # opinions:", "  opinions:").replace("  #   - {", "    - {")
    (tmp_path / "plan.yaml").write_text(switched)
    assert [one["name"] for one in proposed(load_plan(tmp_path / "plan.yaml"))] == [
        "n_words", "source"
    ]  # fmt: skip


def test_comments_stand_below_the_opinions_that_are_proposed(tmp_path: Path) -> None:
    columns = animals(n_words=[row % 17 for row in range(N)], pred_old=classes(3))
    plan, text, _ = drafted(tmp_path, columns)
    assert proposed(plan) == [{"name": "pred_old", "predicted": "pred_old"}]
    assert comments(text) == ["{name: n_words, number: n_words}"]


def test_a_plan_with_opinions_and_no_scores_has_the_prior_that_learns_from_them(
    tmp_path: Path,
) -> None:
    columns = animals(pred_old=classes(3))
    del columns["score"]
    plan, _, _ = drafted(tmp_path, columns)
    assert (plan.prior.kind, plan.pool.score, plan.pool.strata) == ("empirical", None, 32)
    assert proposed(plan) == [{"name": "pred_old", "predicted": "pred_old"}]


def test_a_column_that_somebody_shows_or_names_is_no_opinion(tmp_path: Path) -> None:
    columns = animals(old_pred=classes(3), old_score=shares(4))
    plan, _, _ = drafted(tmp_path, columns, predicted="old_pred", score="old_score")
    assert [one["name"] for one in proposed(plan)] == ["predicted"]


def test_a_file_without_opinions_has_no_line_about_them(tmp_path: Path) -> None:
    _, text, said = drafted(tmp_path, animals())
    assert "opinions:" not in text
    assert not any("opinion" in line for line in said)


def test_columns_of_lists_and_times_are_no_opinions(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    when = [datetime(2026, 1, 1 + row % 28, tzinfo=UTC) for row in range(N)]
    more = {"judge": [[1.0, 2.0, 3.0]] * N, "box": [[1.0, 2.0]] * N, "when": when}
    pq.write_table(pa.table(animals(**more)), path)
    assert "opinions:" not in draft_plan(path, tmp_path / "plan.yaml")
