"""An assessment goes on with the export of an earlier one, in the place of the server."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from redis import Redis

from tests.worker.setup.continued import N_THEN, WAYS, _at_home, at_work
from tests.worker.simulate.simulated_pool import plan_at_work
from worker.setup.checking import check_plan
from worker.setup.earlier import NotContinuable, exported, on_server
from worker.setup.moving import pack
from worker.setup.replaying import export
from worker.simulate.cases import Asked, prepare, replay_run


@pytest.fixture
def file(tmp_path: Path, valkey: Redis, assessment_id: str) -> Path:
    """The export of month one, beside its compiled pool."""
    one = at_work(tmp_path / "one", valkey, assessment_id, N_THEN)
    told = export(one.work, one.ledger, pack(valkey, assessment_id))
    path = tmp_path / "month-one.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def test_an_export_says_the_same_as_the_server(file, tmp_path, valkey, assessment_id):
    here, there = on_server(_at_home(valkey, tmp_path / "one"), assessment_id), exported(
        file, tmp_path / "one" / "pools"
    )  # fmt: skip
    assert here.tally == there.tally
    assert (here.status, here.text) == (there.status, there.text)
    assert list(here.items.label) == list(there.items.label)
    np.testing.assert_array_equal(here.items.score, there.items.score)


def test_the_pool_may_lie_beside_the_export_and_else_it_is_said(file, tmp_path):
    name = next((tmp_path / "one" / "pools").glob("*.arrow")).name
    moved = tmp_path / "one" / "pools" / name
    moved.rename(tmp_path / name)
    assert exported(file, tmp_path / "nowhere").items.label
    (tmp_path / name).rename(tmp_path / "elsewhere")
    with pytest.raises(NotContinuable, match=f"copy {name} from the folder `pools`"):
        exported(file, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("content", "says"),
    [("nonsense", "is no JSON"), ("{}", "no export of an assessment")],
)
def test_a_file_that_is_no_export_is_refused(tmp_path, content, says):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(Exception, match=says):
        exported(tmp_path / "x.json", tmp_path)
    with pytest.raises(NotContinuable, match="cannot be read"):
        exported(tmp_path / "absent.json", tmp_path)


def test_a_plan_is_checked_and_simulated_with_the_export_beside_it(file, tmp_path):
    folder = tmp_path / "two"
    plan_at_work(folder, **WAYS)
    plan = folder / "plan.yaml"
    text = plan.read_text(encoding="utf-8").replace("assessment: small", "assessment: next")
    plan.write_text(f"{text}since: ../{file.name}\n", encoding="utf-8")

    checked = check_plan(plan, folder / "pools")
    assert any("labels of" in warning and "taken over" in warning for warning in checked.warnings)
    assert checked.pool.since.labels == N_THEN
    for truth in ("truth", None):
        asked = Asked(truth=truth, until=15, at=(5, 15))
        (case,) = prepare(plan, folder / "pools", asked)
        run = replay_run(asdict(case), 0)
        assert run["labels"] == 15
    other = folder / "by-id.yaml"
    other.write_text(f"{text}since: somebody\n", encoding="utf-8")
    with pytest.raises(NotContinuable, match="a simulation asks no server"):
        prepare(other, folder / "pools", Asked(truth="truth"))
