"""A small finished assessment, as this release stores it, and what it tells of it.

`python -m tests.compat.state` writes it to tests/assets/state-vN, where N is the version of the
header, records or export that changed; it refuses to write over one. What is there stays as it was
written: it stands for the data of those who upgrade.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from redis import Redis

from tests.promises.small import CLASSES, predicted, small_assessment
from tests.promises.world import LONG_US, World
from worker.assessment import Assessment
from worker.assessment.verdicts import assess_now
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.embedded import server
from worker.setup.moving import pack
from worker.setup.replaying import export, unrepeated_choices
from worker.store import Ledger
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

ASSETS = Path(__file__).parents[1] / "assets"
VERSION = 1
FILES = ("export.json", "pool.arrow", "told.json")

# Its folder is in the plan; no machine's own path is to be in an asset.
_HOME = Path(tempfile.gettempdir()) / "assay-state"


def lived(folder: Path, db: Redis) -> tuple[Assessment, World]:
    """An assessment that people edited, skipped, spoilt and deleted in, until it was decided."""
    work, header = small_assessment(folder, "{mrr: {confidence: 0.9999}, budget: 7}")
    header = replace(header, assessment="kept", url="http://localhost:8080")
    ledger = ValkeyLedger(db, header.assessment)
    ledger.begin(header)
    world = World(work, header, ledger, folder / "kept")
    desk = world.desk

    def answer(author: int, label: str | None = None) -> int:
        """By default with the class that was predicted."""
        world.turn()
        desk.now_us += LONG_US
        task = desk.next_task(author)
        assert task is not None
        return desk.annotate(task, label or predicted(desk.data_of(task)["item_id"]), author)

    edited = answer(1, CLASSES[0])
    world.turn()
    desk.edit(edited, CLASSES[1])
    skipped = desk.next_task(1)
    assert skipped is not None
    for author in (1, 2):  # given up after two skips
        desk.skip(skipped, author)
    answer(1, "zebra")
    desk.delete_annotation(answer(2, CLASSES[2]))
    world.turn()
    desk.delete_task(desk.task_ids()[-1])
    world.settle()
    for n in itertools.count():
        world.turn()
        if ledger.state().status == "stopped":
            break
        answer(3 + n, CLASSES[0] if n % 3 == 0 else None)
    world.settle()
    desk.edit(edited, CLASSES[2])  # the decision stays, and a review says what became of it
    world.settle()
    return work, world


def told(context: Context, assessment: str, work: Assessment, ledger: Ledger) -> dict[str, Any]:
    """What an assessment's state comes to: status, tally, finding; not what a release estimates."""
    status = status_of(context, assessment, work).as_json()
    _, belief, verdict = assess_now(work, ledger)
    return {
        "status": {name: status[name] for name in STATUS}
        | {"groups": [{name: of[name] for name in GROUP} for of in status["groups"]]},
        "tasks": {str(task): list(brief) for task, brief in sorted(ledger.tasks().items())},
        "belief": {"right": belief.right.tolist(), "wrong": belief.wrong.tolist()},
        "chosen": [work.pool.group_names[group] for group in verdict.chosen],
    }


# Not what is worded anew at every look, nor what is of the moment.
STATUS = (
    *("status", "labels", "pool_items", "claims", "open_items", "retired", "rejected"),
    *("annotators", "revision", "metric", "decision", "review", "foreign_tasks", "project"),
    *("url", "error"),
)
GROUP = ("group", "size", "labelled", "right")


def write(target: Path) -> None:
    """Write FILES into a folder that is not there yet."""
    target.mkdir(parents=True)
    shutil.rmtree(_HOME, ignore_errors=True)
    try:
        with server(_HOME, None) as url:
            context = Context(Settings(_HOME, url, None), url)
            try:
                work, world = lived(_HOME, context.state)
                name = world.header.assessment
                packed = export(work, world.ledger, pack(context.state, name))
                found = told(context, name, work, world.ledger)
            finally:
                context.close()
        assert not unrepeated_choices(work, world.ledger)
        for file, value in (("export.json", packed), ("told.json", found)):
            text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
            (target / file).write_text(text + "\n", encoding="utf-8")
        shutil.copyfile(work.pool.path, target / "pool.arrow")
    finally:
        shutil.rmtree(_HOME, ignore_errors=True)


if __name__ == "__main__":
    folder = ASSETS / f"state-v{VERSION}"
    if folder.exists():
        sys.exit(f"{folder} is there already and stays; raise VERSION for what is stored anew.")
    write(folder)
