"""An assessment goes to another machine and goes on there; a bad file changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connector.local import LabelStudioServer
from tests.live.pools import SignUp, assert_no_item_twice, assert_tally_is_label_studios, insects
from tests.live.service import eventually, service

pytestmark = pytest.mark.live


def test_an_exported_assessment_goes_on_elsewhere_with_everything_that_was_kept(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial, person = insects(tmp_path, stop="{budget: 9}"), annotator()
    name, file = trial.assessment, tmp_path / "moved.json"
    with service(tmp_path / "here", label_studio) as here:
        here.spawn_all()
        project = here.begin(trial.plan)
        for _ in range(5):
            trial.answer(person, project)
        eventually(lambda: here.labels(name) == 5)
        here.json("pause", name)
        eventually(lambda: here.status(name)["open_items"] == 0)
        before = here.records(name)
        pool = here.json("export", name, "--to", str(file))["pool"]
        kept = json.loads(file.read_text(encoding="utf-8"))

        again = here.run("import", str(file))
        assert again.code == 1
        assert f"There is an assessment {name!r} here already" in again.err

    # As on another machine: the pool is not where it was.
    moved = tmp_path / "carried.arrow"
    Path(pool).rename(moved)
    with service(tmp_path / "there", label_studio) as there:
        there.spawn_all()
        assert there.run("import", str(file)).code == 1  # without its pool
        assert name not in there.context.ids()

        newer = tmp_path / "newer.json"
        newer.write_text(json.dumps(kept | {"version": 99}), encoding="utf-8")
        said = there.run("import", str(newer), "--pool", str(moved))
        assert (said.code, "upgrade Assay here" in said.err) == (1, True)
        half = tmp_path / "half.json"
        half.write_text(json.dumps(kept | {"kept": {}}), encoding="utf-8")
        said = there.run("import", str(half), "--pool", str(moved))
        assert (said.code, "is not whole" in said.err) == (1, True)
        half.write_text("not JSON", encoding="utf-8")
        assert "is no JSON" in there.run("import", str(half)).err
        assert name not in there.context.ids()

        found = there.json("import", str(file), "--pool", str(moved))
        assert found == {"assessment": name, "project": project, "status": "paused"}
        assert there.records(name) == before
        there.json("resume", name)
        for _ in range(4):
            trial.answer(person, project)
        eventually(lambda: there.status(name)["status"] == "stopped")
        assert there.labels(name) == 9
        assert_tally_is_label_studios(there, label_studio, trial, project)
        assert_no_item_twice(there, label_studio, name, project)
        assert there.json("replay", name)["is_equal"] is True
        assert there.decision_file(name)["labels"] == 9
