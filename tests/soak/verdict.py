"""What is left when all is over: Label Studio's own export against what was kept."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from tests.live.pools import Trial, all_tasks, exported, kept_tally, outcomes_of
from tests.live.service import Service

# An ended assessment is read in every tenth round of the watcher: after 30 s, or later under load.
WITHDRAWN_S = 120.0


@dataclass(frozen=True, slots=True)
class Found:
    """What one assessment shows; all of it is 0 or True where nothing is wrong."""

    labels: int
    losses: int  # labels of the export that the tally lacks
    doubles: int  # labels of the tally that the export lacks
    other_outcomes: int
    queued_twice: int
    left_open: int
    decisions_of_one_revision: int
    is_replayed: bool

    @property
    def is_right(self) -> bool:
        """Nothing is lost, nothing counted twice, and all of it can be told again."""
        wrong = (
            self.losses, self.doubles, self.other_outcomes, self.queued_twice, self.left_open,
            self.decisions_of_one_revision,
        )  # fmt: skip
        return not any(wrong) and self.is_replayed


def agrees(service: Service, studio: LabelStudioServer, trial: Trial, project: int) -> bool:
    """Whether every outcome is the export's; for a while after the last answer it may not be."""
    truth = outcomes_of(exported(studio, project), trial)
    kept = service.records(trial.assessment)
    return {item: r.outcome for item, r in kept.items() if r.outcome is not None} == truth


def verdict(
    service: Service, studio: LabelStudioServer, trial: Trial, project: int, newcomer: Annotator
) -> Found:
    """Look at an assessment that was stopped and read to the end."""
    truth = outcomes_of(exported(studio, project), trial)
    records = service.records(trial.assessment)
    kept = {item: r.outcome for item, r in records.items() if r.outcome is not None}
    expected = Counter((trial.predicted[item], label) for item, label in truth.items())
    tally = kept_tally(service, trial)
    tasks = Counter(task["data"]["item_id"] for task in all_tasks(studio, project))
    decisions = [json.loads(d) for d in service.context.ledger(trial.assessment).decisions()]
    revisions = Counter(d["revision"] for d in decisions)
    # What an import that nobody waits for any more brings after the stop is withdrawn, too.
    is_withdrawn_by = time.monotonic() + WITHDRAWN_S
    while newcomer.next_task(project) is not None and time.monotonic() < is_withdrawn_by:
        time.sleep(1)
    open_tasks = 0
    while (task := newcomer.next_task(project)) is not None and open_tasks < 10:
        open_tasks += 1
        newcomer.skip(task["id"])
    said = service.run("replay", trial.assessment, "--json")
    return Found(
        labels=sum(tally.values()),
        losses=sum((expected - tally).values()),
        doubles=sum((tally - expected).values()),
        other_outcomes=sum(kept.get(i) != truth.get(i) for i in kept.keys() | truth.keys()),
        queued_twice=sum(n > 1 for n in tasks.values()),
        left_open=open_tasks,
        decisions_of_one_revision=sum(n > 1 for n in revisions.values()),
        is_replayed=said.code == 0 and json.loads(said.out)["is_equal"],
    )
