"""Whether the blocks of an Arrow file are packed: ours are mapped as they lie on the disk.

Arrow unpacks what is packed as it opens it, however large it becomes, and names no limit. So this
is read before, from the messages that Arrow goes by (`File.fbs` and `Message.fbs` of its format).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

_END = b"ARROW1"
_MARK = 0xFFFFFFFF  # before the length of a message
# Places of the fields in their tables.
_FOOTER_BLOCKS = (2, 3)  # dictionaries, record batches
_MESSAGE_HEADER, _BATCH_COMPRESSION = 2, 3
_BLOCK = struct.Struct("<qi4xq")  # where a message lies, its length, the length of its body


def is_packed(file: BinaryIO) -> bool:
    """Whether a block of an Arrow file is packed, or is a dictionary's, which pools have none of.

    Raises:
        ValueError: it is no Arrow file.
    """
    try:
        return _is_one_packed(file)
    except struct.error as error:
        raise ValueError(f"it is no Arrow file ({error})") from error


def _is_one_packed(file: BinaryIO) -> bool:
    file.seek(-4 - len(_END), 2)
    length, end = struct.unpack("<i6s", file.read(4 + len(_END)))
    if end != _END or length < 0:
        raise ValueError("it does not end as an Arrow file does")
    file.seek(-4 - len(_END) - length, 2)
    footer = file.read(length)
    dictionaries, batches = (list(_blocks(footer, field)) for field in _FOOTER_BLOCKS)
    return bool(dictionaries) or any(_is_packed(file, at) for at in batches)


def _blocks(footer: bytes, field: int) -> Iterator[int]:
    """Where the messages lie that a vector of the footer names."""
    place = _field(footer, _table(footer, 0), field)
    if place is None:
        return
    start = _table(footer, place)
    (n,) = struct.unpack_from("<I", footer, start)
    for at in range(n):
        yield _BLOCK.unpack_from(footer, start + 4 + at * _BLOCK.size)[0]


def _is_packed(file: BinaryIO, at: int) -> bool:
    file.seek(at)
    mark, length = struct.unpack("<Ii", file.read(8))
    if mark != _MARK or length < 0:
        raise ValueError("a block does not begin as one does")
    message = file.read(length)
    header = _field(message, _table(message, 0), _MESSAGE_HEADER)
    if header is None:
        raise ValueError("a block has no header")
    return _field(message, _table(message, header), _BATCH_COMPRESSION) is not None


def _table(buffer: bytes, at: int) -> int:
    """What the offset at a place leads to."""
    return at + int(struct.unpack_from("<I", buffer, at)[0])


def _field(buffer: bytes, table: int, number: int) -> int | None:
    """The place of a table's field; None if it has none."""
    vtable = table - int(struct.unpack_from("<i", buffer, table)[0])
    (size,) = struct.unpack_from("<H", buffer, vtable)
    if 4 + 2 * number + 2 > size:
        return None
    offset = int(struct.unpack_from("<H", buffer, vtable + 4 + 2 * number)[0])
    return table + offset if offset else None
