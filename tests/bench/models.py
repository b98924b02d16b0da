"""Several models, the same labels: what joint assessments cost beside one for each model.

Real pairs of models; the data is read in place (see `tests.bench.paper.data`). Twenty runs take
hours: `ASSAY_BENCH_RUNS` asks for fewer. A finding that is wrong counts as all labels that can be
had (of one pool together, of two apart): a difference near the rope may be claimed after few labels
by chance.
"""

import csv
import json
import os
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from tests.bench.measuring import say
from tests.bench.paper.cases import of_run, opened, order_of
from tests.bench.paper.data import folder
from worker.core.posterior.marginals import Marginal
from worker.core.posterior.pairwise import regions_of
from worker.core.posterior.summary import marginal
from worker.core.stopping.schedule import is_look
from worker.plan.defaults import DEFAULT_LOOKS
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.findings import true_region
from worker.simulate.measuring import Run
from worker.simulate.replay import labels, replay
from worker.simulate.schedule import looks

FAMILIES = {
    "cifar100": ("ji2018-top1", "resnet110-top1", "wrn16-4"),
    "cifar10h": ("densenet190", "preresnet110", "resnet110"),
}
EPSILON, CONFIDENCE = 0.01, 0.95
N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "20"))
_REGIONS = ("below", "within", "above")


def run() -> None:
    """Print labels until the published decision: together, apart, and their ratio."""
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
