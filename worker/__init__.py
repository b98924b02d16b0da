"""Turns judgements into beliefs, decisions and the next items to label."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# A linear algebra library that spreads products of a few numbers over all cores waits for them
# longer than it computes: the fit of the prior took 20 times as long. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from worker.notebook import Snapshot


def open(assessment: str, *, url: str | None = None) -> Snapshot:
    """Read an assessment as frames, for a notebook; it changes nothing.

    Args:
        url: the server that keeps its state; None for the one of the environment (`REDIS_URL`, or
            the embedded server of `ASSAY_HOME`).

    Raises:
        AssayError: there is no such assessment, or no server; the message says what to do.
    """
    from worker.notebook import open_assessment  # not before it is needed: it loads the rest

    return open_assessment(assessment, url)
