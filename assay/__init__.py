"""Assay in a notebook: an assessment as frames, read whole and at once; nothing is changed by it.

`import assay; assay.open("digits-worst-class").groups` is where one begins; `samples/notebook.py`
goes on from there. `assay.assess("plan.yaml", "labels.csv")` needs no assessment: it is a report
from labels that are there.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from worker import open
from worker.errors import AssayError
from worker.notebook import Snapshot

if TYPE_CHECKING:
    from worker.plan.project_part import Existing
    from worker.report.contents import Report

__all__ = ("AssayError", "Snapshot", "__version__", "assess", "open")
__version__ = version("assay")


def assess(plan: str | Path, labels: str | Path, *, labels_are: Existing = "known") -> Report:
    """A report at once from labels that are there, as `assay assess` makes it; nothing is begun.

    A cell that ends with it shows the page.

    Args:
        plan: the file of a plan.
        labels: a file of labels, `FILE:COLUMN`, or a column of the predictions.
        labels_are: `random`, where those that are labelled were drawn at random.

    Raises:
        AssayError: the plan or the labels cannot be used; the message says what to do.
    """
    from worker.report.labelled import report_on
    from worker.store.settings import read_settings

    return report_on(Path(plan), str(labels), labels_are, read_settings().pools)
