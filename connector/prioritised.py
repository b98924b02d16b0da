"""The annotators' desk in a project that holds all tasks already: chosen ones are put in order.

An item is known by its task's id, and none of a task's own fields is ever written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from connector.desk import PAGE, WRITE_TIMEOUT_S, LabelStudioDesk
from connector.errors import RankedByAnother, Rejected
from connector.labels import TaskSnapshot
from connector.listing import READ, TaskList
from connector.port import Counters, Known, TaskBrief, marker
from connector.ranking import RANKING_S, SETTINGS, Ranking, batched, is_ranking
from connector.schema import Schema

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio


class PrioritisedDesk:
    """A project with tasks of its own, of which the chosen ones come next.

    The other tasks of the project are nobody's business here: only claimed ones are seen.
    """

    def __init__(
        self,
        client: LabelStudio,
        url: str,
        project: int,
        schema: Schema,
        shown: Mapping[str, str],
        assessment: str,
        known: Known,
    ) -> None:
        self._client = client
        self._project = project
        self._assessment = assessment
        self._known = known
        self._ranking = Ranking(client, url, project, assessment)
        self._plain = LabelStudioDesk(client, url, project, schema, shown, self._adapt)
        self._tasks = TaskList(client, url, project)
        # The project's own counts, and ours as they were then.
        self._counted: tuple[Counters, int, Counters] | None = None

    # --- reading -----------------------------------------------------------------------------

    def changes(self, since_us: int) -> Iterator[TaskSnapshot]:
        for snapshots in batched(self._plain.changes(since_us), PAGE):
            ours = self._known.items_of([snapshot.task for snapshot in snapshots])
            yield from (snapshot for snapshot in snapshots if snapshot.task in ours)

    def counters(self) -> Counters:
        """What the claimed tasks come to; counted anew only if the project's own counts moved."""
        whole, n_known = self._plain.counters(), len(self._known.tasks())
        if self._counted is None or self._counted[:2] != (whole, n_known):
            briefs = self.census()
            answers, skips = sum(b.answers for b in briefs), sum(b.skips for b in briefs)
            ours = Counters(len(briefs), answers, skips, whole.labelling)
            self._counted = whole, n_known, ours
        return self._counted[2]

    def census(self) -> list[TaskBrief]:
        return self._plain.briefs(sorted(self._known.tasks()))

    def read(self, tasks: Sequence[int]) -> list[TaskSnapshot]:
        return self._plain.read(tasks)

    def find(self, items: Sequence[str]) -> dict[str, list[int]]:
        snapshots = self.read([int(item) for item in items])
        return {snapshot.item: [snapshot.task] for snapshot in snapshots if not snapshot.is_closed}

    def people(self) -> dict[int, str]:
        return self._plain.people()

    # --- the order ---------------------------------------------------------------------------

    def put(self, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Rank tasks behind those that are ranked; doing so again changes nothing.

        A task that is gone, or that somebody labelled already, is left out of the ranking.
        """
        ids = [int(data["item_id"]) for data in tasks]
        self._ranking.change(self._known.waiting(), add=ids)
        return ids

    def upload(self, name: str, content: bytes) -> str:
        return self._plain.upload(name, content)

    def close(self, tasks: Sequence[int]) -> None:
        self._ranking.change(self._known.waiting(), drop=tasks)

    def reopen(self, tasks: Sequence[int]) -> None:
        self._ranking.change(self._known.waiting(), add=tasks)

    # --- the project -------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        with self._tasks.errors():
            project: Any = self._client.projects.get(id=self._project, request_options=READ)
        found = {name: getattr(project, name) for name in (*SETTINGS, "model_version")}
        version = found["model_version"] or ""
        if is_ranking(version) and not self._ranking.is_ours(version):
            raise RankedByAnother(self._project, version)
        # A ranking of ours that a crash left behind is no setting of theirs.
        return found | {"model_version": "" if is_ranking(version) else version}

    def take_over(self) -> None:
        self._ranking.update(SETTINGS, time.monotonic() + WRITE_TIMEOUT_S)

    def restore_settings(self, settings: Mapping[str, Any]) -> None:
        until = time.monotonic() + RANKING_S
        self._ranking.clear(until)
        try:
            self._ranking.update(settings, until)
        except Rejected:  # the predictions of that version were deleted meanwhile
            self._ranking.update({**settings, "model_version": ""}, until)

    def describe(self, text: str) -> None:
        """Put the line below the project's own description, in place of an earlier one."""
        with self._tasks.errors():
            project: Any = self._client.projects.get(id=self._project, request_options=READ)
        lines = str(project.description or "").splitlines()
        own = [line for line in lines if not line.endswith(marker(self._assessment))]
        self._plain.describe("\n".join([*own, text]))

    def instruction(self) -> tuple[str, bool]:
        return self._plain.instruction()

    def announce(self, html: str, *, is_shown: bool = True) -> None:
        """Nothing: the instruction is the project's own. The decision is in `describe` and tab."""

    def tab(self, title: str) -> None:
        self._plain.tab(title)

    # --- inside ------------------------------------------------------------------------------

    def _adapt(self, row: Mapping[str, Any], snapshot: TaskSnapshot) -> TaskSnapshot:
        versions = {said["model_version"] for said in row["predictions"] or ()}
        is_ranked = any(self._ranking.is_ours(version) for version in versions)
        return replace(
            snapshot, item=str(snapshot.task), is_closed=snapshot.is_closed or not is_ranked
        )
