"""The order in which Label Studio serves the tasks of a project that was there before.

"Uncertainty sampling" serves those tasks first that have a prediction of the project's model
version, lowest score first. A ranking is a model version of ours on the chosen tasks, with empty
results, so that there is nothing in it that an annotator could be shown.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from connector.desk import PAGE, WRITE_TIMEOUT_S
from connector.errors import InDoubt, NotFound, RankingLost
from connector.listing import READ, TaskList, where

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

T = TypeVar("T")

# All writes of one change together; shorter than a worker's lease (worker/turn/leasing.py).
RANKING_S = 15.0

# What a project needs so that a ranking is served.
SETTINGS: Mapping[str, Any] = {
    "sampling": "Uncertainty sampling",
    # the classifier's answers must not be seen by those who judge it
    "show_collab_predictions": False,
    # a skipped task is offered to others, as the plan's `skips` says
    "skip_queue": "REQUEUE_FOR_OTHERS",
}
_ANYBODYS = re.compile(r"assay-.+-[0-9]+-[0-9a-f]{8}")


def is_ranking(version: str | None) -> bool:
    """Whether a model version is a ranking of some assessment, and no classifier's."""
    return bool(version) and _ANYBODYS.fullmatch(str(version)) is not None


class Ranking:
    """The ranking of one assessment in one project."""

    def __init__(self, client: LabelStudio, url: str, project: int, assessment: str) -> None:
        self._client = client
        self._url = url
        self._project = project
        self._assessment = assessment
        self._version = re.compile(rf"assay-{re.escape(assessment)}-[0-9]+-[0-9a-f]{{8}}")
        self._tasks = TaskList(client, url, project)

    def is_ours(self, version: str | None) -> bool:
        """Whether a model version is a ranking of this assessment."""
        return self._version.fullmatch(version or "") is not None

    def change(
        self, waiting: Sequence[int], add: Sequence[int] = (), drop: Sequence[int] = ()
    ) -> None:
        """Take tasks out of the ranking, add others at its end, and have it served.

        Predictions are written one by one: when some are imported in bulk, Label Studio counts all
        tasks of the project anew, which takes 6 s for 3,000 tasks and longer than a lease for more.
        None is ever written twice, so a ranking keeps its version until it is used up.

        Args:
            waiting: the claimed tasks that are not settled.

        Raises:
            RankingLost: Label Studio did not keep all of it; what was written is taken back.
            InDoubt: an answer never came; the ranking may lack some of the tasks.
        """
        until = time.monotonic() + RANKING_S
        counts = self._versions()
        version = max(counts, key=_number, default=f"assay-{self._assessment}-0-")
        if not counts or (not add and set(drop) >= set(waiting)):
            self._clear(counts, until)
            counts, version = {}, self._next(version)
        rows = self._waiting({*waiting, *add, *drop})
        placed = {task: said[version] for task, said in rows.items() if version in said}
        # A worker that died may have begun another ranking beside this one.
        stale = [(min(said.values()), task) for task, said in rows.items() if said]
        new = [task for _, task in sorted(stale) if task not in placed] + list(add)
        new = [t for t in dict.fromkeys(new) if t in rows and t not in placed and t not in drop]
        gone = [task for task in drop if task in placed]
        for task in gone:
            self._delete(placed.pop(task)[1], until)
        self._append(version, new, max((score for score, _ in placed.values()), default=0.0), until)
        kept = self._versions().get(version, 0) if new else 0
        if new and kept != counts.get(version, 0) - len(gone) + len(new):
            for said in self._waiting(set(new)).values():
                if version in said:
                    self._delete(said[version][1], until)
            raise RankingLost(self._project, len(new), kept - counts.get(version, 0) + len(gone))
        if placed or new:
            self._serve(version, until)
            self._clear([other for other in counts if other != version], until)

    def _append(self, version: str, tasks: Sequence[int], last: float, until: float) -> None:
        """Write tasks behind the score `last`; scores rise and stay below 1."""
        for task in tasks:
            last += (1 - last) / 1000
            with self._tasks.errors(writes=True):
                self._client.predictions.create(
                    task=task,
                    score=last,
                    model_version=version,
                    result=[],
                    request_options=self._write(until),
                )

    def _serve(self, version: str, until: float) -> None:
        with self._tasks.errors():
            project: Any = self._client.projects.get(id=self._project, request_options=READ)
        ours = {**SETTINGS, "model_version": version}
        if any(getattr(project, name) != value for name, value in ours.items()):
            self.update(ours, until)

    def _next(self, version: str) -> str:
        """A version that never was; whatever of an older one arrives late is no part of it."""
        return f"assay-{self._assessment}-{_number(version) + 1}-{uuid.uuid4().hex[:8]}"

    def _versions(self) -> dict[str, int]:
        """Our rankings and how many predictions each has."""
        found: dict[str, int] = self._tasks.call("GET", "model-versions/", READ)
        return {name: n for name, n in found.items() if self.is_ours(name)}

    def _waiting(self, tasks: Set[int]) -> dict[int, dict[str, tuple[float, int]]]:
        """Those that are there and unlabelled -> our version -> score and id of the prediction."""
        found = {}
        for ids in batched(sorted(tasks), PAGE):
            query = {"filters": where("id", "in_list", "List", ids), "ordering": ["tasks:id"]}
            for row in self._tasks.page(query, PAGE, include="id,predictions,is_labeled"):
                if not row["is_labeled"]:
                    said = {p["model_version"]: p for p in row["predictions"] or ()}
                    found[int(row["id"])] = {
                        version: (float(p["score"]), int(p["id"]))
                        for version, p in said.items()
                        if self.is_ours(version)
                    }
        return found

    def _delete(self, prediction: int, until: float) -> None:
        try:
            with self._tasks.errors(f"prediction {prediction}", writes=True):
                self._client.predictions.delete(prediction, request_options=self._write(until))
        except NotFound:
            pass  # its task was deleted meanwhile

    def _clear(self, versions: Iterable[str], until: float) -> None:
        for version in versions:
            options = self._write(until)
            self._tasks.call("DELETE", "model-versions/", options, {"model_version": version})

    def clear(self, until: float) -> None:
        """Take every ranking of ours away."""
        self._clear(self._versions(), until)

    def update(self, settings: Mapping[str, Any], until: float) -> None:
        """Change settings of the project, by the moment `until` of the monotonic clock."""
        with self._tasks.errors(writes=True):
            changed: Any = dict(settings)
            self._client.projects.update(
                id=self._project, **changed, request_options=self._write(until)
            )

    def _write(self, until: float) -> Any:
        """Options of a request that must be over when the ranking must be."""
        left = until - time.monotonic()
        if left < 1:
            raise InDoubt(self._url, f"ranking the tasks took more than {RANKING_S:.0f} s")
        return {"max_retries": 0, "timeout": min(WRITE_TIMEOUT_S, left)}


def _number(version: str) -> int:
    """Which ranking a model version of ours is."""
    return int(version.split("-")[-2])


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in lists of `size`, the last one shorter."""
    waiting = iter(values)
    while batch := list(islice(waiting, size)):
        yield batch
