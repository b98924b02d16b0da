"""The release that running assessments are upgraded from, taken out of the checkout's history."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

RELEASE = "607ee21"

ROOT = Path(__file__).parents[2]


def unpack(folder: Path) -> dict[str, str]:
    """Write the release's code into a new folder; return the settings with which Python runs it.

    Its libraries are those of the tests.
    """
    folder.mkdir(parents=True)
    packed = folder / "release.tar"
    subprocess.run(
        ["git", "-C", ROOT, "archive", f"--output={packed}", RELEASE, "connector", "worker"],
        check=True,
    )
    subprocess.run(["tar", "-xf", packed, "-C", folder], check=True)
    # Else the folder that the tests run in, which holds today's code, comes before the path.
    return {"PYTHONPATH": os.fspath(folder), "PYTHONSAFEPATH": "1"}
