"""What each kind of error costs: by a file, or by one of the two rules of the paper's supplement.

The costs are read once and kept in the compiled pool, so that no later change of the file alters
a running assessment.
"""

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.errors import PlanError
from worker.nearest import did_you_mean, listed
from worker.plan import Plan
from worker.plan.question_part import QuestionPlan
from worker.pool.file import Pool
from worker.pool.superclasses import superclass_of_each

Costs = NDArray[np.float64]

PEOPLE = ("baby", "boy", "girl", "man", "woman")  # the persons among the classes of CIFAR-100
PEOPLE_ABOVE = "people"  # what they are called together


def cost_matrix(plan: Plan, pool: Pool) -> Costs:
    """Return the costs (K, K) of a pool that was compiled for the metric cost.

    Entry [j, k] is the cost of predicting class k for an item whose true class is j.

    Raises:
        PlanError: the pool was compiled without costs.
    """
    if pool.costs is None:
        metric = plan.question.metric
        raise PlanError(
            [
                f"question.costs: the pool was compiled without costs (the metric is {metric}); "
                "write `metric: cost` and compile it again"
            ]
        )
    return pool.costs


def read_costs(question: QuestionPlan, classes: Sequence[str]) -> Costs:
    """Return the costs (K, K), [true, predicted], that `question.costs` means.

    Raises:
        PlanError: a file that is not K x K finite numbers or whose names are not the classes; or
            nobody knows which classes are people.
        PredictionsError: a superclass map that cannot be used.
    """
    path = question.cost_path
    if path is not None:
        return _from_file(path, classes)
    ratio, above = question.cost_ratio, None
    assert ratio is not None, "named costs have a ratio"
    if question.superclasses is not None:
        above = superclass_of_each(question.superclasses, "question.superclasses", classes)
    if question.costs == "superclass":
        assert above is not None, "a plan with the costs superclass has a map"
        return superclass_costs(above, ratio)
    return human_costs(classes, _people(question, classes, above), ratio)


def human_costs(classes: Sequence[str], people: Collection[str], ratio: float) -> Costs:
    """An error costs `ratio` where the true class is a person, else 1; a right answer nothing.

    Source: "Human" of the supplement of Ji, Logan, Smyth & Steyvers (AAAI 2021), ratio 10.
    """
    is_person = np.array([name in people for name in classes])
    costs = np.repeat(np.where(is_person, ratio, 1.0)[:, None], len(classes), axis=1)
    np.fill_diagonal(costs, 0.0)
    return costs


def superclass_costs(above: Sequence[str], ratio: float) -> Costs:
    """An error costs `ratio` across superclasses, 1 within one; a right answer costs nothing.

    Args:
        above: the superclass of each of the K classes.
        ratio: > 0.

    Source: "Superclass" of the supplement of Ji, Logan, Smyth & Steyvers (AAAI 2021), ratio 10.
    """
    names = np.array(above)
    costs = np.where(names[:, None] == names[None, :], 1.0, ratio)
    np.fill_diagonal(costs, 0.0)
    return costs


def _people(
    question: QuestionPlan, classes: Sequence[str], above: Sequence[str] | None
) -> tuple[str, ...]:
    if question.people is not None:
        problems = [
            f"question.people: the class {name!r} is not known{did_you_mean(name, classes)}; the "
            f"classes are {listed(classes)}"
            for name in question.people
            if name not in classes
        ]
        if problems:
            raise PlanError(problems)
        return question.people
    found = [name for name, of in zip(classes, above or (), strict=False) if of == PEOPLE_ABOVE]
    found = found or [name for name in PEOPLE if name in classes]
    if not found:
        raise PlanError(
            [
                "question.people: missing, and no class is called as the people of CIFAR-100 "
                f"({listed(PEOPLE)}); list the classes that are people"
            ]
        )
    return tuple(found)


def _from_file(path: Path, classes: Sequence[str]) -> Costs:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlanError([f"question.costs: {path} cannot be read ({error})"]) from error
    rows = [row for row in rows if any(row)]
    n = len(classes)
    down, across = list(range(n)), list(range(n))
    if _is_named(rows, classes):
        down = _places(path, "first column", [row[0] for row in rows[1:]], classes)
        across = _places(path, "first row", rows[0][1:], classes)
        rows = [row[1:] for row in rows[1:]]
    widths = sorted({len(row) for row in rows})
    if len(rows) != n or widths != [n]:
        wide = " or ".join(str(width) for width in widths) or "no"
        raise PlanError(
            [
                f"question.costs: {path} has {len(rows)} rows of {wide} costs, expected {n} rows "
                f"of {n}, one for each of the {n} classes; rows are true classes, columns "
                "predicted ones"
            ]
        )
    costs = np.array([[_number(cell) for cell in row] for row in rows])
    bad = np.argwhere(~np.isfinite(costs))
    if bad.size:
        row, column = (int(at) for at in bad[0])
        true, said = classes[down[row]], classes[across[column]]
        raise PlanError(
            [
                f"question.costs: {path} has {rows[row][column]!r} for the true class {true} "
                f"predicted as {said} ({len(bad)} such in all), expected a finite number; write a "
                "cost for every pair of classes, 0 for right answers"
            ]
        )
    ordered = np.empty_like(costs)
    ordered[np.ix_(down, across)] = costs
    return ordered


def _is_named(rows: Sequence[Sequence[str]], classes: Sequence[str]) -> bool:
    """Whether a table begins with a row of names; the classes themselves may be numbers."""
    first = rows[0][1:] if rows else ()
    if not first:
        return False
    has_a_row_more = len(rows) == len(classes) + 1 and any(cell in classes for cell in first)
    return has_a_row_more or all(np.isnan(_number(cell)) for cell in first)


def _places(path: Path, where: str, names: Sequence[str], classes: Sequence[str]) -> list[int]:
    place = {name: at for at, name in enumerate(classes)}
    problems = [
        f"question.costs: {path} names {name!r} in its {where}, which is no class"
        f"{did_you_mean(name, classes)}; the classes are {listed(classes)}"
        for name in dict.fromkeys(names)
        if name not in place
    ]
    problems += [
        f"question.costs: {path} names the class {name} {names.count(name)} times in its {where}, "
        "expected once"
        for name in classes
        if names.count(name) != 1
    ]
    if problems:
        raise PlanError(problems[:5])
    return [place[name] for name in names]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
