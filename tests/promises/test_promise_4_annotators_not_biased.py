"""Promise 4: neither the predicted class nor the score nor the group is in a task."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

from connector.schema import write_config
from tests.promises.small import CLASSES, shown
from tests.promises.world import Step, histories, live_through, new_world
from worker.assessment import Assessment
from worker.errors import PredictionsError
from worker.setup.checking import check_plan
from worker.store import Header

Small = tuple[Assessment, Header]


@settings(max_examples=40)
@given(history=histories())
def test_a_task_holds_what_the_plan_shows_of_its_item_and_the_id_and_nothing_else(
    long_assessment: Small, folder: Path, keeper: str | None, history: list[Step]
) -> None:
    with new_world(long_assessment, folder, keeper) as world:
        live_through(world, history)

        tasks = [world.desk.data_of(task) for task in world.desk.task_ids()]
        for data in tasks:
            if "item_id" in data:
                assert data == {"item_id": data["item_id"], "text": shown(data["item_id"])}


def test_the_generated_labelling_page_shows_the_plans_data_and_no_other_key(
    long_assessment: Small,
) -> None:
    pool = long_assessment[0].pool

    page = ElementTree.fromstring(write_config(pool.classes, list(pool.data_keys), "answer"))

    shown_keys = [tag.get("value") for tag in page if tag.tag != "Choices"]
    assert shown_keys == ["$text"]


def test_all_classes_are_offered_in_the_same_order_whatever_was_predicted(
    long_assessment: Small,
) -> None:
    pool = long_assessment[0].pool

    page = ElementTree.fromstring(write_config(pool.classes, list(pool.data_keys), "answer"))

    assert [choice.get("value") for choice in page.iter("Choice")] == list(CLASSES)
    assert not [choice for choice in page.iter("Choice") if choice.get("selected")]


@pytest.mark.parametrize("column", ["model_label", "hint", "confidence"])
def test_a_column_whose_values_are_the_prediction_never_begins(tmp_path: Path, column: str) -> None:
    """Its name says nothing to us: with `probabilities` the plan names no predicted class."""
    rng = np.random.default_rng(4)
    lines = ["item_id,p_cat,p_dog,text,model_label,hint,confidence"]
    for n, p in enumerate(rng.random(60).round(3)):
        said = "cat" if p >= 0.5 else "dog"
        lines.append(
            f"i{n},{p:.3f},{1 - p:.3f},text {n},{said},{int(said == 'dog')},{max(p, 1 - p):.0%}"
        )
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "assessment: shown\npool: {predictions: p.csv, probabilities: [p_cat, p_dog],"
        f" data: {{text: text, more: {column}}}}}\nquestion: {{task: identify}}\n",
        encoding="utf-8",
    )
    with pytest.raises(PredictionsError, match=f"the column {column} .*Annotators would see it"):
        check_plan(plan, tmp_path / "pools")
    plan.write_text(plan.read_text().replace(f", more: {column}", ""), encoding="utf-8")
    assert check_plan(plan, tmp_path / "pools").pool.data_keys == ("text",)
