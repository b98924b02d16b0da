"""Pictures and sounds on this machine reach the annotators of a real Label Studio."""

from __future__ import annotations

import io
import re
import secrets
import shutil
import struct
import wave
import zlib
from pathlib import Path

import httpx
import pytest

from connector.local import LabelStudioServer
from tests.live.pools import (
    SignUp,
    Trial,
    all_tasks,
    assert_tally_is_label_studios,
    label_until_stopped,
    project_of,
)
from tests.live.service import Service, eventually

pytestmark = pytest.mark.live

N = 24
CLASSES = ("ant", "bee")


def picture(n: int) -> bytes:
    """A PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + bytes([n * 10, 90, 200]) * 64 for _ in range(64))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def sound(n: int) -> bytes:
    """A tenth of a second of silence, and a little more for each number."""
    with io.BytesIO() as file:
        with wave.open(file, "wb") as written:
            written.setparams((1, 2, 8_000, 0, "NONE", ""))
            written.writeframes(bytes(2 * (800 + n)))
        return file.getvalue()


def insects_in_files(folder: Path, more: str = "") -> Trial:
    """Items with a picture, a sound and a text each; their folders are the predicted classes."""
    assessment = f"files-{secrets.token_hex(4)}"
    folder = folder / assessment
    predicted = {f"item-{n:02d}": CLASSES[n % 2] for n in range(N)}
    truth = {item: "bee" for item in predicted}  # all that is predicted an ant is wrong
    rows = []
    for n, (item, group) in enumerate(predicted.items()):
        (folder / group).mkdir(parents=True, exist_ok=True)
        (folder / group / f"{n}.png").write_bytes(picture(n))
        (folder / group / f"{n}.WAV").write_bytes(sound(n))
        rows.append(f"{item},{group},0.9,{group}/{n}.png,{group}/{n}.WAV,heard at noon\n")
    table = "item_id,said,score,scan,call,remark\n" + "".join(rows)
    (folder / "predictions.csv").write_text(table, encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: {assessment}\n"
        "pool: {predictions: predictions.csv, predicted: said, score: score,"
        " data: {remark: remark, scan: scan, call: call}}\n"
        f"question: {{task: identify}}\nstop: {{budget: 8}}\n{more}",
        encoding="utf-8",
    )
    return Trial(assessment, plan, "answer", "remark", truth, predicted)


def test_annotators_are_shown_the_files_and_their_labels_count(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects_in_files(tmp_path)
    checked = running.json("check", str(trial.plan))
    assert any(note.startswith("scan: 24 files are uploaded") for note in checked["warnings"])
    project = running.begin(trial.plan)
    config = project_of(label_studio, project)["label_config"]
    assert '<Image name="scan" value="$scan"/>' in config
    assert '<Audio name="call" value="$call"/>' in config
    ada = annotator()

    task = eventually(lambda: ada.next_task(project))
    n = int(task["data"]["item_id"].removeprefix("item-"))
    assert ada.fetch(task["data"]["scan"]) == picture(n)
    assert ada.fetch(task["data"]["call"]) == sound(n)
    with httpx.Client(base_url=label_studio.url) as nobody:
        assert nobody.get(task["data"]["scan"]).status_code == 401

    label_until_stopped(running, trial, project, ada)
    assert running.labels(trial.assessment) >= 8
    assert_tally_is_label_studios(running, label_studio, trial, project)
    assert running.context.ledger(trial.assessment).rejected() == {}
    assert running.json("replay", trial.assessment)["is_equal"] is True
    for shown in all_tasks(label_studio, project):
        told = f"{shown['data']['scan']} {shown['data']['call']}"
        address = rf"/data/upload/{project}/[0-9a-f]{{8}}-[0-9a-f]{{40}}"
        assert re.fullmatch(rf"{address}\.png {address}\.wav", told)


def test_a_machine_without_the_files_says_so_and_goes_on_once_it_has_them(
    running: Service, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects_in_files(tmp_path)
    folder = trial.plan.parent
    kept = shutil.copytree(folder, tmp_path / "kept")
    project = running.begin(trial.plan)
    ada = annotator()
    trial.answer(ada, project)
    for group in CLASSES:
        shutil.rmtree(folder / group)
    ledger = running.context.ledger(trial.assessment)

    def failed() -> str | None:
        while task := ada.next_task(project):
            trial.submit(ada, task)
        return ledger.metadata().get("error")

    error = eventually(failed)
    assert "FilesLost: the file of item item-" in error
    assert "No such file" in error
    labels = eventually(lambda: running.labels(trial.assessment))

    for group in CLASSES:
        shutil.copytree(kept / group, folder / group)
    label_until_stopped(running, trial, project, ada)
    assert running.labels(trial.assessment) > labels
    eventually(lambda: not ledger.metadata().get("error"))


def test_a_page_that_would_show_addresses_as_text_is_refused(
    running: Service, tmp_path: Path
) -> None:
    trial = insects_in_files(tmp_path, more="label_studio: {config: own.xml}\n")
    choices = "".join(f'<Choice value="{name}"/>' for name in CLASSES)
    (trial.plan.parent / "own.xml").write_text(
        '<View><Text name="remark" value="$remark"/><Text name="scan" value="$scan"/>'
        f'<Choices name="answer" toName="remark">{choices}</Choices></View>',
        encoding="utf-8",
    )
    said = running.run("check", str(trial.plan))
    assert said.code == 1
    assert "shows $scan as text (<Text>), but its values are files" in said.err
