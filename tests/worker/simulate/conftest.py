"""The small pool that several files simulate."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.simulate.simulated_pool import at_work, write_plan
from worker.assessment import Assessment


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assessment, np.ndarray]:
    return at_work(write_plan(tmp_path_factory.mktemp("small")))
