"""What the fast reader of CSV does not say: its letters, what parts columns, where a mistake is."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from worker.errors import PredictionsError
from worker.pool.tables_lines import Lines, opened

_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_BYTES_AT_ONCE = 8 << 20
# What spreadsheets of old write where they do not write UTF-8.
_OTHERWISE = "cp1252"


def encoding_of(path: Path) -> str:
    """Return how the letters of a file are written: utf8, utf-16 (which says so), or cp1252.

    Raises:
        PredictionsError: it is none of them.
    """
    stat = path.stat()
    return _encoding(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=8)  # whoever reads a file asks several times
def _encoding(path: Path, size: int, time_ns: int) -> str:
    with opened(path) as file:
        if file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
    for name in ("utf8", _OTHERWISE):
        if _can_be(path, name):
            return name
    raise PredictionsError("its letters are neither UTF-8 nor Windows-1252; save the file as UTF-8")


def _can_be(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with opened(path) as file:
        try:
            while piece := file.read(_BYTES_AT_ONCE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def letters_told(path: Path) -> str | None:
    """Return a sentence on how a file is read whose letters were guessed, or None."""
    if encoding_of(path) != _OTHERWISE:
        return None
    return (
        f"{path.name} is not UTF-8 and is read as Windows-1252; look whether its texts are right, "
        "or save it as UTF-8"
    )


def delimiter_of(path: Path, kind: str) -> str:
    """What stands between the columns: in a tsv file tabs; else what is most often in the header.

    Outside of quotes, and of comma, semicolon and tab; a comma, if there is none of them.
    """
    if kind == "tsv":
        return "\t"
    with opened(path) as file:
        lines = next(iter(file), b"").decode(encoding_of(path), "replace").splitlines()
    bare = re.sub('"[^"]*"', "", lines[0]) if lines else ""
    return max(_MARKS, key=bare.count)


def first_mistake_in_csv(path: Path, delimiter: str, numbers: Sequence[str]) -> str | None:
    """Return a sentence on the first row that is no row of the table, or None if all are.

    Rows are counted from 1, without the header and without empty lines.
    """
    row = 0
    with opened(path) as file:
        rows = csv.reader(_texts(file, encoding_of(path)), delimiter=delimiter)
        try:
            header = next(rows, [])
            places = [(name, header.index(name)) for name in numbers if name in header]
            for cells in rows:
                if not cells:
                    continue
                row += 1
                if len(cells) != len(header):
                    return (
                        f"row {row} has {len(cells)} of {len(header)} values; is the file cut off, "
                        f"or is a value with {_MARKS[delimiter]} not in quotes?"
                    )
                for name, place in places:
                    if cells[place].strip() and not _is_number(cells[place]):
                        return (
                            f"row {row} has {cells[place]!r} in the column {name}, "
                            "expected a number"
                        )
        except PredictionsError as error:
            return f"after row {row} {error}"
        except (csv.Error, EOFError, OSError) as error:
            return f"after row {row} it cannot be read ({error}); is it complete?"
    return None


def _texts(file: Lines, encoding: str) -> Iterator[str]:
    """The lines, by whatever mark they end."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf8" else encoding)()
    for line in file:
        yield from decoder.decode(line).splitlines(keepends=True)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().upper() in ("NA", "N/A", "NULL", "#N/A")
    return True
