"""Assay in a notebook: an assessment as frames, read whole and at once; nothing is changed by it.

`import assay; assay.open("digits-worst-class").groups` is where one begins; `samples/notebook.py`
goes on from there.
"""

from importlib.metadata import version

from worker import open
from worker.errors import AssayError
from worker.notebook import Snapshot

__all__ = ("AssayError", "Snapshot", "__version__", "open")
__version__ = version("assay")
