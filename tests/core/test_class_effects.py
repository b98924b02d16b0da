"""What labels of a predicted class in other groups say of a cell."""

import numpy as np
import pytest
from scipy import special

from worker.core.prior.class_effects import Cells, fit
from worker.core.prior.hyperparameters import Scores

SITES, CLASSES = 5, 8
GROUP, UNIT = np.divmod(np.arange(SITES * CLASSES), CLASSES)
SIZE = np.full(GROUP.size, 30)
FLAT = Scores(np.zeros(GROUP.size), np.zeros(GROUP.size))


def fitted(right, wrong):
    return fit(Cells(np.asarray(right), np.asarray(wrong), GROUP, UNIT, SIZE), FLAT)


def some_labels(n=6, wrong_class=2):
    """All right but in one class, everywhere."""
    right = np.full(GROUP.size, n)
    right[wrong_class == UNIT] = 1
    return right, n - right


def test_without_labels_no_class_is_apart_from_others():
    none = np.zeros(GROUP.size, np.int64)
    level = fitted(none, none)[1]
    assert level.shift == pytest.approx(np.zeros(GROUP.size))
    assert (level.apart > 0).all()
    assert level.left == pytest.approx(np.ones(GROUP.size))


def test_a_class_that_is_wrong_in_some_groups_is_expected_to_be_in_the_others():
    right, wrong = some_labels()
    right[GROUP == 4] = wrong[GROUP == 4] = 0  # of which nothing is known
    shift = fitted(right, wrong)[1].shift[GROUP == 4]
    assert shift.argmin() == 2
    assert shift[2] < np.delete(shift, 2).min() - 1.5


def test_a_cells_own_labels_do_not_shift_it():
    right, wrong = some_labels()
    right[UNIT == 3] = wrong[UNIT == 3] = 0
    right[3], wrong[3] = 0, 6  # the only labels of this class
    level = fitted(right, wrong)[1]
    elsewhere = (UNIT == 3) & (GROUP == 1)
    assert level.shift[elsewhere] < -1
    assert level.shift[3] > level.shift[elsewhere] + 1
    assert level.shift[3] > -1.5 * np.sqrt(level.apart[3])


@pytest.mark.parametrize("sd", [0.0, 0.3, 0.6, 1.0])
def test_classes_are_apart_by_what_is_said_to_be_uncertain(sd):
    """Classes that are drawn from a normal, not a Cauchy: 95% lie within 1.96 standard errors."""
    rng = np.random.default_rng(2)
    away = []
    for _ in range(20):
        effect = sd * rng.standard_normal(CLASSES)
        n = rng.integers(0, 8, GROUP.size)
        right = rng.binomial(n, special.expit(1.2 + effect)[UNIT])
        level = fitted(right, n - right)[1]
        away.append(((effect - effect.mean())[UNIT] - level.shift) / np.sqrt(level.apart))
    assert np.mean(np.abs(away) < 1.96) > 0.88


def test_of_many_classes_those_with_most_labels_are_told_apart_and_the_others_stay_uncertain():
    group, unit = np.divmod(np.arange(400), 200)
    right = np.where(unit < 100, 2, 0)
    flat = Scores(np.zeros(400), np.zeros(400))
    cells = Cells(right, np.where(unit == 0, 8, 0), group, unit, np.full(400, 5))
    level = fit(cells, flat)[1]
    assert level.shift[unit == 0].max() < -0.5
    assert level.apart[unit >= 100].min() >= level.apart[(unit > 0) & (unit < 60)].max()
