"""Several models, the same labels: what joint assessments cost beside one for each model.

Real pairs of models; the data is read in place (see `tests.bench.paper.data`). Twenty runs take
hours: `ASSAY_BENCH_RUNS` asks for fewer. A finding that is wrong counts as all labels that can be
had (of one pool together, of two apart): a difference near the rope may be claimed after few labels
by chance. Before that, a made-up pool with more products of groups than cells.
"""

import csv
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.bench.measuring import line, quantiles, say
from tests.bench.paper.cases import of_run, opened, order_of
from tests.bench.paper.data import folder
from worker.assessment import assess
from worker.core.posterior.marginals import Marginal
from worker.core.posterior.pairwise import regions_of
from worker.core.posterior.summary import marginal
from worker.core.stopping.schedule import is_look
from worker.plan import load_plan
from worker.plan.defaults import DEFAULT_LOOKS
from worker.pool import compile_pool, open_pool
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.findings import true_region
from worker.simulate.measuring import Run, looks
from worker.simulate.replay import labels, replay
from worker.store.tally import tally_key

FAMILIES = {
    "cifar100": ("ji2018-top1", "resnet110-top1", "wrn16-4"),
    "cifar10h": ("densenet190", "preresnet110", "resnet110"),
}
EPSILON, CONFIDENCE = 0.01, 0.95
N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "20"))
N_CLASSES, N_ITEMS, N_CHOICES = 1_000, 500_000, 200
_REGIONS = ("below", "within", "above")


def run() -> None:
    """Print labels until the published decision: together, apart, and their ratio."""
    _shared()
    if not (folder() / "cifar100").is_dir():
        say(f"\nSeveral models: no data in {folder()}; set ASSAY_PAPER_DATA")
        return
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        for family, models in FAMILIES.items():
            for model in models:
                _write(here, family, model)
        found = np.array([*_which_is_better(here), *_worst_of_each(here)])
    ratios, whole = found[:, 0] / found[:, 1], found[:, 0].sum() / found[:, 1].sum()
    say(
        f"\nSeveral models, {len(found)} questions: ratios have the mean {ratios.mean():.2f}, the "
        f"geometric mean {np.exp(np.log(ratios).mean()):.2f}; of all labels together {whole:.2f}"
    )


def _shared() -> None:
    """Two made-up models of a thousand classes: compiling, opening and choosing."""
    say(f"\nTwo models, {N_CLASSES:,} classes, {N_ITEMS:,} items")
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        truth = _write_shared(here)
        plan = load_plan(here / "plan.yaml", for_simulation=True)
        began = time.perf_counter()
        pool = compile_pool(plan, here / "pools")
        line("compiled in", f"{time.perf_counter() - began:.1f} s", "")
        began = time.perf_counter()
        work = assess(plan, open_pool(pool.path, pool.file_sha256, pool.stat))
        line("opened in", f"{time.perf_counter() - began:.1f} s", "")
        assert work.several is not None, "two models"
        layout = work.several.models.layout
        line("portions, in cells", f"{layout.size.size:,} in {pool.n_cells:,}", "")
        line("rows of the views", ", ".join(f"{v.cell.size:,}" for v in work.several.views), "")
        line("compiled file", f"{pool.path.stat().st_size / 1e6:.0f} MB", "")
        left, pending = pool.cell_size.copy(), np.zeros_like(pool.cell_size)
        tally: dict[str, int] = {}
        believing, choosing = [], []
        for claim in range(N_CHOICES):
            began = time.perf_counter()
            belief = work.believe(tally)
            believing.append(time.perf_counter() - began)
            began = time.perf_counter()
            cell = work.choose(belief, left, pending, claim).cell
            choosing.append(time.perf_counter() - began)
            item = pool.item(int(pool.cell_start[cell] + pool.cell_size[cell] - left[cell]))
            key = tally_key(claim, cell, item.predicted, truth[item.item_id])
            tally[key] = tally.get(key, 0) + 1
            left[cell] -= 1
        line(f"{N_CHOICES} choices one by one, p50 / p95 of each", quantiles(choosing), "")
        line("... of the belief before it", quantiles(believing), "")
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line("... memory of it all at the most", f"{most:,.0f} MB", "")


def _write_shared(here: Path) -> dict[str, str]:
    """Write a plan with two models that take any class for any other; return item -> class."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, N_CLASSES, N_ITEMS)
    names = np.array([f"class-{k:04d}" for k in range(N_CLASSES)])
    ids = [f"item-{i:07d}" for i in range(N_ITEMS)]
    for model, accuracy in (("old", 0.6), ("new", 0.7)):
        is_right = rng.random(N_ITEMS) < accuracy
        said = np.where(is_right, truth, rng.integers(0, N_CLASSES, N_ITEMS))
        columns = {
            "item_id": pa.array(ids),
            "p": pa.array(names[said]).dictionary_encode(),
            "s": pa.array(rng.beta(np.where(is_right, 8, 4), 2).astype(np.float32)),
            "text": pa.array([f"text of {i}" for i in range(N_ITEMS)]),
        }
        pq.write_table(pa.table(columns), here / f"{model}.parquet")
    models = [
        {"name": name, "predictions": f"{name}.parquet", "predicted": "p", "score": "s"}
        for name in ("old", "new")
    ]
    values = {
        "models": models,
        "question": {"task": "identify"},
        "pool": {"data": {"text": "text"}},
    }
    (here / "plan.yaml").write_text(json.dumps(values))
    return dict(zip(ids, names[truth].tolist(), strict=True))


def _which_is_better(here: Path) -> Iterator[tuple[float, float]]:
    say(f"\nWhich model is better overall: rope {EPSILON}, {CONFIDENCE:.0%}, {N_RUNS} runs")
    for family, models in FAMILIES.items():
        courses = {model: _alone(here, family, model) for model in models}
        accuracy = {model: _accuracy(family, model) for model in models}
        for pair in combinations(models, 2):
            question = {"task": "compare"}
            rope = {"rope": {"epsilon": EPSILON, "confidence": CONFIDENCE}}
            joint = _runs(_case(here, family, pair, question, rope))
            difference = accuracy[pair[0]] - accuracy[pair[1]]
            apart = [
                _decided(*(courses[model][number] for model in pair)) for number in range(N_RUNS)
            ]
            region = true_region(difference, EPSILON)
            what = f"{family} {' - '.join(pair)} = {difference:+.4f}"
            yield _told(what, family, joint, [(n, found == region) for n, found in apart])


def _worst_of_each(here: Path) -> Iterator[tuple[float, float]]:
    question = {"task": "identify", "which": "lowest"}
    rule = {"mrr": {"threshold": 0.99, "confidence": CONFIDENCE}}
    say(f"\nWhich predicted class is the worst of each model: {CONFIDENCE:.0%}, {N_RUNS} runs")
    for family, models in FAMILIES.items():
        alone = {model: _runs(_case(here, family, (model,), question, rule)) for model in models}
        for pair in combinations(models, 2):
            joint = _runs(_case(here, family, pair, question, rule))
            both = list(zip(*(alone[model] for model in pair), strict=True))
            apart = [
                (sum(_labels(one) for one in runs), all(_is_right(one) for one in runs))
                for runs in both
            ]
            yield _told(f"{family} {', '.join(pair)}", family, joint, apart)


def _told(
    what: str, family: str, joint: list[Run], apart: list[tuple[int, bool]]
) -> tuple[float, float]:
    """Say and return the mean labels to a right finding, together and apart."""
    n_items = np.load(folder() / family / f"{FAMILIES[family][0]}.npz")["label"].size
    means, texts = [], []
    together = [(_labels(one), _is_right(one)) for one in joint]
    for runs, most in ((together, n_items), (apart, 2 * n_items)):
        means.append(float(np.mean([n if is_right else most for n, is_right in runs])))
        median, right = np.median([n for n, _ in runs]), np.mean([is_right for _, is_right in runs])
        texts.append(f"{means[-1]:6,.0f} (median {median:5,.0f}, {right:4.0%} right)")
    say(f"  {what:52s} together {texts[0]}  apart {texts[1]}  ratio {means[0] / means[1]:.2f}")
    return means[0], means[1]


def _labels(one: Run) -> int:
    return one.labels if one.stop is None else one.stop.labels


def _is_right(one: Run) -> bool:
    return one.stop is not None and one.stop.is_right


def _runs(case: Case) -> list[Run]:
    assessment, outcome = opened(case)
    return [replay(assessment, outcome, case.measures, case.seed, n) for n in range(N_RUNS)]


def _alone(here: Path, family: str, model: str) -> list[list[tuple[int, Marginal]]]:
    """The distribution of one model's accuracy after so many labels, of every run at every look."""
    case = _case(here, family, (model,), {"task": "estimate"}, {"rmse": 1e-6}, {"groups": "all"})
    assessment, outcome = opened(case)
    found = []
    for number in range(N_RUNS):
        own = of_run(assessment, case, number)
        asked = {*looks(case.n_items, None)}
        course = []
        for n, revealed in enumerate(labels(own, outcome, order_of(own)), start=1):
            if n in asked or is_look(n):
                course.append((n, marginal(revealed.belief, 0)))
        found.append(course)
    return found


def _decided(
    first: list[tuple[int, Marginal]], second: list[tuple[int, Marginal]]
) -> tuple[int, str]:
    """Labels of both models, growing at one pace, and the finding, by the rule of the plan."""
    at_points: list[str | None] = []
    for (n, one), (_, other) in zip(first, second, strict=True):
        region = regions_of([one, other], [(0, 1)], EPSILON)[0]
        found = _REGIONS[int(np.argmax(region))] if max(region) >= CONFIDENCE else None
        earlier = at_points[-(DEFAULT_LOOKS - 1) :]
        if found and earlier == [found] * (DEFAULT_LOOKS - 1):
            return 2 * n, found
        if is_look(n):
            at_points.append(found)
    return 2 * first[-1][0], _REGIONS[int(np.argmax(region))]


def _accuracy(family: str, model: str) -> float:
    data = np.load(folder() / family / f"{model}.npz")
    return float((data["pred"] == data["label"]).mean())


def _write(here: Path, family: str, model: str) -> None:
    data = np.load(folder() / family / f"{model}.npz")
    names = (folder() / family / "classes.txt").read_text().split("\n")
    with (here / f"{family}-{model}.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "p", "s", "truth", "all"])
        columns = data["pred"].tolist(), data["score"].tolist(), data["label"].tolist()
        for at, (predicted, score, label) in enumerate(zip(*columns, strict=True)):
            rows.writerow([at, names[predicted], f"{score:.6f}", names[label], "all"])


def _case(
    here: Path,
    family: str,
    models: tuple[str, ...],
    question: dict[str, object],
    stop: dict[str, object],
    pool: dict[str, object] | None = None,
) -> Case:
    files = [
        {"predictions": f"{family}-{model}.csv", "predicted": "p", "score": "s"} for model in models
    ]
    values: dict[str, object] = {"question": question, "stop": stop, "pool": pool or {}}
    if len(models) == 1:
        values["pool"] = {**files[0], **(pool or {})}
    else:
        values["models"] = [
            {"name": model, **file} for model, file in zip(models, files, strict=True)
        ]
    path = here / "plan.yaml"
    path.write_text(json.dumps(values))
    return prepare(path, here / "pools", Asked("truth", seed=1, only_stop=True))[0]
