"""Full projects that cannot be assessed are refused with a reason, and left as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connector.local import LabelStudioServer
from tests.live.full import IN_ORDER, Full, full_project, plan_of, prediction
from tests.live.service import Service

pytestmark = pytest.mark.live

MISTAKES: dict[str, tuple[Callable[[Full], object], str, str]] = {
    "two versions": (lambda _: None, "", "2 model versions: v1 (12), v2 (12)"),
    "unknown version": (
        lambda _: None,
        ", model_version: v9",
        "no predictions of the version 'v9'",
    ),
    "no prediction": (
        lambda full: full.asked("POST", "import", [{"data": {"text": "new"}}]),
        ", model_version: v2",
        "1 tasks (first: ",
    ),
    "unknown class": (
        lambda full: full.asked(
            "POST",
            "import",
            [{"data": {"text": "new"}, "predictions": [prediction("wasp", "v2", 0.5)]}],
        ),
        ", model_version: v2",
        "the label 'wasp' is not one of the classes",
    ),
    "no score": (
        lambda full: full.asked(
            "POST",
            "import",
            [{"data": {"text": "new"}, "predictions": [prediction("ant", "v2", None)]}],
        ),
        ", model_version: v2",
        "without a score",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_project_that_cannot_be_assessed_is_refused_with_a_reason(
    running: Service, label_studio: LabelStudioServer, tmp_path: Path, mistake: str
) -> None:
    spoil, pool, expected = MISTAKES[mistake]
    full = full_project(label_studio, size=4, versions=("v1", "v2"))
    spoil(full)
    before = full.settings()
    path = plan_of(tmp_path, full, pool, IN_ORDER)

    said = running.run("check", str(path))

    assert said.code == 1
    assert expected in said.err
    assert full.settings() == before
