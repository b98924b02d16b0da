"""What a second opinion is worth: labels and errors with one over those without, at equal seeds.

On pairs of published models, one assessed and the other its opinion, both ways; and with opinions
that tell nothing or lie. `ASSAY_BENCH_RUNS` asks for other than 40 runs, `ASSAY_BENCH_KINDS` for
the rows whose name has this. Beside each pair what one who knows every item's chance of being right
could win (`limit`): no strategy and no belief gets further.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.bench.paper.cases import SUPERCLASS, planned
from tests.bench.paper.data import Floats, Pool, load
from worker.simulate.cases import Asked, prepare
from worker.simulate.measuring import Run
from worker.simulate.spread import here

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
ONLY = os.environ.get("ASSAY_BENCH_KINDS", "")
AT = (100, 200, 500, 1000)
SETS = (
    ("cifar10-resnet", "cifar10-preresnet", "cifar10-densenet"),
    ("cifar100-resnet", "cifar100", "cifar100-wrn"),
)
USELESS = ("shuffled", "constant", "inverted", "four useless", "copy of the score")

Columns = Mapping[str, pa.Array]
Opinions = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Row:
    """A question, with a run's labels; `groups` of the assessed model."""

    name: str
    question: Mapping[str, object]
    stop: Mapping[str, object]
    until: int
    groups: str = "predicted_class"


def rows_of(model: str) -> list[Row]:
    """The questions that are asked of a model."""
    mrr = {"mrr": {"threshold": 0.99, "confidence": 0.95}}
    top, until = (10, 6000) if model.startswith("cifar100") else (3, 8000)
    groups = SUPERCLASS if model.startswith("cifar100") else "predicted_class"
    pair = ["people", "trees"] if model.startswith("cifar100") else ["c0003", "c0005"]
    return [
        Row("worst 1", {"task": "identify"}, mrr, until),
        Row(f"worst {top}", {"task": "identify", "top": top}, mrr, until),
        Row("estimate", {"task": "estimate"}, {"rmse": 0.02}, until),
        Row("compare", {"task": "compare", "compare": pair}, {}, 2000, groups),
    ]


def opinion_of(kind: str, pool: Pool) -> tuple[Columns, Opinions]:
    """Columns beside a pool's, and the plan's opinions: of another model, or of a useless kind."""
    n, k = pool.label.size, pool.n_classes
    rng = np.random.default_rng(11)
    classes = np.array([f"c{c:04d}" for c in range(k)])
    says = {"name": "other", "predicted": "o_class", "score": "o_score"}
    if kind == "shuffled":
        order = rng.permutation(n)
        return _columns(classes[pool.predicted[order]], pool.score[order]), [says]
    if kind == "constant":
        return _columns(classes[pool.predicted], np.full(n, 0.9)), [says]
    if kind == "inverted":  # the class is right only where ours is wrong
        wrong = (pool.label + 1 + rng.integers(0, k - 1, n)) % k
        said = np.where(pool.predicted == pool.label, wrong, pool.predicted)
        return _columns(classes[said], rng.beta(8, 2, n)), [says]
    if kind == "copy of the score":
        return {"o_right": pa.array(pool.score)}, [{"name": "copy", "right": "o_right"}]
    if kind == "four useless":
        return {
            "o_right": pa.array(rng.beta(8, 2, n)),
            "o_number": pa.array(rng.lognormal(size=n)),
            "o_category": pa.array(rng.choice(np.array(["a", "b", "c"]), n)),
            "o_class": pa.array(classes[rng.integers(0, k, n)]),
        }, [
            {"name": "judge", "right": "o_right"},
            {"name": "length", "number": "o_number"},
            {"name": "source", "category": "o_category"},
            {"name": "other", "predicted": "o_class"},
        ]
    other = load(kind)
    if other.probs is not None:
        table = {"o_probs": pa.array(list(other.probs))}
        return table, [{"name": kind, "probabilities": "o_probs"}]
    return _columns(classes[other.predicted], other.score), [says | {"name": kind}]


def _columns(said: np.ndarray, score: Floats) -> Columns:
    return {"o_class": pa.array(said), "o_score": pa.array(score)}


@contextmanager
def with_opinion(
    pool: Pool, row: Row, kind: str | None, more: Mapping[str, object]
) -> Iterator[Path]:
    """A plan on disk as `tests.bench.paper.cases.planned`, with opinions of a kind."""
    with planned(pool, dict(row.question), row.groups) as path:
        plan = yaml.safe_load(path.read_text(encoding="utf-8"))
        plan["stop"] = dict(row.stop) | dict(more)
        if kind is not None:
            columns, opinions = opinion_of(kind, pool)
            file = path.parent / plan["pool"]["predictions"]
            table = pq.read_table(file)
            for name, column in columns.items():
                table = table.append_column(name, column)
            pq.write_table(table, file)
            plan["pool"]["opinions"] = [dict(one) for one in opinions]
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        yield path


def runs_of(model: str, row: Row, kind: str | None, more: Mapping[str, object]) -> list[Run]:
    """The runs of one plan, by their numbers."""
    pool = load(model)
    with with_opinion(pool, row, kind, more) as path:
        at = AT if row.question["task"] == "estimate" else ()
        asked = Asked("truth", (), seed=0, until=row.until, at=at, only_stop=not at)
        cases = prepare(path, path.parent / "pools", asked)
        runs = [one for _, one in here(cases, N_RUNS)]
    return sorted(runs, key=lambda one: one.number)


def labels_of(row: Row, runs: Sequence[Run]) -> Floats:
    """Labels of each run to a right decision; a wrong one, or none, counts as all of them."""
    return np.array(
        [
            one.stop.labels
            if one.stop and one.stop.is_conclusive and one.stop.is_right
            else row.until
            for one in runs
        ]
    )
