"""What a task shows its annotators, in short: tasks that show the same have one fingerprint."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

# Where Label Studio hands out a file of a connected storage.
_HANDED_OUT = re.compile(
    r"(?:https?://[^/\s\"']+)?/tasks/\d+/(?:resolve|presign)/\?fileuri=([A-Za-z0-9_-]+=*)"
)
# Where it hands out a file that we uploaded (`connector.uploads`): the number is its own.
_UPLOADED = re.compile(r"(?:/[^/\s?#]+)*/data/upload/\d+/[0-9a-f]{8}-([0-9a-f]{40}\.[a-z0-9]+)")


def fingerprint(data: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    """Return 32 hexadecimal digits that stand for what a task shows.

    Only the keys that were meant to be shown: Label Studio's own actions add others (a column of
    labels, a random number), which no page shows that did not show them before.

    Args:
        data: the task's.
        keys: the name under which a value was kept -> the task's key.
    """
    shown = {name: _stored(text_of(data.get(key)) or "") for name, key in keys.items()}
    text = json.dumps(shown, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def uploaded(name: str) -> str:
    """What a value counts as that is an address of a file which was uploaded under this name."""
    return f"uploaded {name}"


def text_of(value: object) -> str | None:
    """A value of a task's data as annotators are shown it; lists and objects as JSON.

    Pools hold texts, and tasks of somebody else's project hold any JSON.
    """
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _stored(text: str) -> str:
    """The text with every address by which Label Studio hands a file out replaced by the file's.

    Which of them comes depends on the storages that are connected when a task is listed, and a
    project that became a pool was listed with them. A file of ours is known by its name, however
    often it was uploaded.
    """
    if ours := _UPLOADED.fullmatch(text):
        return uploaded(ours[1])
    return _HANDED_OUT.sub(_file, text)


def _file(found: re.Match[str]) -> str:
    try:
        return base64.urlsafe_b64decode(found[1]).decode()
    except (binascii.Error, UnicodeDecodeError):
        return found[0]
