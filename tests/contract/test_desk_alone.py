"""What only the fake desk has, and what only a real Label Studio can show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from label_studio_sdk.client import LabelStudio

from connector.annotator import Annotator
from connector.desk import LabelStudioDesk
from connector.errors import ConnectorError, InDoubt, Refused, Rejected
from connector.local import LabelStudioServer, personal_access_token
from connector.project import (
    SECRET_HEADER,
    attach_project,
    create_project,
    hook,
    look_at_server,
)
from connector.schema import write_config
from tests.contract.projects import MANY, SHOWN, RealProject, read_one, shown
from tests.fakes import SCHEMA, FakeDesk

Clients = Callable[..., LabelStudio]


class TestFakeDesk:
    """What only the fake has: faults, a clock, ids that come again."""

    def test_changes_that_share_a_stamp_all_come(self) -> None:
        desk = FakeDesk()
        desk.tick_us = 0
        tasks = desk.put(shown([f"item {n}" for n in range(MANY)]))

        assert {snapshot.task for snapshot in desk.changes(desk.now_us - 1)} == set(tasks)

    def test_a_deleted_highest_task_gives_its_id_to_the_next_one(self) -> None:
        desk = FakeDesk()
        first, second = desk.put(shown(["a", "b"]))
        desk.delete_task(second)

        assert desk.put(shown(["c"])) == [second]
        assert [snapshot.item for snapshot in desk.read([first, second])] == ["a", "c"]

    def test_ids_never_come_again_where_that_is_switched_off(self) -> None:
        desk = FakeDesk(reuses_ids=False)
        (task,) = desk.put(shown(["a"]))
        desk.delete_task(task)

        assert desk.put(shown(["b"])) == [task + 1]

    def test_an_import_can_take_place_although_its_answer_is_lost(self) -> None:
        desk = FakeDesk()
        desk.fail_next("put", InDoubt("http://fake", "timeout"), after_effect=True)

        with pytest.raises(InDoubt):
            desk.put(shown(["a"]))

        assert desk.find(["a"]) == {"a": [1]}
        assert desk.put(shown(["b"])) == [2]

    def test_an_import_can_fail_before_anything_happened(self) -> None:
        desk = FakeDesk()
        desk.fail_next("put", InDoubt("http://fake", "timeout"))

        with pytest.raises(InDoubt):
            desk.put(shown(["a"]))

        assert desk.find(["a"]) == {}

    def test_a_reading_can_fail_too(self) -> None:
        desk = FakeDesk()
        desk.fail_next("changes", ConnectorError("away"), after_effect=True)

        with pytest.raises(ConnectorError, match="away"):
            list(desk.changes(0))

        assert list(desk.changes(0)) == []


@pytest.mark.live
class TestLabelStudio:
    """What only a real one can show: tokens, imports that it refuses, setting up."""

    @pytest.mark.filterwarnings("ignore:The `parse_obj` method")  # the SDK's own, on refreshing
    def test_a_personal_access_token_works_as_well_as_a_legacy_one(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        legacy, url = sdk(), label_studio.url
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        number = create_project(legacy, url, "Tokens", "tokens", config, "")
        personal = sdk(personal_access_token(url, label_studio.token))

        for client in (personal, legacy):
            desk = LabelStudioDesk(client, url, number, SCHEMA, SHOWN)
            (task,) = desk.put(shown(["a"]))
            assert read_one(desk, task).item == "a"

        by_legacy, by_personal = look_at_server(legacy, url), look_at_server(personal, url)
        assert (by_legacy.version, by_legacy.user) == (by_personal.version, by_personal.user)
        assert abs(by_legacy.clock_ahead_s) < 30

    @pytest.mark.parametrize("token", ["0" * 40, "not-a-token"])
    def test_a_wrong_token_is_refused_with_the_way_to_a_right_one(
        self, label_studio: LabelStudioServer, sdk: Clients, token: str
    ) -> None:
        desk = LabelStudioDesk(sdk(token), label_studio.url, 1, SCHEMA, SHOWN)

        with pytest.raises(Refused, match="LABEL_STUDIO_API_KEY"):
            desk.counters()

    def test_an_import_that_lacks_what_the_project_shows_is_rejected_whole(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        number = create_project(client, label_studio.url, "Whole", "whole", config, "")
        desk = LabelStudioDesk(client, label_studio.url, number, SCHEMA, SHOWN)

        with pytest.raises(Rejected, match="text") as caught:
            desk.put([*shown(["a"]), {"item_id": "b"}])

        assert caught.value.status == 400
        assert desk.counters().tasks == 0

    def test_a_repeated_start_finds_the_project_of_the_broken_off_one(
        self, label_studio: LabelStudioServer, sdk: Clients
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        make: Any = (client, label_studio.url, "A title of " + "many " * 20)

        first = create_project(*make, "again-1", config, "")

        better = write_config((*SCHEMA.labels, "newt"), [SCHEMA.to_name], SCHEMA.control)
        assert create_project(*make, "again-1", better, "Look twice.", 3) == first
        now = client.projects.get(id=first)
        assert (now.label_config.strip(), now.expert_instruction) == (better.strip(), "Look twice.")
        assert now.maximum_annotations == 3
        assert create_project(*make, "again-10", config, "") != first

    def test_an_empty_project_is_attached_and_served_in_order(
        self, label_studio: LabelStudioServer, sdk: Clients, admin: httpx.Client
    ) -> None:
        client = sdk()
        config = write_config(SCHEMA.labels, ["text"], "answer")
        content = {"title": "Own", "label_config": config, "sampling": "Uniform sampling"}
        made = admin.post("/api/projects", json=content).raise_for_status().json()

        schema = attach_project(client, label_studio.url, made["id"], None, SCHEMA.labels)

        assert schema == SCHEMA
        shown_now = admin.get(f"/api/projects/{made['id']}/").json()
        assert shown_now["sampling"] == "Sequential sampling"

    def test_hooking_twice_leaves_one_hook_with_the_secret(
        self, label_studio: LabelStudioServer, sdk: Clients, admin: httpx.Client
    ) -> None:
        client = sdk()
        made = admin.post("/api/projects", json={"title": "Hooked"}).raise_for_status().json()

        for port in (8001, 8002):
            receiver = f"http://127.0.0.1:{port}/hook/a"
            hook(client, label_studio.url, made["id"], receiver, "s3cret")

        (found,) = admin.get("/api/webhooks/", params={"project": made["id"]}).json()
        assert found["url"] == "http://127.0.0.1:8002/hook/a"
        assert found["headers"] == {SECRET_HEADER: "s3cret"}
        assert "PROJECT_UPDATED" not in found["actions"]
        assert not found["send_payload"]

    def test_our_tab_shows_open_tasks_and_keeps_what_people_did_to_it(
        self,
        label_studio: LabelStudioServer,
        sdk: Clients,
        admin: httpx.Client,
        annotator: Callable[[], Annotator],
    ) -> None:
        project = RealProject(label_studio, sdk(), admin, annotator)
        done, withdrawn, skipped, fresh = project.desk.put(shown(["a", "b", "c", "d"]))
        project.annotate(done, "cat", 0)
        project.skip(skipped, 0)
        project.desk.close([withdrawn])
        project.desk.tab("Assay: 1% sure")

        _, ours = project.views()
        assert [task["id"] for task in project.listed(ours["id"])] == [skipped, fresh]
        assert "ordering" not in ours["data"]

        ours["data"]["hiddenColumns"]["explore"].remove("tasks:inner_id")
        changed = {"project": ours["project"], "data": ours["data"]}
        admin.patch(f"/api/dm/views/{ours['id']}/", json=changed).raise_for_status()
        project.desk.tab("Assay: 2% sure")

        _, renamed = project.views()
        assert renamed["data"] == {**ours["data"], "title": "Assay: 2% sure"}
        assert [task["id"] for task in project.listed(ours["id"])] == [skipped, fresh]
