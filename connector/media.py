"""Images, sounds and videos: by which tag Label Studio shows them, and under which names it gets
them."""

from __future__ import annotations

import hashlib

_SHOWN = {
    "Image": (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"),
    "Audio": (".flac", ".m4a", ".mp3", ".ogg", ".wav"),
    "Video": (".mp4", ".webm"),
}
# The suffix of a file's name -> the tag. Of other kinds Label Studio takes no file.
TAGS = {suffix: tag for tag, suffixes in _SHOWN.items() for suffix in suffixes}
# Media that Label Studio does not take, as browsers do not show them.
NOT_SHOWN = (
    *(".tif", ".tiff", ".heic", ".heif", ".avif", ".psd", ".dcm", ".aac", ".aiff", ".opus"),
    *(".wma", ".avi", ".mkv", ".mov", ".mpg", ".mpeg", ".wmv"),
)

_DIGITS = 40


def suffix_of(text: str) -> str:
    """Return the suffix of a path in small letters, such as ".jpg"; empty if it has none."""
    _, dot, ending = text.rpartition(".")
    return f".{ending.lower()}" if dot and "/" not in ending else ""


def uploaded_name(pool: str, path: str) -> str:
    """Return the name under which a file is uploaded, which tells nothing but its suffix.

    A folder, or the name of a file, may hold what annotators must not be told.

    Args:
        pool: the hash of the pool that it is of.
        path: as the pool has it.
    """
    digest = hashlib.blake2b(f"{pool}\0{path}".encode(), digest_size=_DIGITS // 2)
    return digest.hexdigest() + suffix_of(path)
