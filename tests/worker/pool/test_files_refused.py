"""Files that cannot be shown to annotators are refused, with their rows and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.pool.media_pool import path, plan_of, refused, write
from worker.errors import PredictionsError
from worker.pool import compile_pool
from worker.pool.files import (
    LARGEST,
)

# --- what is refused -----------------------------------------------------------------------------

ROOT = Path(__file__).parents[3]


def test_files_that_are_not_there_are_refused_with_rows_and_cure(tmp_path: Path) -> None:
    write(tmp_path)
    for n in (3, 7):
        (tmp_path / path(n)).unlink()
    text = refused(tmp_path)
    assert "the column seen (`pool.data.scan`) holds paths of files, relative to" in text
    assert f"2 of 40 are not there: rows 4, 8 (first: {path(3)!r}); put the files there" in text


def test_all_paths_of_another_machine_are_refused(tmp_path: Path) -> None:
    assert "40 of 40 are not there: rows 1, 2, 3, 4, 5 and 35 more" in refused(tmp_path)
    text = refused(tmp_path, lambda n: f"file:///srv/{n}.png")
    assert "are not there" in text


def test_values_beside_the_paths_that_are_none_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    text = refused(tmp_path, lambda n: "unknown" if n == 5 else path(n))
    assert "1 of 40 are none of images, sounds or videos: row 6 (first: 'unknown')" in text


@pytest.mark.parametrize(("size", "words"), [(0, "are empty"), (LARGEST + 1, "larger than 50 MB")])
def test_files_that_nobody_could_be_shown_are_refused(
    tmp_path: Path, size: int, words: str
) -> None:
    write(tmp_path)
    os.truncate(tmp_path / path(2), size)
    assert f"1 of 40 {words}" in refused(tmp_path).replace("are larger", "larger")


def test_kinds_that_browsers_do_not_show_are_refused_with_those_that_they_do(
    tmp_path: Path,
) -> None:
    def values(n: int) -> str:
        return f"{n}.{'tif' if n == 9 else 'JPG'}"

    write(tmp_path, values)
    text = refused(tmp_path, values)
    assert ".tif first in row 10" in text
    assert "convert them to .bmp" in text


def test_images_and_sounds_in_one_column_are_refused(tmp_path: Path) -> None:
    def values(n: int) -> str:
        return f"{n}.{'wav' if n % 3 else 'png'}"

    write(tmp_path, values)
    assert "give each kind a column of its own" in refused(tmp_path, values)


def test_a_folder_or_a_link_to_nowhere_is_no_file(tmp_path: Path) -> None:
    write(tmp_path)
    for n in (0, 1):
        (tmp_path / path(n)).unlink()
    (tmp_path / path(0)).mkdir()
    (tmp_path / path(1)).symlink_to("nowhere.png")
    assert "2 of 40 are not there: rows 1, 2" in refused(tmp_path)


def test_files_that_may_not_be_read_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / path(4)).chmod(0)
    code = (
        "import sys; from pathlib import Path; from tests.worker.pool.media_pool import refused; "
        "print(refused(Path(sys.argv[1])))"
    )
    # root may read everything, unless it gives that up
    given_up = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] * (os.geteuid() == 0)
    told = subprocess.run(
        [*given_up, sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "1 of 40 may not be read: row 5" in told.stdout


def test_files_outside_of_the_folders_of_plans_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, secret = tmp_path / "plans", tmp_path / "secret"
    own.mkdir()
    write(secret)
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(own))
    assert "lies outside of ASSAY_PLAN_FOLDERS" in refused(own, lambda n: f"../secret/{path(n)}")
    (own / "images").symlink_to(secret / "images")
    assert "lies outside of ASSAY_PLAN_FOLDERS" in refused(own)


def test_paths_beside_predictions_on_another_machine_are_refused(tmp_path: Path) -> None:
    import fsspec

    write(tmp_path)
    plan = plan_of(tmp_path)
    with fsspec.open("memory://bucket/p.csv", "wb") as file:
        file.write((tmp_path / "p.csv").read_bytes())
    there = plan.pool.model_copy(update={"predictions": Path("memory://bucket/p.csv")})
    with pytest.raises(PredictionsError, match="relative to a folder that is on another machine"):
        compile_pool(plan.model_copy(update={"pool": there}), tmp_path / "pools")
