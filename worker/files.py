"""Files that readers see as a whole."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that readers see the old one or the new one, never a part."""
    # not `mkstemp`, whose files nobody else may read: reports are put into shared folders
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
