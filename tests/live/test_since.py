"""Month after month with a real Label Studio: earlier labels are worth something later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connector.local import LabelStudioServer
from tests.live.pools import (
    ALWAYS_WRONG,
    SignUp,
    Trial,
    assert_tally_is_label_studios,
    insects,
    label_until_stopped,
)
from tests.live.service import Service, eventually

pytestmark = pytest.mark.live

STOP = "{mrr: {confidence: 0.9}, looks: 3}"


def continuing(trial: Trial, since: str) -> Trial:
    """The trial as one that continues an assessment."""
    text = trial.plan.read_text(encoding="utf-8")
    trial.plan.write_text(f"{text}since: {since}\n", encoding="utf-8")
    return trial


def test_the_next_month_begins_with_what_the_last_one_left(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    person = annotator()
    one = insects(tmp_path, stop=STOP)
    project = running.begin(one.plan)
    at_first = running.status(one.assessment)
    label_until_stopped(running, one, project, person)
    # an answer that was on its way when it stopped is counted too
    eventually(lambda: running.status(one.assessment)["open_items"] == 0)
    n_then = running.labels(one.assessment)

    two = continuing(insects(tmp_path, stop=STOP), one.assessment)
    checked = running.json("check", str(two.plan))
    assert f"{n_then} labels of {one.assessment} are taken over" in " ".join(checked["warnings"])
    project = running.begin(two.plan)
    # What it is worth, before there is a label. How many labels each month takes is a matter of
    # luck in so small a pool, where most of them are the looks that have to confirm the answer.
    known = running.status(two.assessment)
    assert (known["labels"], f"“{ALWAYS_WRONG}” is the least" in known["text"]) == (0, True)
    assert known["confidence"] > at_first["confidence"] + 0.1
    label_until_stopped(running, two, project, person)

    status = running.json("status", two.assessment)
    decision = status["decision"]
    assert (decision["reason"], decision["chosen"]) == ("answered", [ALWAYS_WRONG])
    continues = decision["continues"]
    assert (continues["assessment"], continues["labels"]) == (one.assessment, n_then)
    assert continues["changed"] == []
    # a label that was on its way when it was decided changes what earlier ones count for
    assert status["continues"] == continues | {
        key: status["continues"][key] for key in ("believed", "text")
    }
    assert_tally_is_label_studios(running, label_studio, two, project)
    assert running.json("replay", two.assessment)["is_equal"] is True
    report = running.json("report", two.assessment, "--to", str(tmp_path / "reports"))
    told = json.loads(Path(report["page"]).with_suffix(".json").read_text(encoding="utf-8"))
    assert told["then_and_now"]["assessment"] == one.assessment
    assert all(group["then_mean"] is not None for group in told["then_and_now"]["groups"])


def test_an_export_on_the_same_disk_does_as_well_and_an_unknown_one_is_said(
    running: Service, annotator: SignUp, tmp_path: Path
) -> None:
    person = annotator()
    one = insects(tmp_path, stop="{budget: 4}")
    label_until_stopped(running, one, running.begin(one.plan), person)
    file = tmp_path / "last-month.json"
    running.json("export", one.assessment, "--to", str(file))

    two = continuing(insects(tmp_path, stop=STOP), str(file))
    running.begin(two.plan)
    found = eventually(lambda: running.status(two.assessment)["continues"])
    assert (found["assessment"], found["labels"]) == (one.assessment, 4)

    three = continuing(insects(tmp_path, stop=STOP), "nobody-knows")
    said = running.run("start", str(three.plan))
    assert (said.code, "There is no assessment 'nobody-knows' here" in said.err) == (1, True)
    assert three.assessment not in running.context.ids()
