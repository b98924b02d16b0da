"""The pools of the paper's tables, read in place, and their items in groups.

Some of the files carry no licence, so none of them is part of the project: they are read from the
folder that the environment variable ASSAY_PAPER_DATA names, else from `shared/data` beside the
checkout. What needs them cannot run elsewhere.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FILES = {
    "cifar100": "cifar100/ji2018-top1",
    "cifar100-wrn": "cifar100/wrn16-4",
    "svhn": "svhn/resnet152",
    "20newsgroups": "20newsgroups/cleanlab",
    "imagenet": "imagenet/resnet34-top1",
}
# The paper has no tables of these.
MORE_FILES = {
    "cifar100-resnet": "cifar100/resnet110-top1",
    "cifar10-densenet": "cifar10h/densenet190",
    "cifar10-preresnet": "cifar10h/preresnet110",
    "cifar10-resnet": "cifar10h/resnet110",
}
N_BINS = 10


@dataclass(frozen=True, slots=True)
class Pool:
    """N items with what the classifier said of them and their true classes."""

    name: str
    n_classes: int
    predicted: Ints  # (N,)
    score: Floats  # (N,) probability of the predicted class
    label: Ints  # (N,)
    probs: NDArray[np.float32] | None  # (N, K)


@dataclass(frozen=True, slots=True)
class Groups:
    """N items in G groups: whether the classifier was right, and the truth of each group."""

    of: Ints  # (N,) in 0..G-1
    right: Bools  # (N,)
    size: Ints  # (G,)
    score: Floats  # (G,) mean score of the pool's items; NaN where there are none
    accuracy: Floats  # (G,) on the whole pool; 0 where there are no items, as the authors have it

    @property
    def n(self) -> int:
        """How many groups there are."""
        return self.size.size

    @property
    def share(self) -> Floats:
        """(G,) the share of the pool in each group."""
        return self.size / self.size.sum()


def folder() -> Path:
    """Where the data is."""
    here = Path(__file__).resolve().parents[3].parent / "shared" / "data"
    return Path(os.environ.get("ASSAY_PAPER_DATA", here))


def load(name: str) -> Pool:
    """Read a pool by its short name.

    Raises:
        FileNotFoundError: the data folder is not there.
    """
    path = folder() / f"{(FILES | MORE_FILES)[name]}.npz"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there. The paper's pools are not part of the project; "
            "set ASSAY_PAPER_DATA to the folder that holds them."
        )
    with np.load(path) as file:
        predicted, label = file["pred"].astype(np.int64), file["label"].astype(np.int64)
        probs = file["probs"] if "probs" in file.files else None
        score = file["score"].astype(np.float64)
    n_classes = 1000 if name == "imagenet" else int(max(predicted.max(), label.max())) + 1
    return Pool(name, n_classes, predicted, score, label, probs)


def by_class(pool: Pool) -> Groups:
    """Group the items by predicted class."""
    return grouped(pool.predicted, pool.n_classes, pool.predicted == pool.label, pool.score)


def by_score(pool: Pool, quirks: bool = False) -> Groups:
    """Group the items in ten bins of equal size by score.

    The authors' slice for the last bin ends one item early, so that the most confident item of the
    pool falls in the first bin; `quirks` repeats that.
    """
    per_bin = pool.score.size // N_BINS
    bins = np.full(pool.score.size, N_BINS - 1)
    order = np.argsort(pool.score, kind="stable")
    for b in range(N_BINS - 1):
        bins[order[b * per_bin : (b + 1) * per_bin]] = b
    if quirks:
        bins[order[-1]] = 0
    return grouped(bins, N_BINS, pool.predicted == pool.label, pool.score)


def by_superclass(pool: Pool, quirks: bool = False) -> Groups:
    """Group CIFAR-100 by predicted superclass; right means the true superclass.

    The authors took the superclass label from the model's own predicted class, not from the true
    one, and compared it with the superclass of the largest summed score; `quirks` repeats that.
    """
    if pool.probs is None:
        raise ValueError(f"{pool.name} has no full probability vectors; take cifar100-wrn.")
    of_class = superclass_of_class()
    predicted = of_class[pool.predicted]
    summed = np.stack([pool.probs[:, of_class == s].sum(axis=1) for s in range(20)], axis=1)
    right = summed.argmax(axis=1) == predicted if quirks else of_class[pool.label] == predicted
    score = summed[np.arange(predicted.size), predicted].astype(np.float64)
    return grouped(predicted, 20, right, score)


def superclass_of_class() -> Ints:
    """(100,) the superclass of every CIFAR-100 class."""
    with (folder() / "cifar100" / "superclasses.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([int(superclass) for _, superclass, _ in sorted(rows, key=lambda r: int(r[0]))])


def grouped(of: Ints, n_groups: int, right: Bools, score: Floats) -> Groups:
    """Count what there is in each group."""
    size = np.bincount(of, minlength=n_groups)
    with np.errstate(invalid="ignore"):
        mean_score = np.bincount(of, score, n_groups) / size
        accuracy = np.nan_to_num(np.bincount(of, right, n_groups) / size)
    return Groups(of, right, size, mean_score, accuracy)
