"""The projects that are held to the contract of a desk, and what their tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import httpx
from label_studio_sdk.client import LabelStudio

from connector.annotator import Annotator
from connector.desk import PAGE, LabelStudioDesk
from connector.labels import Judgement, TaskSnapshot
from connector.local import LabelStudioServer
from connector.port import Desk
from connector.project import create_project
from connector.schema import write_config
from tests.fakes import SCHEMA, FakeDesk

MANY = PAGE + 7
SHOWN = {"text": "text"}  # of a task's data


class Project(Protocol):
    """A project with two annotators, 0 and 1, and a colleague who tidies up."""

    desk: Desk

    def next_task(self, who: int) -> int | None: ...
    def annotate(self, task: int, label: str, who: int) -> int: ...
    def skip(self, task: int, who: int) -> int: ...
    def edit(self, annotation: int, label: str, who: int) -> None: ...
    def delete_annotation(self, annotation: int) -> None: ...
    def delete_task(self, task: int) -> None: ...
    def author(self, who: int) -> int: ...
    def change_data(self, task: int, data: dict[str, str], *, is_stamped: bool = True) -> None: ...
    def configure(self, config: str) -> None: ...
    def fetch(self, address: str, who: int) -> bytes: ...
    def vanish(self) -> None: ...
    def delete_person(self, who: int) -> None: ...
    def dismiss(self, who: int) -> None: ...
    def shown_text(self) -> tuple[str, str]: ...
    def tabs(self) -> list[str]: ...
    def add_tab(self, title: str) -> None: ...


class FakeProject:
    """The fake desk with people at it."""

    def __init__(self, overlap: int = 1) -> None:
        self.desk = self._fake = FakeDesk(overlap=overlap)
        self.next_task = self._fake.next_task
        self.annotate = self._fake.annotate
        self.skip = self._fake.skip
        self.delete_annotation = self._fake.delete_annotation
        self.delete_task = self._fake.delete_task
        self.change_data = self._fake.change_data
        self.delete_person = self._fake.delete_person

    def dismiss(self, who: int) -> None:
        pass  # nothing of it is seen in the project

    def edit(self, annotation: int, label: str, who: int) -> None:
        self._fake.edit(annotation, label)

    def author(self, who: int) -> int:
        return who

    def configure(self, config: str) -> None:
        self._fake.config = config

    def fetch(self, address: str, who: int) -> bytes:
        return self._fake.files[address]

    def vanish(self) -> None:
        self._fake.is_gone = True

    def shown_text(self) -> tuple[str, str]:
        return self._fake.description, self._fake.guidelines[0]

    def tabs(self) -> list[str]:
        return self._fake.tabs

    def add_tab(self, title: str) -> None:
        self._fake.tabs.append(title)


class RealProject:
    """A project of a real Label Studio; annotators label as people do."""

    def __init__(
        self,
        server: LabelStudioServer,
        client: LabelStudio,
        admin: httpx.Client,
        people: Callable[[], Annotator],
        overlap: int = 1,
    ) -> None:
        config = write_config(SCHEMA.labels, [SCHEMA.to_name], SCHEMA.control)
        self._number = create_project(
            client, server.url, "Desk", str(id(self)), config, "", overlap
        )
        self.desk: Desk = LabelStudioDesk(client, server.url, self._number, SCHEMA, SHOWN)
        self._admin = admin
        self._sign_up = people
        self._people: dict[int, Annotator] = {}

    def _person(self, who: int) -> Annotator:
        if who not in self._people:
            self._people[who] = self._sign_up()
        return self._people[who]

    def next_task(self, who: int) -> int | None:
        task = self._person(who).next_task(self._number)
        return None if task is None else int(task["id"])

    def annotate(self, task: int, label: str, who: int) -> int:
        sent = self._person(who).submit(task, label, SCHEMA.control, SCHEMA.to_name)
        return int(sent["id"])

    def skip(self, task: int, who: int) -> int:
        return int(self._person(who).skip(task)["id"])

    def edit(self, annotation: int, label: str, who: int) -> None:
        self._person(who).edit(annotation, label)

    def delete_annotation(self, annotation: int) -> None:
        self._admin.delete(f"/api/annotations/{annotation}/").raise_for_status()

    def change_data(self, task: int, data: dict[str, str], *, is_stamped: bool = True) -> None:
        address = f"/api/tasks/{task}/"
        if is_stamped:
            whole = self._admin.get(address).raise_for_status().json()["data"] | data
            self._admin.patch(address, json={"data": whole}).raise_for_status()
            return
        chosen = {"selectedItems": {"all": False, "included": [task]}, "value_type": "String"}
        where = {"project": self._number, "id": "add_data_field"}
        for key, value in data.items():
            field = {"value_name": key, "value": value}
            answer = self._admin.post("/api/dm/actions/", params=where, json=chosen | field)
            answer.raise_for_status()

    def configure(self, config: str) -> None:
        content = {"label_config": config}
        self._admin.patch(f"/api/projects/{self._number}/", json=content).raise_for_status()

    def fetch(self, address: str, who: int) -> bytes:
        """What the page of an annotator loads from the address in a task."""
        return self._person(who).fetch(address)

    def delete_task(self, task: int) -> None:
        self._admin.delete(f"/api/tasks/{task}/").raise_for_status()

    def author(self, who: int) -> int:
        return self._person(who).user_id

    def delete_person(self, who: int) -> None:
        self._admin.delete(f"/api/users/{self.author(who)}/").raise_for_status()

    def dismiss(self, who: int) -> None:
        """Take somebody out of the organization, as the page of its people does."""
        mine = self._admin.get("/api/current-user/whoami").raise_for_status().json()
        where = f"/api/organizations/{mine['active_organization']}/memberships"
        self._admin.delete(f"{where}/{self.author(who)}/").raise_for_status()

    def vanish(self) -> None:
        self._admin.delete(f"/api/projects/{self._number}/").raise_for_status()

    def shown_text(self) -> tuple[str, str]:
        shown = self._admin.get(f"/api/projects/{self._number}/").raise_for_status().json()
        return shown["description"], shown["expert_instruction"]

    def views(self) -> list[dict[str, Any]]:
        answer = self._admin.get("/api/dm/views/", params={"project": self._number})
        views: list[dict[str, Any]] = answer.raise_for_status().json()
        return views

    def listed(self, view: int) -> list[dict[str, Any]]:
        query = {"project": self._number, "view": view}
        answer = self._admin.get("/api/tasks", params=query).raise_for_status().json()
        tasks: list[dict[str, Any]] = answer["tasks"]
        return tasks

    def tabs(self) -> list[str]:
        return [view["data"]["title"] for view in self.views()]

    def add_tab(self, title: str) -> None:
        content = {"project": self._number, "data": {"title": title}}
        self._admin.post("/api/dm/views/", json=content).raise_for_status()


def shown(items: Sequence[str]) -> list[dict[str, str]]:
    return [{"text": f"about {item}", "item_id": item} for item in items]


def read_one(desk: Desk, task: int) -> TaskSnapshot:
    (snapshot,) = desk.read([task])
    return snapshot


def only(snapshot: TaskSnapshot) -> Judgement:
    (judgement,) = snapshot.judgements
    return judgement
