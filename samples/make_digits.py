"""Makes the digits sample: what two weak classifiers say of images that they never saw.

Run by a developer, from the repository's root, in an environment with scikit-learn:

    python samples/make_digits.py

The same versions of numpy and scikit-learn give the same files. Multinomial naive Bayes, taught
with 150 images only, says "8" far too often; that is what the sample's assessment has to find out.
The old classifier, a second opinion, saw 150 others, and of each only the ink in its rows and
columns: it is about as good, but errs elsewhere. How good they are is printed.
"""

from __future__ import annotations

import base64
import csv
import struct
import zlib
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB, MultinomialNB

FOLDER = Path(__file__).parent / "digits"
N_POOL = 1200
N_TAUGHT = 150
# Of the seeds tried, this one makes a weakness as plain as a demonstration wants it.
SEED = 27
ENLARGED = 10  # 8 x 8 pixels become 80 x 80
MARGIN = 8  # and 96 x 96 with white around, or the strokes run into the frame
DECIMALS = 5
# Some columns are empty in all images of a digit that were taught; without a least spread a speck
# of ink there would outvote all the others.
LEAST_SPREAD = 0.01  # of the largest variance


def main() -> None:
    """Write predictions.csv (what an assessment reads) and truth.csv (what annotators know)."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    pool, taught, taught_old = np.split(order, [N_POOL, N_POOL + N_TAUGHT])
    taught_old = taught_old[:N_TAUGHT]
    truth = digits.target[pool]
    classifier = MultinomialNB().fit(digits.data[taught] / 16, digits.target[taught])
    probabilities = classifier.predict_proba(digits.data[pool] / 16).round(DECIMALS)
    old = GaussianNB(var_smoothing=LEAST_SPREAD)
    old.fit(ink(digits.images[taught_old]), digits.target[taught_old])
    old_probabilities = old.predict_proba(ink(digits.images[pool])).round(DECIMALS)
    old_class, old_score = old_probabilities.argmax(axis=1), old_probabilities.max(axis=1)
    tell(probabilities.argmax(axis=1), old_class, truth)

    # The pool's order is the permutation's, so an id tells nothing about the class.
    ids = [f"digit-{number:04d}" for number in range(1, N_POOL + 1)]
    images = map(data_uri, digits.images[pool])
    by_class = ([f"{p:.{DECIMALS}f}" for p in row] for row in probabilities)
    by_old = ([str(d), f"{p:.{DECIMALS}f}"] for d, p in zip(old_class, old_score, strict=True))
    predictions = [
        [item_id, image, *new, *before]
        for item_id, image, new, before in zip(ids, images, by_class, by_old, strict=True)
    ]
    columns = ["item_id", "image", *(f"p_{digit}" for digit in range(10)), "old_class", "old_score"]
    write(FOLDER / "predictions.csv", columns, predictions)
    rows = [[item_id, str(digit)] for item_id, digit in zip(ids, truth, strict=True)]
    write(FOLDER / "truth.csv", ["item_id", "digit"], rows)


def ink(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 16) the mean ink of each row and column of images (n, 8, 8), from 0 to 1."""
    return np.concatenate([images.mean(axis=2), images.mean(axis=1)], axis=1) / 16


def tell(new: NDArray[np.int64], old: NDArray[np.int64], truth: NDArray[np.int64]) -> None:
    """Print how good both are, and what it means where they disagree."""
    alike, right = new == old, new == truth
    click.echo(f"right: new {right.mean():.1%}, old {(old == truth).mean():.1%}")
    click.echo(f"they agree on {alike.mean():.1%}")
    click.echo(f"there new is right on {right[alike].mean():.1%}, else {right[~alike].mean():.1%}")


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
