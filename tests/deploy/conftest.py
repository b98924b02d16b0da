"""The image, built once for all that is tried with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deploy.image import Image, built


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image of the Dockerfile; building it takes minutes."""
    with built(tmp_path_factory.mktemp("image")) as found:
        yield found
