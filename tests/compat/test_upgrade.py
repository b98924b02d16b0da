"""A running assessment is upgraded from the release before, taken back, and upgraded again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from connector.local import LabelStudioServer
from tests.compat.release import unpack
from tests.live.pools import (
    SignUp,
    assert_no_item_twice,
    assert_tally_is_label_studios,
    insects,
    label_until_stopped,
)
from tests.live.service import Service, eventually, service
from tests.machine import needs

pytestmark = [pytest.mark.live, pytest.mark.long, needs("release")]


@contextmanager
def all_up(
    home: Path, studio: LabelStudioServer, release: dict[str, str] | None = None
) -> Iterator[Service]:
    """Everything of one release at this home, with the embedded server, until the block ends."""
    with service(home, studio, release) as running:
        running.spawn_all("--workers", "1")
        yield running


def test_a_running_assessment_goes_on_with_the_next_release_and_with_the_one_before(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    """People label on while nothing runs, too; what either release counted the other one keeps."""
    trial, home = (
        insects(tmp_path, stop="{mrr: {confidence: 0.9999999}, budget: 24}"),
        tmp_path / "home",
    )
    person, another = annotator(), annotator()
    before = unpack(tmp_path / "release")

    def label(n: int, project: int) -> None:
        for _ in range(n):
            trial.answer(person, project)

    def counted(running: Service, n: int) -> None:
        eventually(lambda: running.labels(trial.assessment) == n)

    def assert_right(running: Service, project: int) -> None:
        """By Label Studio's own export, and as this release sees what both of them wrote."""
        assert_tally_is_label_studios(running, label_studio, trial, project)
        assert_no_item_twice(running, label_studio, trial.assessment, project)
        told = replayed(running, trial.assessment)
        assert told["tally_differences"] == {}
        assert told["items_judged_otherwise"] == []
        assert told["items_queued_twice"] == 0

    with all_up(home, label_studio, before) as old:
        project = old.begin(trial.plan)
        label(3, project)
        task = eventually(lambda: person.next_task(project))
        first = trial.submit(person, task, trial.another(task["data"]["item_id"]))
        counted(old, 4)
        told = replayed(old, trial.assessment)
        assert told["is_equal"] is True, json.dumps(told)
    person.edit(first["id"], trial.truth[task["data"]["item_id"]])
    label(1, project)  # of what is still in the queue

    with all_up(home, label_studio) as new:
        counted(new, 5)
        label(4, project)
        counted(new, 9)
        assert_right(new, project)
    label(1, project)

    with all_up(home, label_studio, before) as old:
        counted(old, 10)
        label(4, project)
        counted(old, 14)
        assert_right(old, project)

    with all_up(home, label_studio) as new:
        label_until_stopped(new, trial, project, another)
        assert_right(new, project)
        assert new.decision_file(trial.assessment)["labels"] == 24


def replayed(running: Service, assessment: str) -> dict[str, object]:
    """What `assay replay` finds; it ends with 1 where a choice is not repeated."""
    told: dict[str, object] = json.loads(running.run("replay", assessment, "--json").out)
    return told
