"""The sample is what its script makes, and what its README says of it."""

from __future__ import annotations

import base64
import csv
import importlib.util
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from worker.cli.demo import SAMPLE
from worker.plan import load_plan

N_TEXTS = 2  # the item's id and its image stand before the numbers


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the script makes now."""
    path = SAMPLE.parent / "make_digits.py"
    spec = importlib.util.spec_from_file_location("make_digits", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    script.main()
    return tmp_path


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def pixels(uri: str) -> bytes:
    with Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as image:
        return image.tobytes()


def test_the_script_makes_the_sample_and_says_what_its_readme_says(capsys, made):
    assert rows_of(made / "truth.csv") == rows_of(SAMPLE / "truth.csv")
    (columns, *new), (kept_columns, *kept) = (
        rows_of(folder / "predictions.csv") for folder in (made, SAMPLE)
    )
    assert columns == kept_columns
    assert [row[0] for row in new] == [row[0] for row in kept]
    # Another zlib packs the same pixels otherwise; another numpy rounds the last digit otherwise.
    assert [pixels(row[1]) for row in new] == [pixels(row[1]) for row in kept]
    numbers = [np.array([row[N_TEXTS:] for row in rows], dtype=float) for rows in (new, kept)]
    np.testing.assert_allclose(*numbers, atol=2e-5)

    readme = (SAMPLE.parent / "README.md").read_text(encoding="utf-8")
    said = capsys.readouterr().out.splitlines()
    assert said
    assert all(f"    {line}\n" in readme for line in said)


def test_its_plan_has_the_old_classifier_as_a_second_opinion_that_annotators_do_not_see():
    pool = load_plan(SAMPLE / "plan.yaml").pool
    assert pool.opinions is not None
    assert [opinion.columns for opinion in pool.opinions] == [("old_class", "old_score")]
    assert {*pool.data.values()} == {"image"}


def test_the_answers_are_what_their_script_makes_and_its_readme_says(capsys, tmp_path, monkeypatch):
    folder = SAMPLE.parent / "answers"
    spec = importlib.util.spec_from_file_location("answers", SAMPLE.parent / "make_answers.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    script.main()
    for name in ("answers.jsonl", "truth.csv"):
        assert (tmp_path / name).read_text("utf-8") == (folder / name).read_text("utf-8")
    readme = (SAMPLE.parent / "README.md").read_text(encoding="utf-8")
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 4
    assert all(f"    {line}\n" in readme for line in said)
