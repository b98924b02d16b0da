"""The files that a pool's items are shown by: which of their values are paths, and of which size.

Such a file is uploaded when its item is chosen (`worker.turn.uploading`), under a name that tells
nothing; so annotators never see its path, and a task is compared by that name alone.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from connector.media import TAGS, suffix_of, uploaded_name
from connector.shown import uploaded
from worker.errors import AssayError
from worker.plan.fields import confined
from worker.pool.chats import chat_keys
from worker.pool.media_paths import ADDRESS, NEARLY_ALL

if TYPE_CHECKING:
    from worker.pool.file import Pool

# Bytes of one file, of which a turn of the loop uploads a few.
LARGEST = 50 * 10**6
_LOOKED_AT = 1_000  # rows that tell by which tag a column is shown
_STORED = r"(?!https?:)[A-Za-z][A-Za-z0-9+.-]+://\S+$"


class FileLost(AssayError):
    """A file of an item is not here, or is another one than the pool was compiled with."""


@dataclass(frozen=True, slots=True)
class Files:
    """The data keys of a pool whose values are paths of files.

    folder: relative paths are relative to it. base: the pool's hash but for the files. gold: of
    every gold item the bytes of its files, by the keys; -1 where the value is no path.
    """

    keys: tuple[str, ...]
    folder: str
    base: str
    gold: tuple[tuple[int, ...], ...]


def files_from(header: Mapping[str, Any]) -> Files | None:
    """Return what a compiled pool's header says of files; None if it has none."""
    told = header.get("files")
    if told is None:
        return None
    gold = tuple(tuple(map(int, sizes)) for sizes in told["gold"])
    return Files(tuple(told["keys"]), str(told["folder"]), str(told["base"]), gold)


def as_uploaded(pool: Pool, row: int) -> dict[str, str]:
    """Return what the task of the item in a row counts as (`connector.shown.fingerprint`)."""
    item = pool.item(row)
    names = {key: uploaded(uploaded_name(pool.hash, item.data[key])) for key in item.files}
    return item.data | names


def content_of(folder: str, path: str, size: int) -> bytes:
    """Read a file to be uploaded.

    Args:
        folder: to which the path is relative.
        size: its bytes when the pool was compiled.

    Raises:
        FileLost: it is not there, may not be read here, or has another size; or it is none that a
            pool of ours may name.
    """
    whole = Path(folder) / path
    if suffix_of(path) not in TAGS or size > LARGEST:
        most = f"{LARGEST / 1e6:.0f} MB"
        raise FileLost(f"{whole} is no image, sound or video of at most {most}")
    try:
        confined(whole, path)
        with whole.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise FileLost(f"{whole} is no file")
            content = file.read(size + 1)
    except OSError as error:
        raise FileLost(f"{whole} cannot be read ({error.strerror})") from error
    except ValueError as error:  # outside of ASSAY_PLAN_FOLDERS; or a zero byte, which no path has
        raise FileLost(f"{whole}: {error}") from error
    if len(content) != size:
        text = f"it has {found.st_size:,} bytes, and had {size:,} when the assessment began"
        raise FileLost(f"{whole} was changed: {text}")
    return content


def tags_of(pool: Pool) -> dict[str, str]:
    """Return the tag by which Label Studio shows each key whose values are media (paths or
    addresses) or chats."""
    found = {}
    for key, column in zip(pool.data_keys, pool.first_data(_LOOKED_AT), strict=True):
        values = [value for value in column.to_pylist() if value.strip()]
        is_file = key in pool.file_keys
        media = [
            value if is_file else value.partition("?")[0]
            for value in values
            if is_file or re.match(ADDRESS, value)
        ]
        tags = Counter(TAGS.get(suffix_of(value), "") for value in media)
        for tag, count in tags.most_common(1):
            if tag and count >= NEARLY_ALL * len(values):
                found[key] = tag
    return found | dict.fromkeys(chat_keys(pool), "Paragraphs")


def notes_on_files(pool: Pool) -> list[str]:
    """Return what is to be known, before an assessment begins, of files that annotators see."""
    notes = []
    for key, column in zip(pool.data_keys, pool.first_data(_LOOKED_AT), strict=True):
        if pool.files is not None and key in pool.files.keys:
            sizes = pool.bytes_of(key)
            is_file = sizes >= 0
            notes.append(
                f"{key}: {is_file.sum():,} files are uploaded to Label Studio, each when its item "
                f"is chosen ({sizes[is_file].mean() / 1e3:,.0f} kB on average); every machine with "
                f"a worker needs them, relative to {pool.files.folder}"
            )
        stored = [value for value in column.to_pylist() if re.match(_STORED, value)]
        if stored:
            notes.append(
                f"{key}: browsers do not open {stored[0]!r}; Label Studio does where a storage for "
                "it is connected to the project (its Settings, Cloud Storage)"
            )
    return notes
