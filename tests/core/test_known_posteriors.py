"""The posteriors that the paper states for its own data, through the core."""

import csv

import numpy as np
import pytest

from tests.bench.paper.data import folder, grouped, load
from worker.core.posterior.belief import Belief
from worker.core.posterior.summary import marginal
from worker.core.prior.priors import uniform
from worker.core.questions.comparison import region
from worker.core.questions.ranking import ranking, set_confidence

pytestmark = pytest.mark.skipif(
    not (folder() / "cifar100").exists(), reason="the paper's data is not here"
)


def all_labels(of_class=None):
    """The paper's posterior after all labels, by predicted class or by a grouping of these."""
    pool = load("cifar100")
    of_class = np.arange(100) if of_class is None else of_class
    n = int(of_class.max()) + 1
    groups = grouped(of_class[pool.predicted], n, pool.predicted == pool.label, pool.score)
    right = np.bincount(groups.of, groups.right, n).astype(int)
    sizes = groups.size
    return Belief(np.arange(n), sizes, right, sizes - right, *uniform(n), n, "infinite")


def superclasses():
    """The superclass of every class, and the superclasses' names."""
    with (folder() / "cifar100" / "superclasses.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    of = np.array([int(r["superclass"]) for r in sorted(rows, key=lambda r: int(r["class"]))])
    return of, {r["superclass_name"]: int(r["superclass"]) for r in rows}


def names():
    return (folder() / "cifar100" / "classes.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize(("name", "distribution"), [("people", (280, 203)), ("trees", (351, 162))])
def test_superclasses_have_the_stated_betas(name, distribution):
    of, index = superclasses()
    found = marginal(all_labels(of), index[name])
    assert (found.a, found.b) == distribution


def test_people_are_less_accurate_than_trees_with_the_stated_probability():
    of, index = superclasses()
    p = region(all_labels(of), index["people"], index["trees"], 0.05)
    assert p[0] == pytest.approx(0.96, abs=0.01)


def test_woman_is_less_accurate_than_man_with_the_stated_probability():
    p = region(all_labels(), names().index("woman"), names().index("man"), 0.05)
    assert p[0] == pytest.approx(0.82, abs=0.01)


def test_lizard_is_the_least_accurate_class_with_the_stated_probability():
    b, lizard = all_labels(), names().index("lizard")
    assert ranking(b)[0] == lizard
    assert set_confidence(b, [lizard]) == pytest.approx(0.68, abs=0.01)
