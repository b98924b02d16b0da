"""Makes the digits sample: the predictions of a weak classifier on images that it never saw.

Run by a developer, from the repository's root, in an environment with scikit-learn:

    python samples/make_digits.py

The same versions of numpy and scikit-learn give the same files. Multinomial naive Bayes, taught
with 150 images only, says "8" far too often; that is what the sample's assessment has to find out.
"""

from __future__ import annotations

import base64
import csv
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.naive_bayes import MultinomialNB

FOLDER = Path(__file__).parent / "digits"
N_POOL = 1200
N_TAUGHT = 150
# Of the seeds tried, this one makes a weakness as plain as a demonstration wants it.
SEED = 27
ENLARGED = 10  # 8 x 8 pixels become 80 x 80
MARGIN = 8  # and 96 x 96 with white around, or the strokes run into the frame
DECIMALS = 5


def main() -> None:
    """Write predictions.csv (what an assessment reads) and truth.csv (what annotators know)."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    pool, taught = order[:N_POOL], order[N_POOL : N_POOL + N_TAUGHT]
    classifier = MultinomialNB().fit(digits.data[taught] / 16, digits.target[taught])
    probabilities = classifier.predict_proba(digits.data[pool] / 16).round(DECIMALS)

    # The pool's order is the permutation's, so an id tells nothing about the class.
    ids = [f"digit-{number:04d}" for number in range(1, N_POOL + 1)]
    predictions = [
        [item_id, data_uri(pixels), *(f"{p:.{DECIMALS}f}" for p in row)]
        for item_id, pixels, row in zip(ids, digits.images[pool], probabilities, strict=True)
    ]
    columns = ["item_id", "image", *(f"p_{digit}" for digit in range(10))]
    write(FOLDER / "predictions.csv", columns, predictions)
    truth = [[item_id, str(d)] for item_id, d in zip(ids, digits.target[pool], strict=True)]
    write(FOLDER / "truth.csv", ["item_id", "digit"], truth)


def data_uri(pixels: NDArray[np.float64]) -> str:
    """Return an image as a data: URI, dark ink on white, every pixel a crisp square.

    Args:
        pixels: (8, 8), ink from 0 to 16.
    """
    grey = 15 - np.minimum(pixels, 15).astype(np.uint8)  # 4 bits a pixel
    large = grey.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1)
    large = np.pad(large, MARGIN, constant_values=15)
    packed = (large[:, ::2] << 4 | large[:, 1::2]).astype(np.uint8)
    # Each line is written as its difference to the line above (filter 2), which is mostly nothing.
    differences = np.diff(packed, axis=0, prepend=np.zeros_like(packed[:1]))
    lines = b"".join(b"\2" + line.tobytes() for line in differences)
    height, width = large.shape
    header = struct.pack(">IIBBBBB", width, height, 4, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, content) for name, content in chunks)
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def chunk(name: bytes, content: bytes) -> bytes:
    """Return one chunk of a PNG file."""
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def write(path: Path, columns: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file with the same line ends on every system."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
