"""The image is built from the Dockerfile, and looked at in a chroot of it."""

from __future__ import annotations

import pytest

from tests.deploy.image import Image
from tests.machine import needs

pytestmark = [pytest.mark.long, needs("image")]


def _shell(image: Image, script: str) -> str:
    done = image.run("sh", "-euc", script)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_who_runs_is_not_root_and_may_write_its_own_folder_only(image: Image) -> None:
    assert _shell(image, "id -un; pwd; touch /var/lib/assay/x; rm /var/lib/assay/x").split() == [
        "assay",
        "/var/lib/assay",
    ]
    assert image.run("touch", "/opt/assay/x").returncode != 0
    assert image.run("ls", "/src").returncode != 0  # what it was built of is not in it
    assert "/var/lib/assay" in image.config(".OCIv1.Config.Volumes")
    assert image.config(".OCIv1.Config.Entrypoint") == "[assay]"
