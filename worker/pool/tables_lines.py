"""Opens files of text, packed or not, so that no line and no whole is longer than memory takes.

A few megabytes of gzip unpack to gigabytes without a single end of a line.
"""

import io
from pathlib import Path

import pyarrow as pa

from worker.errors import PredictionsError

# A thousand times the longest row that a person could be shown.
LONGEST_LINE = 64 << 20
# Of what has to be parsed as one value, which takes some twenty times as much.
LONGEST_JSON = 256 << 20


class Lines(io.BufferedReader):
    """Reads by the line; iterating and `readlines` end up here, too."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line.

        Raises:
            PredictionsError: it is longer than LONGEST_LINE.
        """
        line = super().readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise PredictionsError(
                f"a line is longer than {LONGEST_LINE >> 20} MB, which is no row of a table; is "
                "this the file that is meant?"
            )
        return line


def opened(path: Path) -> Lines:
    """Open a file of lines; Arrow unpacks a packed one, and says so when it is cut off."""
    return Lines(pa.input_stream(str(path), compression="detect"))


def read_whole(path: Path) -> bytes:
    """Return the content, unpacked.

    Raises:
        PredictionsError: it is longer than LONGEST_JSON.
    """
    with pa.input_stream(str(path), compression="detect") as file:
        content: bytes = file.read(LONGEST_JSON + 1)
    if len(content) > LONGEST_JSON:
        raise PredictionsError(
            f"it holds more than {LONGEST_JSON >> 20} MB of JSON; write it as .jsonl or .parquet, "
            "which are read piece by piece"
        )
    return content
