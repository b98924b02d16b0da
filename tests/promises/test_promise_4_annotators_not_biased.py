"""Promise 4: neither the predicted class nor the score nor the group is in a task."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given, settings

from connector.labels import write_config
from tests.promises.world import CLASSES, Step, histories, live_through, new_world, shown
from worker.assessment import Assessment
from worker.ledger import Header

Small = tuple[Assessment, Header]


@settings(max_examples=40, deadline=None)
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
