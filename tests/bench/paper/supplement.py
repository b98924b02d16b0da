"""The tables of the supplement, its sensitivity analyses, and how well the reruns agree."""

from collections.abc import Mapping

from tests.bench.paper import calibration, classwise, costs
from tests.bench.paper.accuracy import METHODS, Method
from tests.bench.paper.cache import Value, remembered
from tests.bench.paper.data import load
from tests.bench.paper.ours import identified
from tests.bench.paper.section import NAMES, Section, Size, number, printed, shown, triple
from tests.bench.paper.svg import line_plot
from tests.bench.paper.tables import TOPS, identification, ranked

COUNTS = (20, 50, 100, 200, 500, 1000, 2000, 5000)
SMALLER = {pool: tops for pool, tops in TOPS.items() if pool != "imagenet"}
ACTIVE: tuple[Method, ...] = ("IPrior", "IPrior+TS")


def calibrated(pool: str, top: int, size: Size) -> Value | None:
    """Assay's row of supplement Table 2."""
    question: Value = {"task": "identify", "metric": "ece", "top": top}
    runs = min(size.ours, _runs(pool, size))
    theirs = _calibrated(pool, "IPrior+TS", top, _runs(pool, size), False)["labels_to_mrr99"]
    return _found(pool, question, runs, theirs)


def calibrated_ratio(pool: str, top: int, size: Size) -> float | None:
    """Assay's labels to the least calibrated over those of IPrior+TS."""
    theirs = _calibrated(pool, "IPrior+TS", top, _runs(pool, size), False)
    return _ratio(calibrated(pool, top, size), theirs)


def costly(kind: costs.Kind, ratio: float, top: int, size: Size) -> Value | None:
    """Assay's row of supplement Tables 3 and 4."""
    question: Value = {"task": "identify", "metric": "cost", "costs": kind}
    question |= {"cost_ratio": ratio, "top": top}
    theirs = _cost(kind, ratio, "IPrior+TS", top, size.runs)["labels_to_mrr99"]
    return _found("cifar100-wrn", question, size.ours, theirs)


def cost_ratio(kind: costs.Kind, ratio: float, top: int, size: Size) -> float | None:
    """Assay's labels to the most costly over those of IPrior+TS."""
    return _ratio(costly(kind, ratio, top, size), _cost(kind, ratio, "IPrior+TS", top, size.runs))


def table_2(size: Size) -> Section:
    """Least calibrated classes."""
    rows: list[tuple[str, ...]] = []
    for pool, tops in TOPS.items():
        runs = _runs(pool, size)
        for top in tops:
            cells = []
            for quirks in (True, False):
                for method in ACTIVE:
                    found = _calibrated(pool, method, top, runs, quirks)
                    labels, n = found["labels_to_mrr99"], found["n_items"]
                    cells.append(number(100 * labels / n if labels else None))
            our = calibrated(pool, top, size)
            labels = our["labels_to_mrr99"] if our else None
            ours = number(100 * labels / n if labels else None)
            print_ = printed("supplement_table_2", pool)
            at = 0 if top == 1 else 2
            paper = triple(print_[at : at + 2] if print_ else None)
            pairs = (f"{cells[0]} / {cells[1]}", f"{cells[2]} / {cells[3]}")
            rows.append((f"{shown(pool)}, {top}", str(runs), paper, *pairs, ours))
    return Section(
        "Supplement Table 2: least calibrated predicted classes, percent of the pool",
        "Without TS / IPrior+TS to mean MRR > .99. With quirks: a tenth of the pool is set aside "
        "(so nothing can need more than 90%), the baseline draws classes and not items, weights "
        "and scores of bins come from the labelled items, the truth from their own posterior.",
        ("pool, m", "runs", "printed", "with quirks", "plain", "Assay"),
        rows,
    )


def table_3_and_4(size: Size) -> Section:
    """Costs, with the sensitivity to the relative cost."""
    rows, plots = list[tuple[str, ...]](), {}
    kinds: tuple[costs.Kind, ...] = ("human", "superclass")
    for kind, table in zip(kinds, ("supplement_table_3", "supplement_table_4"), strict=True):
        for ratio in (1, 2, 5, 10):
            for top in (1, 10):
                labels = {m: _cost(kind, ratio, m, top, size.runs) for m in METHODS}
                marks = [labels[m]["labels_to_mrr99"] for m in METHODS]
                our = costly(kind, ratio, top, size)
                own = our["labels_to_mrr99"] if our else None
                of_theirs = cost_ratio(kind, ratio, top, size)
                paper = printed(table, str(ratio), str(top))
                cells = (triple(paper, 0), triple(marks, 0), number(own, 0), number(of_theirs, 2))
                rows.append((kind, str(ratio), str(top), *cells))
                plots[f"cost-{kind}-{ratio}-{top}"] = _curves("cifar100-wrn", top, labels)
    return Section(
        "Supplement Tables 3 and 4: labels to find the predicted classes of highest cost",
        f"UPrior / IPrior / IPrior+TS, {size.runs} runs, CIFAR-100 with the WRN-16-4 (the paper's "
        "full vectors are not to be had). A relative cost of 1 asks the same under both types; "
        "the printed numbers differ there by a factor of two.",
        ("type", "relative cost", "m", "printed", "rerun here", "Assay", "Assay / IPrior+TS"),
        rows,
        plots,
    )


def prior_strength(size: Size) -> Section:
    """Figure 15: the strength of the prior."""
    rows, plots = list[tuple[str, ...]](), {}
    for pool, tops in SMALLER.items():
        for top in tops:
            flat = identification(pool, "UPrior", top, size.runs, True)
            found = {
                f"strength {s}": identification(pool, "IPrior+TS", top, size.runs, True, s)
                for s in (2, 10, 100)
            }
            cells = [number(flat["labels_to_mrr99"], 0), *map(_marks, found.values())]
            rows.append((f"{shown(pool)}, {top}", *cells, _marks(ranked(pool, top, size))))
            plots[f"strength-{pool}-{top}"] = _curves(pool, top, {"frequentist": flat} | found)
    return Section(
        "Sensitivity: the strength of the prior (supplement, Figure 15)",
        "Labels to mean MRR > .95 / > .99 of IPrior+TS with prior strength 2, 10 and 100; first "
        "column: no prior and random items, > .99; last: Assay, which learns the strength.",
        ("pool, m", "frequentist", "2", "10", "100", "Assay"),
        rows,
        plots,
    )


def prior_strength_of_bins(size: Size) -> Section:
    """Figure 16: the strength of the prior in every bin of every class."""
    rows, plots = list[tuple[str, ...]](), {}
    for pool, tops in SMALLER.items():
        for top in tops:
            found = {"random items": _calibrated(pool, "IPrior", top, min(size.runs, 100), False)}
            for s in (2, 5, 10):
                runs = min(size.runs, 100)
                found[f"strength {s}"] = _calibrated(pool, "IPrior+TS", top, runs, False, s)
            own = calibrated(pool, top, size) if size.ours else None
            rows.append((f"{shown(pool)}, {top}", *map(_marks, found.values()), _marks(own)))
            plots[f"strength-ece-{pool}-{top}"] = _curves(pool, top, found)
    return Section(
        "Sensitivity: the strength of the prior, least calibrated classes (supplement, Figure 16)",
        "Labels to mean MRR > .95 / > .99 of IPrior+TS with prior strength 2, 5 and 10 in a bin, "
        "100 runs, beside random items at strength 2; last: Assay, which learns the strength.",
        ("pool, m", "random items", "2", "5", "10", "Assay"),
        rows,
        plots,
    )


def frequentist_ece(size: Size) -> Section:
    """Figure 3: the ECE of N random labels."""
    rows: list[tuple[str, ...]] = []
    plots = {}
    runs = min(size.runs, 100)
    for pool in TOPS:
        at = COUNTS
        found = remembered(calibration.ece_errors, name=pool, at=at, n_runs=runs)
        for n in at:
            value: dict[str, list[float]] = found[str(n)]
            cells = [
                " / ".join(f"{x:+.1f}" for x in v[:1]) + f" ({v[1]:.1f})" for v in value.values()
            ]
            rows.append((shown(pool), str(n), *cells))
        curves = {key: [[n, found[str(n)][key][0]] for n in at] for key in value}
        plots[f"ece-{pool}"] = line_plot(
            f"{NAMES[pool]}: error of the ECE of N random labels", curves, "labels", "percent", True
        )
    return Section(
        "Frequentist ECE beside the Bayesian one (supplement, Figure 3)",
        f"Mean of (ECE of N random labels − ECE of the pool) / ECE of the pool in percent, in "
        f"brackets the mean absolute error, {runs} runs, ten bins of equal width, prior strength "
        "2. Bayesian: the posterior mean of the ECE; plug-in: the ECE of the posterior means.",
        ("pool", "N", "Bayesian", "plug-in", "frequentist"),
        rows,
        plots,
    )


def _runs(pool: str, size: Size) -> int:
    """Runs of supplement Table 2: all of them for the numbers that were asked."""
    most = {"imagenet": 20, "svhn": 100}
    return min(size.runs, most.get(pool, size.runs))


def _found(pool: str, question: Value, n_runs: int, theirs: int | None) -> Value | None:
    """Assay, first with half of the labels that the paper's method took."""
    first = max(10, theirs // 2) if theirs else load(pool).label.size
    return identified(pool, question, n_runs, first, with_stops=False) if n_runs else None


def _ratio(own: Value | None, theirs: Value) -> float | None:
    labels, of = own and own["labels_to_mrr99"], theirs["labels_to_mrr99"]
    return labels / of if labels and of else None


def _curves(pool: str, top: int, found: Mapping[str, Value]) -> str:
    curves = {name: of["curve"] for name, of in found.items()}
    return line_plot(f"{shown(pool)}, {top}", curves, "labels", "mean MRR", y_range=(0, 1))


def _marks(found: Value | None) -> str:
    if not found:
        return "–"
    return " / ".join(number(found[f"labels_to_mrr{mark}"], 0) for mark in (95, 99))


def _calibrated(
    pool: str, method: Method, top: int, runs: int, quirks: bool, strength: float = 2
) -> Value:
    settings: Value = {"method": method, "top": top, "n_runs": runs, "quirks": quirks}
    settings["strength"] = strength
    return remembered(classwise.identify, name=pool, **settings)


def _cost(kind: costs.Kind, ratio: float, method: Method, top: int, runs: int) -> Value:
    settings = {"ratio": ratio, "method": method, "top": top, "n_runs": runs}
    return remembered(costs.identify, kind=kind, **settings)
