"""What the fast reader of CSV files does not say: what parts columns, where a mistake is."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from worker.errors import PredictionsError
from worker.pool.tables_lines import Lines, opened

_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


def delimiter_of(path: Path, kind: str) -> str:
    """What stands between the columns: in a tsv file tabs; else what is most often in the header.

    Outside of quotes, and of comma, semicolon and tab; a comma, if there is none of them.
    """
    if kind == "tsv":
        return "\t"
    with opened(path) as file:
        lines = next(iter(file), b"").decode("utf-8", "replace").splitlines()
    bare = re.sub('"[^"]*"', "", lines[0]) if lines else ""
    return max(_MARKS, key=bare.count)


def first_mistake_in_csv(path: Path, delimiter: str, numbers: Sequence[str]) -> str | None:
    """Return a sentence on the first row that is no row of the table, or None if all are.

    Rows are counted from 1, without the header and without empty lines.
    """
    row = 0
    with opened(path) as file:
        rows = csv.reader(_texts(file), delimiter=delimiter)
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
        except UnicodeDecodeError as error:
            return (
                f"after row {row} stands a byte that is not UTF-8 ({error.reason}); save as UTF-8"
            )
        except PredictionsError as error:
            return f"after row {row} {error}"
        except (csv.Error, EOFError, OSError) as error:
            return f"after row {row} it cannot be read ({error}); is it complete?"
    return None


def _texts(file: Lines) -> Iterator[str]:
    """The lines, by whatever mark they end."""
    first = True
    for line in file:
        for part in line.splitlines(keepends=True):
            yield part.decode("utf-8-sig" if first else "utf-8")
            first = False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().upper() in ("NA", "N/A", "NULL", "#N/A")
    return True
