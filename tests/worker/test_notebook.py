"""What a notebook gets: all that is kept of an assessment, as frames that agree with each other."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pytest

import assay
import worker
from tests.promises.small import CLASSES, N_ITEMS, small_assessment
from tests.promises.world import World
from tests.report.crowds import crowd
from worker.notebook import snapshot
from worker.report.gathering import gather
from worker.report.status import status_of
from worker.service.context import Context, NoSuchAssessment
from worker.service.embedded import server
from worker.service.server import NoServer
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Home:
    url: str
    folder: Path
    world: World
    context: Context


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with the assessment `small`: nobody is at it but the tests."""
    folder = tmp_path_factory.mktemp("notebook")
    with server(folder, None) as url:
        context = Context(Settings(folder, None, None), url)
        work, header = small_assessment(folder / "small", "{mrr: {confidence: 0.9999}, budget: 6}")
        header = replace(header, assessment="small")
        ledger = ValkeyLedger(context.state, "small")
        ledger.begin(header)
        context.enter("small")
        yield Home(url, folder, World(work, header, ledger, folder / "out"), context)
        context.close()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    for name in ("REDIS_URL", "ASSAY_STATE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(home.folder))


def label(world: World, author: int, answer: str) -> str:
    """Answer the next task; return its item."""
    task = world.desk.next_task(author)
    assert task is not None
    world.desk.annotate(task, answer, author)
    return world.desk.data_of(task)["item_id"]


def test_an_assessment_without_labels_has_frames_without_rows_but_all_groups(home: Home):
    empty = assay.open("small")

    assert list(empty.groups.index) == list(CLASSES)
    assert (empty.groups["labelled"] == 0).all()
    assert (empty.labels, empty.pool_items) == (0, N_ITEMS)
    for frame in (empty.judgements, empty.choices, empty.decisions, empty.annotators):
        assert len(frame) == 0
    assert str(empty.judgements["at"].dtype) == "datetime64[us, UTC]"


def test_the_frames_hold_what_people_did_and_what_was_chosen_for_them(home: Home):
    world = home.world
    world.turn()
    first = label(world, 0, "cat")
    skipped = world.desk.next_task(0)
    world.desk.skip(skipped, 0)
    label(world, 1, "zebra")  # nobody offered it
    world.turn()

    seen = assay.open("small")

    rows = seen.judgements.set_index("annotation")
    assert list(rows["status"]) == ["valid", "skipped", "rejected"]
    assert list(rows["author"]) == [0, 0, 1]
    assert rows["label"].isna().tolist() == [False, True, True]
    assert "zebra" in rows["reason"].iloc[2]
    mine = rows.iloc[0]
    assert (mine["item"], mine["outcome"]) == (first, "cat")
    assert mine["is_right"] == (mine["predicted"] == "cat")
    assert mine["group"] == mine["predicted"]  # the groups are the predicted classes
    assert 0.5 < mine["score"] < 1
    kept = home.context.ledger("small").choices()
    assert list(seen.choices.index) == [choice["claim"] for choice in kept]
    assert list(seen.choices["item"]) == [choice["item"] for choice in kept]
    assert set(seen.choices["group"]) <= set(CLASSES)
    assert seen.labels == int(seen.groups["labelled"].sum()) == 1
    assert seen.annotators["labels"].to_dict() == {0: 1, 1: 0}
    assert seen.annotators["skips"].to_dict() == {0: 1, 1: 0}
    assert seen.annotators[["quality", "gold"]].isna().all(axis=None)


def test_the_numbers_of_the_groups_are_those_of_the_status(home: Home):
    status = status_of(home.context, "small")

    frame = assay.open("small").groups

    for row in status.groups:
        shown = frame.loc[row["group"]]
        assert {name: shown[name] for name in ("mean", "low", "high", "labelled")} == {
            name: row[name] for name in ("mean", "low", "high", "labelled")
        }
    assert frame["share"].sum() == pytest.approx(1)
    assert (frame["low"] <= frame["mean"]).all()
    assert (frame["mean"] <= frame["high"]).all()


def test_the_server_may_be_named_and_looking_changes_nothing(home: Home):
    before = sorted(home.context.state.scan_iter()), home.context.ledger("small").state()

    seen = assay.open("small", url=home.url)

    assert seen.revision == before[1].revision
    assert (
        sorted(home.context.state.scan_iter()),
        home.context.ledger("small").state(),
    ) == before


def test_a_decision_is_in_the_frame_and_its_text_is_the_headline(home: Home):
    for _ in range(N_ITEMS):
        home.world.turn()
        if home.world.desk.next_task(2) is None:
            break
        label(home.world, 2, "dog")
    home.world.settle()

    seen = assay.open("small")

    assert seen.status == "stopped"
    assert seen.decisions["kind"].iloc[0] == "stop"
    assert seen.decisions["labels"].iloc[0] == 6
    assert seen.decisions["decided_at"].dt.tz is not None
    assert seen.text == seen.decisions["text"].iloc[0]
    assert seen.report().labels == seen.labels
    assert int((seen.belief.right + seen.belief.wrong).sum()) == seen.labels


def test_the_sample_runs_from_its_first_cell_to_its_last(home: Home):
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "samples" / "notebook.py"), "small"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(assay.open("small").text)
    assert all(name in ended.stdout for name in CLASSES)


def test_annotators_are_a_frame_with_what_the_report_says_of_them(tmp_path: Path):
    gold = "{items: gold.csv, rate: 0.4}"
    one = crowd(tmp_path, f"{{per_item: 2, rule: dawid-skene, gold: {gold}}}", look_ahead=15)
    one.label((0.9, 0.0), 2)

    seen = snapshot(one.work, one.header, one.ledger, Settings(tmp_path, None, None))

    told = gather(one.work, one.header, one.ledger).annotators
    frame = seen.annotators
    assert sorted(frame.index) == [1, 2]
    for (_, row), said in zip(frame.iterrows(), told, strict=True):
        for name in ("labels", "shared", "gold", "gold_right", "quality", "quality_low"):
            assert row[name] == getattr(said, name)
    assert frame.loc[1, "quality"] > frame.loc[2, "quality"]
    assert str(frame["last_at"].dt.tz) == "UTC"
    mine = seen.judgements[(seen.judgements["author"] == 1) & (seen.judgements["group"] == "gold")]
    assert len(mine) == frame.loc[1, "gold"] > 0


def test_an_unknown_assessment_is_named_with_those_there_are(home: Home):
    with pytest.raises(NoSuchAssessment, match="'smal' here; there is: small"):
        assay.open("smal")


def test_a_folder_without_a_state_is_left_empty_and_the_way_to_one_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))

    with pytest.raises(NoServer, match=r"Set ASSAY_HOME .* assay\.open\(id, url="):
        assay.open("small")

    assert list(tmp_path.iterdir()) == []


def test_the_name_for_notebooks_and_the_older_one_are_the_same():
    assert assay.open is worker.open
    assert assay.__version__ == version("assay")
    assert all(hasattr(assay, name) for name in assay.__all__)
    assert issubclass(NoSuchAssessment, assay.AssayError)


def test_importing_it_loads_nothing_heavy():
    loaded = "import sys, worker; print([m for m in ('numpy', 'pandas', 'rq') if m in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"
