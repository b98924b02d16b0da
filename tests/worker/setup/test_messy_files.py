"""Any ordinary file leads to a plan: what is guessed is said, what is wrong is said all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.worker.setup import messy_files as messy
from worker.errors import AssayError
from worker.plan import load_plan
from worker.setup.checking import Checked, check_plan
from worker.setup.drafting import draft_plan

Make = Callable[[Path], Path]


def drafted(path: Path, answer: str | None = None) -> tuple[Path, list[str], list[str]]:
    """The plan of a file, what was said, and what was asked."""
    said: list[str] = []
    asked: list[str] = []

    def ask(question: str, _columns: Sequence[str]) -> str | None:
        asked.append(question)
        return answer

    plan = path.parent / "plan.yaml"
    plan.write_text(draft_plan(path, plan, say=said.append, ask=ask), encoding="utf-8")
    return plan, said, asked


def checked(plan: Path) -> Checked:
    return check_plan(plan, plan.parent / "home" / "pools")


@pytest.mark.parametrize("make", messy.FINE)
def test_an_ordinary_file_leads_to_a_plan_without_a_question(tmp_path: Path, make: Make) -> None:
    plan, said, asked = drafted(make(tmp_path))
    found = checked(plan)
    assert asked == []
    assert found.pool.n_items in (messy.N, 40, 5)
    assert found.config is not None
    assert load_plan(plan).pool.score is not None
    roles = [line.split(":")[0] for line in said]
    assert {"id", "predicted", "score", "shown"} <= set(roles)
    assert all("(" in line for line in said), "every guess has a reason"


@pytest.mark.parametrize("make", messy.AFTER_ONE_ANSWER)
def test_rows_with_faults_are_left_out_after_one_answer_and_counted(
    tmp_path: Path, make: Make
) -> None:
    plan, said, asked = drafted(make(tmp_path), "yes")
    pool = checked(plan).pool
    assert asked == ["Leave these rows out?"]
    assert "pool: {drop: [" in said[-1]
    assert pool.n_items == messy.N - (0 if make is messy.double_ids else 2)
    assert sum(pool.dropped.values()) == (3 if make is messy.double_ids else 2)


@pytest.mark.parametrize("make", messy.AFTER_ONE_ANSWER)
def test_without_an_answer_the_check_names_the_rows_and_the_line_that_leaves_them_out(
    tmp_path: Path, make: Make
) -> None:
    plan, _, _ = drafted(make(tmp_path))
    with pytest.raises(AssayError, match=r"in rows? \d+.*`pool: \{drop: \["):
        checked(plan)
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace("  # drop:", "  drop:"), encoding="utf-8")
    assert sum(checked(plan).pool.dropped.values()) in (2, 3)


@pytest.mark.parametrize(
    ("make", "cure"), [(messy.unknown_class, "do not sum to 1"), (messy.coco, "--data")]
)
def test_what_cannot_be_assessed_is_told_with_what_to_do(
    tmp_path: Path, make: Make, cure: str
) -> None:
    with pytest.raises(AssayError, match=cure):
        checked(drafted(make(tmp_path))[0])


def test_all_faults_of_a_file_are_told_at_once_by_kind_with_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "id,text,predicted,score\n1,,cat,0.5\n2,b,cat,\n2,c,dog,0.5\n4,d,,0.5\n5,e,dog,1.5\n,f,cat,1\n"
    )
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "assessment: a\npool: {predictions: a.csv, id: id, predicted: predicted, score: score, "
        "data: {text: text}}\nquestion: {task: identify}\n"
    )
    with pytest.raises(AssayError) as caught:
        checked(plan)
    told = str(caught.value)
    for part in (
        "6 kinds of faults",
        "the score (column score) is missing or NaN in row 2",
        "the score (column score) is not within 0 and 1 (first: 1.5) in row 5",
        "the prediction (column predicted) is missing or empty in row 4",
        "the id (column id) is missing or empty in row 6",
        "the id (column id) is not unique (first: '2', as in row 2) in row 3",
        "annotators would see nothing (text empty) in row 1",
        "leave what is empty, nan, duplicate out",
    ):
        assert part in told


def test_rows_that_are_left_out_take_no_others_with_them_and_keep_their_numbers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,predicted,score\na,cat,.5\n,dog,.5\nc,dog,\nd,dog,.9\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "assessment: a\npool: {predictions: a.csv, id: row number, predicted: predicted, "
        "score: score, data: {text: text}, drop: [empty, nan]}\nquestion: {task: identify}\n"
    )
    pool = checked(plan).pool
    assert sorted(pool.item_ids.to_pylist()) == ["row-1", "row-4"]
    assert dict(pool.dropped) == {"empty": 1, "nan": 1}


def test_faults_that_nobody_can_leave_out_are_refused_whatever_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,predicted,score\n1,a,cat,.5\n2,,dog,.5\n3,c,dog,7\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "assessment: a\npool: {predictions: a.csv, id: id, predicted: predicted, score: score, "
        "data: {text: text}, drop: [empty]}\nquestion: {task: identify}\n"
    )
    with pytest.raises(AssayError, match=r"a\.csv: the score .* in row 3$"):
        checked(plan)


def test_the_true_class_is_not_shown_and_is_said_to_be_there(tmp_path: Path) -> None:
    plan, said, _ = drafted(messy.semicolons(tmp_path))
    assert list(load_plan(plan).pool.data.values()) == ["body"]
    assert any(line.startswith("not shown: topic") for line in said)


def test_what_the_model_says_of_an_item_is_not_taken_for_content(tmp_path: Path) -> None:
    plan, said, _ = drafted(messy.reasons(tmp_path))
    pool = load_plan(plan).pool
    assert dict(pool.data) == {"utterance": "utterance"}
    assert pool.score is None
    assert "score: none (p(billing), p(delivery) seem to be of single classes" in "\n".join(said)
    assert any(line.startswith("not shown: comment (it repeats, or names") for line in said)


def test_why_there_is_no_score_is_said(tmp_path: Path) -> None:
    _, said, _ = drafted(messy.percents(tmp_path))
    assert any("model_confidence: no numbers from 0 to 1; write 0.5 for 50" in one for one in said)


def test_columns_with_one_name_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,id,text,prediction\n1,1,a,cat\n2,2,b,dog\n")
    with pytest.raises(AssayError, match="the column id is there twice"):
        drafted(tmp_path / "a.csv")


def test_what_differs_in_every_row_is_no_predicted_class(tmp_path: Path) -> None:
    rows = [f"{n},text number {n} that is long,v{n},0.5" for n in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text,said,score", *rows]) + "\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text(draft_plan(tmp_path / "a.csv", plan, predicted="said"), encoding="utf-8")
    with pytest.raises(AssayError, match="60 different values in 60 rows; is it the predicted"):
        checked(plan)


def test_a_folder_is_found_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    messy.hugging_face(tmp_path)
    assert "predicted: predicted_label" in draft_plan(Path("reviews"), Path("plan.yaml"))


def test_a_file_that_is_not_utf_8_is_read_and_said_so(tmp_path: Path) -> None:
    found = checked(drafted(messy.latin(tmp_path))[0])
    assert any("Windows-1252" in warning for warning in found.warnings)
    assert "Päckchen für Zoë" in found.pool.item(0).data["body"]


def test_the_rows_of_a_sheet_are_counted_below_its_title_and_its_names(tmp_path: Path) -> None:
    rows = messy.tickets()
    rows[6]["model_confidence"] = None
    messy.workbook(tmp_path / "a.xlsx", rows, (["Results of model X, March"], []))
    with pytest.raises(AssayError, match=r"column model_confidence\) is missing or NaN in row 7\."):
        checked(drafted(tmp_path / "a.xlsx")[0])


def test_a_sheet_without_a_row_of_names_is_told(tmp_path: Path) -> None:
    messy.workbook(tmp_path / "a.xlsx", [{"Results of model X": "cat"}])
    with pytest.raises(AssayError, match=r"no row .* more than one cell .* columns' names"):
        drafted(tmp_path / "a.xlsx")


def test_whole_numbers_that_a_sheet_keeps_as_text_may_be_classes(tmp_path: Path) -> None:
    rows = [row | {"model_topic": str(at % 2)} for at, row in enumerate(messy.tickets())]
    plan, _, asked = drafted(messy.workbook(tmp_path / "a.xlsx", rows))
    assert (load_plan(plan).pool.predicted, asked) == ("model_topic", [])
