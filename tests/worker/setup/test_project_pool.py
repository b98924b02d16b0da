"""A project as the pool: what is read from it, and what is refused, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from connector import existing
from connector.existing import ExistingProject, ExistingTask, Prediction
from connector.labels import Judgement
from connector.schema import write_config
from worker.errors import PlanError, PredictionsError
from worker.plan import Plan, load_plan, plan_hash, stored_plan
from worker.plan.project_part import ID, LABEL, PREDICTED, SCORE
from worker.pool import compile_pool
from worker.setup import project_pool
from worker.setup.drafting import draft_for_project
from worker.setup.project_pool import ProjectPool, read_project, settled_plan

CONFIG = write_config(["cat", "dog"], ["text"], "answer")


def said(label: str | None = "cat", score: float | None = 0.75, version: str = "v1") -> Prediction:
    return Prediction(version, label, "" if label else "the label 'cow' is not one", score)


def judged(number: int, label: str, status: Any = "valid", author: int = 1) -> Judgement:
    return Judgement(number, author, status, label if status == "valid" else None, "", 5)


def task(
    number: int, *predictions: Prediction, judgements: tuple[Judgement, ...] = (), **data: Any
) -> ExistingTask:
    return ExistingTask(number, number, {"text": f"t{number}"} | data, predictions, judgements)


def written(
    folder: Path, pool: str = "project: 12", more: str = "queue: {mode: prioritise}"
) -> Path:
    path = folder / "plan.yaml"
    text = (
        f"assessment: full\npool: {{{pool}}}\nquestion: {{task: identify}}\nstop: {{budget: 5}}\n"
    )
    path.write_text(f"{text}{more}\n", encoding="utf-8")
    return path


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Read a project with these tasks by a plan."""

    def read_tasks(
        *tasks: ExistingTask, pool: str = "project: 12", more: str | None = None
    ) -> ProjectPool:
        found = ExistingProject(CONFIG, len(tasks), 1)
        monkeypatch.setattr(project_pool, "existing_project", lambda *_: found)
        monkeypatch.setattr(project_pool, "existing_tasks", lambda *_: iter(tasks))
        given = {} if more is None else {"more": more}
        plan = load_plan(written(tmp_path, pool, **given))
        client: Any = None
        return read_project(plan, client, "http://fake", tmp_path / "sources", lambda _: None)

    return read_tasks


def table(found: ProjectPool) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = pq.read_table(found.plan.pool.predictions).to_pydict()
    return columns


def test_tasks_predictions_and_annotations_become_a_file_of_predictions(read: Any) -> None:
    found = read(
        task(3, said("cat", 0.9), judgements=(judged(8, "dog"), judged(7, "cat", author=2))),
        task(5, said("dog", 0.6), judgements=(judged(9, "", "skipped"),)),
        pool="project: 12, data: {shown: text}",
    )
    assert table(found) == {
        ID: ["3", "5"],
        PREDICTED: ["cat", "dog"],
        SCORE: [0.9, 0.6],
        LABEL: ["cat", None],  # the first valid one by its id
        "text": ["t3", "t5"],
    }
    assert found.plan.pool.classes == ("cat", "dog")
    assert found.at_us == 5


def test_a_majority_counts_once_it_is_settled_and_a_tie_is_asked_for(read: Any) -> None:
    rule = "annotation: {rule: majority, per_item: 2, per_item_max: 2}"
    two = (judged(1, "cat"), judged(2, "cat", author=2))
    tie = (judged(3, "cat"), judged(4, "dog", author=2))
    found = read(
        task(1, said(), judgements=two),
        task(2, said(), judgements=tie),
        task(3, said("dog"), judgements=two[:1]),
        pool="project: 12, data: {text: text}",
        more=rule,
    )
    assert table(found)[LABEL] == ["cat", None, None]


def test_all_that_people_are_shown_is_kept_where_they_see_the_tasks_themselves(read: Any) -> None:
    found = read(task(1, said(), other="not shown"), task(2, said("dog"), other="nor this"))
    assert found.plan.pool.data == {"text": "text"}
    assert table(found)["text"] == ["t1", "t2"]
    named = read(task(1, said()), pool="project: 12, data: {shown: text}")
    assert named.plan.pool.data == {"shown": "text"}


def test_the_same_content_has_one_name_and_other_content_another(read: Any) -> None:
    one = read(task(1, said()), task(2, said("dog"))).plan.pool.predictions
    again = read(task(1, said()), task(2, said("dog"))).plan.pool.predictions
    other = read(task(1, said()), task(2, said("dog", 0.5))).plan.pool.predictions
    assert one == again != other
    assert sorted(path.name for path in one.parent.iterdir()) == sorted({one.name, other.name})


REFUSED: dict[str, tuple[tuple[ExistingTask, ...], str, str]] = {
    "empty": ((), "project: 12", "holds no tasks"),
    "two versions": (
        (task(1, said(), said("dog", 0.5, "v2")), task(2, said())),
        "project: 12",
        "2 model versions: v1 (2), v2 (1)",
    ),
    "not that version": ((task(1, said()),), "project: 12, model_version: v7", "it has v1 (1)"),
    "without": (
        (task(1, said()), task(2), task(4)),
        "project: 12",
        "2 tasks (first: 2, 4) have no",
    ),
    "twice": ((task(1, said(), said("dog")),), "project: 12", "several predictions"),
    "unknown class": ((task(1, said(None)),), "project: 12", "the label 'cow' is not one"),
    "no score": ((task(9, said("cat", None)),), "project: 12", "(first: 9) have a prediction"),
    "no probability": ((task(9, said("cat", -3.0)),), "project: 12", "not within 0 and 1"),
    "no such data": ((task(1, said()),), "project: 12, groups: town", "it has text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_assessed_is_refused_with_tasks_and_cure(read: Any, case: str) -> None:
    tasks, pool, expected = REFUSED[case]
    with pytest.raises(PredictionsError) as caught:
        read(*tasks, pool=pool)
    assert expected in str(caught.value)
    assert "12" in str(caught.value)


def test_predictions_without_scores_are_taken_where_the_plan_says_so(read: Any) -> None:
    found = read(
        task(1, said("cat", None)), task(2, said("dog", None)), pool="project: 12, score: null"
    )
    assert table(found)[SCORE] == [None, None]
    assert not found.plan.pool.has_scores
    assert found.plan.prior.kind == "empirical"


def test_a_list_is_shown_where_it_is_and_never_copied(read: Any) -> None:
    tasks = (task(1, said(), text=["a"]), task(2, said("dog")))
    with pytest.raises(PredictionsError, match="cannot be copied"):
        read(*tasks, pool="project: 12, data: {text: text}", more="")
    assert table(read(*tasks, pool="project: 12, data: {text: text}"))["text"] == ['["a"]', "t2"]


def test_what_was_begun_is_gone_on_with_whatever_the_project_became(
    read: Any, tmp_path: Path
) -> None:
    found = read(task(1, said()), task(2, said("dog")))
    asked = load_plan(written(tmp_path))
    begun = stored_plan(found.plan.model_dump_json())

    assert begun == found.plan
    assert plan_hash(asked) == plan_hash(load_plan(written(tmp_path)))
    assert settled_plan(asked, begun).pool == begun.pool


def test_plans_of_files_are_stored_and_hashed_as_before(tmp_path: Path) -> None:
    pool = "predictions: a.csv, predicted: p, score: s, data: {text: text}"
    plan = load_plan(written(tmp_path, pool, ""))
    assert not {"project", "model_version", "existing"} & plan.pool.model_dump().keys()
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


MISTAKES = {
    "pool: {project: 12, predictions: a.csv}": "pool.predictions: came beside `project`",
    "pool: {project: 12, predicted: a}": "pool.predicted: came beside `project`",
    "pool: {project: 12, score: sure}": "pool.score: came 'sure'",
    "pool: {project: 0}": "pool.project: ",
    "pool: {project: 12, existing: all}": "pool.existing: ",
    "pool: {project: 12}\nqueue: {mode: import}": "pool.data: missing",
    "pool: {predictions: a.csv, predicted: p, data: {t: t}, existing: random}": (
        "pool.existing: only"
    ),
    "pool: {project: 12}\nannotation: {per_item: 3, rule: majority}": "annotation.per_item: came 3",
    "pool: {project: 12}\nannotation: {per_item: 3}": "annotation.rule: came dawid-skene",
    "pool: {project: 12}\nlabel_studio: {project: 13}": "label_studio.project: came 13",
    "pool: {project: 12}\nlabel_studio: {instruction: Look}": "label_studio.instruction: ",
    "pool: {project: 12, strata: 1}\npopulation: infinite": "population: came infinite",
    "pool: {project: 12, data: {t: t}}\nqueue: {mode: import}\nlabel_studio: {project: 12}": (
        "label_studio.project: came 12"
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_plan_that_contradicts_itself_says_where_and_what_to_do(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "plan.yaml"
    mode = (
        "" if "queue:" in text or "predictions: a.csv, p" in text else "queue: {mode: prioritise}\n"
    )
    more = "question: {task: identify}\nstop: {budget: 5}\n"
    path.write_text(f"assessment: full\n{text}\n{mode}{more}", encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    assert MISTAKES[text] in str(caught.value)


@pytest.mark.parametrize("versions", [["v1"], ["v1", "v: 2"]])
def test_a_drafted_plan_of_a_project_is_a_plan(tmp_path: Path, versions: list[str]) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(draft_for_project(12, versions, ["text", "a b"]), encoding="utf-8")
    plan = load_plan(path)
    assert (plan.assessment, plan.queue.mode) == ("project-12", "prioritise")
    assert (plan.pool.project, plan.pool.existing) == (12, "known")
    assert plan.pool.model_version == (versions[1] if len(versions) > 1 else None)
    assert plan.pool.data == {"text": "text", "a b": "a b"}


def test_a_ranking_of_ours_is_no_prediction() -> None:
    row = {
        "id": 4, "updated_at": "2026-01-01T00:00:00Z", "data": {"text": "a"}, "annotations": [],
        "predictions": [
            {"model_version": "assay-full-3-0123abcd", "result": [], "score": 0.1},
            {"model_version": None, "result": [], "score": None},
        ],
    }  # fmt: skip
    schema = project_pool.offered(CONFIG, None)
    found = existing._task(row, schema)
    assert [p.version for p in found.predictions] == [""]
    assert found.predictions[0].label is None


def test_tasks_whose_page_shows_the_prediction_are_refused_where_they_are_and_as_copies(
    read: Any,
) -> None:
    labels = [("cat", "dog")[n % 3 == 0] for n in range(30)]
    tasks = [task(n + 1, said(one), text=f"of a {one}: {one}") for n, one in enumerate(labels)]
    with pytest.raises(PredictionsError, match=r"project 12: the tasks' key text, which the label"):
        read(*tasks)
    hidden = [task(n + 1, said(one), hint=one) for n, one in enumerate(labels)]
    assert read(*hidden).plan.pool.project == 12, "the page does not show it"
    copied = read(*hidden, pool="project: 12, data: {text: text, more: hint}", more="")
    with pytest.raises(PredictionsError, match=r"`pool.data.more`. is the predicted class in 100"):
        compile_pool(copied.plan, copied.plan.pool.predictions.parent)


def test_opinions_of_a_projects_tasks_are_joined_by_the_tasks_numbers(
    read: Any, tmp_path: Path
) -> None:
    (tmp_path / "old.csv").write_text("task,old_class\n" + "5,cat\n3,cat\n4,\n")
    opinion = "{name: old, predicted: old_class, predictions: old.csv, id: task}"
    found = read(
        *(task(number, said(label)) for number, label in ((3, "cat"), (4, "dog"), (5, "dog"))),
        pool=f"project: 12, opinions: [{opinion}]",
    )
    (old,) = compile_pool(found.plan, tmp_path / "pools").opinions
    assert old.agreed is not None
    assert (old.agreed.sum(), old.n_missing) == (1, 1)
