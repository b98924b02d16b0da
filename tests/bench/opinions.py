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
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from scipy import special, stats

from tests.bench.measuring import line, say
from tests.bench.paper.cases import SUPERCLASS, planned
from tests.bench.paper.data import Floats, Pool, load
from worker.simulate.cases import Asked, prepare
from worker.simulate.measuring import Run
from worker.simulate.spread import here

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
ONLY = os.environ.get("ASSAY_BENCH_KINDS", "")
AT = (50, 75, 100, 150, 200, 300, 500, 700, 1000)
AS_GOOD_AS = 500  # labels without opinions, whose error is to be reached with them
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
    with with_opinion(load(model), row, kind, more) as path:
        at = AT if row.question["task"] == "estimate" else ()
        until = AT[-1] if at else row.until
        asked = Asked("truth", (), seed=0, until=until, at=at, only_stop=not at)
        cases = prepare(path, path.parent / "pools", asked)
        runs = [one for _, one in here(cases, N_RUNS)]
    return sorted(runs, key=lambda one: one.number)


def labels_of(row: Row, runs: Sequence[Run]) -> Floats:
    """(N,) labels of each run to a right decision; a wrong one, or none, counts as all of them."""
    return np.array(
        [
            one.stop.labels
            if one.stop and one.stop.is_conclusive and one.stop.is_right
            else row.until
            for one in runs
        ]
    )


def errors_of(runs: Sequence[Run], name: str) -> Floats:
    """(A,) root mean squared errors over the runs at `AT`: of the groups (rmse), or the pool."""
    return np.sqrt(np.mean([np.square(getattr(one, name)) for one in runs], axis=0))


def labels_to(error: float, errors: Floats) -> float:
    """The labels at which errors at `AT` fall to one, between two of them by their logarithms."""
    falling = np.minimum.accumulate(errors)[::-1]
    return float(np.exp(np.interp(np.log(error), np.log(falling), np.log(AT)[::-1])))


@dataclass(frozen=True, slots=True)
class Worth:
    """What an opinion was worth in one row: labels, and errors of groups and pool, over those
    without it; the last two are empty but for estimates."""

    labels: float
    groups: tuple[float, ...] = ()
    pool: tuple[float, ...] = ()


def run() -> None:
    """Ratios of every row, and their geometric means beside what was asked for."""
    say(f"\nSecond opinions: {N_RUNS} runs, the same seeds; labels over those without the opinion")
    found: dict[str, list[Worth]] = {}
    for models in SETS:
        for model in models:
            others = [other for other in models if other != model]
            kinds = [*others, *(USELESS if model == models[0] else ())]
            for row in rows_of(model):
                if ONLY in f"{model}, {row.name}":
                    _of_row(model, row, kinds, found)
        for pair in permutations(models, 2):
            if ONLY in pair[0]:
                _limit(*pair)
    for of, (labels, groups, pool) in GOALS.items():
        rows = found.get(of, [])
        if not rows:
            continue
        ratios = [one.labels for one in rows]
        line(f"{of}: labels, geometric mean", f"{stats.gmean(ratios):.2f}", f"<= {labels}")
        line("... the largest row", f"{max(ratios):.2f}", LARGEST.get(of, ""))
        for what, name, goal in (("groups", "groups", groups), ("the pool", "pool", pool)):
            errors = [error for one in rows for error in getattr(one, name)]
            if errors:
                line(f"... errors of {what}", f"{stats.gmean(errors):.2f}", goal)


def _of_row(model: str, row: Row, kinds: Sequence[str], found: dict[str, list[Worth]]) -> None:
    without = runs_of(model, row, None, {})
    say(f"{model}, {row.name}")
    line("... without", _told(row, without), "")
    for kind in kinds:
        if kind in USELESS and row.name.startswith("worst ") and row.name != "worst 1":
            continue  # the longest rows, which tell nothing more of these
        runs = runs_of(model, row, kind, {})
        worth = _worth(row, runs, without)
        found.setdefault(_class_of(model, kind), []).append(worth)
        line(f"... {kind}", f"{worth.labels:.2f} ({_told(row, runs)})", "")


def _worth(row: Row, runs: Sequence[Run], without: Sequence[Run]) -> Worth:
    if row.question["task"] != "estimate":
        return Worth(labels_of(row, runs).mean() / labels_of(row, without).mean())
    groups, pool = (
        (errors_of(runs, name), errors_of(without, name)) for name in ("rmse", "pooled")
    )
    error = float(groups[1][AT.index(AS_GOOD_AS)])
    return Worth(
        labels_to(error, groups[0]) / AS_GOOD_AS,
        tuple(groups[0] / groups[1]),
        tuple(pool[0] / pool[1]),
    )


def _told(row: Row, runs: Sequence[Run]) -> str:
    if row.question["task"] == "estimate":
        errors = errors_of(runs, "rmse")
        few, many = errors[AT.index(100)], errors[AT.index(AS_GOOD_AS)]
        return f"errors {few:.4f} at 100, {many:.4f} at {AS_GOOD_AS}"
    right = sum(one.stop.is_right for one in runs if one.stop and one.stop.is_conclusive)
    return f"{labels_of(row, runs).mean():,.0f} labels, {right} right"


def _class_of(model: str, kind: str) -> str:
    if kind in USELESS:
        return "a copy of the score" if kind.startswith("copy") else "useless"
    rates = [float(np.mean(one.predicted == one.label)) for one in (load(kind), load(model))]
    return "equal or better" if rates[0] >= rates[1] else "weaker"


# What was asked for: labels, errors of groups, of the pool.
GOALS = {
    "equal or better": ("0.35", "<= 0.65", "<= 0.6"),
    "weaker": ("0.8", "", ""),
    "useless": ("1.1", "", ""),
    "a copy of the score": ("1.05", "", ""),
}
LARGEST = {"equal or better": "<= 1", "useless": "<= 1.25"}


def _limit(model: str, kind: str) -> None:
    """What one wins who knows every item's chance to be right, by score alone and with the opinion.

    Variances of an estimate of the pool, with labels as items lie and where they tell most (by
    Neyman): labels go with these, errors with their roots. Chances by logistic regression on all.
    """
    pool, other = load(model), load(kind)
    right = (pool.predicted == pool.label).astype(np.float64)
    own, agrees = _logit(pool.score), (pool.predicted == other.predicted).astype(np.float64)
    if other.probs is not None:
        said = _logit(other.probs[np.arange(right.size), pool.predicted])
    else:
        said = _logit(np.where(agrees, other.score, (1 - other.score) / (pool.n_classes - 1)))
    even, most = [], []
    for terms in ([own, own**2], [own, own**2, said, agrees, agrees * own]):
        p = _chances(np.column_stack([np.ones_like(own), *terms]), right)
        even.append((p * (1 - p)).mean())
        most.append(np.sqrt(p * (1 - p)).mean() ** 2)
    text = f"{even[1] / even[0]:.2f}; {most[1] / most[0]:.2f}"
    line(f"limit of labels, {model} with {kind} (as items lie; anywhere)", text, "")


def _logit(score: Floats) -> Floats:
    logits: Floats = special.logit(np.clip(score.astype(np.float64), 1e-4, 1 - 1e-4))
    return logits


def _chances(x: Floats, y: Floats) -> Floats:
    weight = np.zeros(x.shape[1])
    for _ in range(60):
        p = special.expit(x @ weight)
        bent = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(weight.size)
        weight += np.linalg.solve(bent, x.T @ (y - p) - 1e-3 * weight)
    chances: Floats = special.expit(x @ weight)
    return chances
