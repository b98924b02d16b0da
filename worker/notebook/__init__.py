"""For notebooks: an assessment as frames, read whole and at once; nothing is changed by it."""

from worker.notebook.snapshot import Snapshot, open_assessment, snapshot

__all__ = ("Snapshot", "open_assessment", "snapshot")
