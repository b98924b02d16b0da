"""The baseline that Assay is compared with is the paper's method, and its authors' code."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import beta

from tests.bench.paper import agreement, figures
from tests.bench.paper.accuracy import METHODS, Betas, identify, prior_of
from tests.bench.paper.calibration import expected_gap
from tests.bench.paper.comparing import GRID, one_more, region_probabilities
from tests.bench.paper.confusion import error, mean_scores, true_matrix
from tests.bench.paper.costs import levels
from tests.bench.paper.data import Groups, Ints, Pool, by_class, folder, grouped, load
from tests.bench.paper.measures import labels_to, mrr
from tests.bench.paper.replaying import Rng, label_at_random, label_by_reward
from tests.bench.paper.rivals import Chooser, Way

with_data = pytest.mark.skipif(not folder().exists(), reason="the paper's pools are not here")
N_RUNS = 200  # of Table 6
RUNS = range(4)


class Counting(Betas):
    """Betas that remember which items they were told of."""

    def __init__(self, groups: Groups) -> None:
        super().__init__(groups, prior_of(groups, "IPrior"), len(RUNS), "identify")
        self.seen: list[Ints] = []

    def reward(self, runs: Ints, rng: Rng) -> np.ndarray:
        return super().reward(runs, rng)

    def learn(self, group: Ints, item: Ints) -> None:
        super().learn(group, item)
        assert (self.groups.of[item] == group).all()
        self.seen.append(np.asarray(item))


@pytest.fixture
def groups() -> Groups:
    rng = np.random.default_rng(1)
    of = rng.integers(0, 5, 203)
    return grouped(of, 6, rng.random(203) < 0.8, rng.random(203))  # the sixth is empty


@pytest.mark.parametrize("top", [0, 1, 3])
def test_every_run_labels_every_item_once_whichever_way_it_chooses(groups: Groups, top: int):
    model = Counting(groups)
    if top:
        steps = label_by_reward(model, groups.of, groups.n, RUNS, 203, top)
    else:
        steps = label_at_random(model, groups.of, RUNS, 203)

    assert list(steps) == list(range(10, 210, 10))
    items = np.sort(np.stack(model.seen), axis=0)
    assert (items == np.arange(203)[:, None]).all()
    np.testing.assert_allclose(
        (model.alpha - prior_of(groups, "IPrior")[0])[0], groups.accuracy * groups.size
    )


def test_thompson_sampling_labels_the_worst_group_most(groups: Groups):
    easy = grouped(groups.of, 6, groups.of != 2, groups.score[groups.of])
    model = Counting(easy)
    list(label_by_reward(model, easy.of, easy.n, RUNS, 30))

    chosen = np.bincount(easy.of[np.stack(model.seen).ravel()], minlength=6)
    assert chosen.argmax() == 2


@pytest.mark.parametrize("way", ["TS", "TTTS", "epsilon-greedy", "Bayes-UCB"])
def test_every_way_labels_the_worst_class_most_and_the_most_biased_one(groups: Groups, way: Way):
    easy = grouped(groups.of, 6, groups.of != 2, np.where(groups.of == 3, 3.0, 0.5))
    for of, worst in (("accuracy", 2), ("bias", 3)):
        model = Chooser(easy, False, len(RUNS), way, of)
        list(label_by_reward(model, easy.of, easy.n, RUNS, 60))
        n = (model.alpha + model.beta).sum(axis=0)
        assert n[:5].argmax() == worst
        assert (model.lowest_first().argmin(axis=1) == worst).mean() >= 0.5


def test_top_two_spends_half_of_its_labels_on_others_than_the_worst_class(groups: Groups):
    easy = grouped(groups.of, 6, groups.of != 2, groups.score[groups.of])
    share = {}
    for way in ("TS", "TTTS"):
        model = Chooser(easy, False, 200, way, "accuracy")
        list(label_by_reward(model, easy.of, easy.n, range(200), 20))
        known = (model.alpha + model.beta - 2).sum(axis=0)
        share[way] = known[2] / known.sum()
    assert share["TTTS"] < 0.55 < 0.65 < share["TS"]


def test_a_strong_belief_in_scores_that_are_wrong_holds_the_truth_nowhere(monkeypatch):
    rng = np.random.default_rng(4)
    score, predicted = rng.uniform(0.5, 1, 4000), np.zeros(4000, dtype=np.int64)
    label = (rng.random(4000) > score - 0.3).astype(np.int64)
    pool = Pool("made", 2, predicted, score, label, None)
    monkeypatch.setattr(figures, "load", lambda _: pool)
    weak, strong = (figures.binned("made", s, (200, 1000), 20) for s in (2, 1000))
    assert weak["1000"]["held"] > 0.9
    assert strong["200"]["held"] < 0.05
    errors = figures.by_true_class("made", (200, 4000), 5)
    assert errors["4000"][0] < errors["200"][0] / 2


def test_true_members_ahead_are_not_counted_in_the_reciprocal_rank():
    value = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.3, 0.1, 0.2, 0.4]])
    worst = np.array([True, True, False, False])

    np.testing.assert_allclose(mrr(value, worst), [1, 1 / 3, (1 + 1 / 2) / 2])


def test_the_mark_is_a_share_of_the_highest_point_where_a_ranking_never_becomes_right():
    assert labels_to(np.array([0.5, 0.8, 0.9]), 0.99) == 30
    assert labels_to(np.array([0.5, 0.995, 0.9]), 0.99) == 20


@pytest.mark.parametrize("params", [(1.9, 0.1, 1.8, 0.2), (30, 2, 28, 6), (900, 60, 950, 20)])
def test_the_probabilities_of_the_three_regions_are_those_of_draws(params: tuple[float, ...]):
    a, b, c, d = params
    rng = np.random.default_rng(0)
    gap = rng.beta(a, b, 400_000) - rng.beta(c, d, 400_000)
    distributions = [betainc([[p]], [[q]], GRID) for p, q in ((a, b), (c, d))]

    expected = [(gap < -0.05).mean(), (abs(gap) <= 0.05).mean(), (gap > 0.05).mean()]
    np.testing.assert_allclose(region_probabilities(*distributions)[0], expected, atol=0.005)


def test_one_more_label_moves_a_distribution_function_as_the_posterior_does():
    distribution = betainc([[3.5]], [[0.7]], GRID)
    right, wrong = one_more(distribution, np.array([3.5]), np.array([0.7]))

    np.testing.assert_allclose(right[0], betainc(4.5, 0.7, GRID), atol=1e-12)
    np.testing.assert_allclose(wrong[0], betainc(3.5, 1.7, GRID), atol=1e-12)


def test_the_expected_gap_to_a_score_is_the_integral():
    value, _ = quad(lambda t: abs(t - 0.8) * beta(2.3, 1.7).pdf(t), 0, 1, points=[0.8])
    gap = expected_gap(np.array([2.3]), np.array([1.7]), np.array([0.8]))

    assert gap[0] == pytest.approx(value, abs=1e-7)


@with_data
def test_the_files_are_the_pools_that_the_paper_speaks_of():
    cifar = load("cifar100")
    groups = by_class(cifar)
    assert (groups.of.size, groups.n) == (10_000, 100)
    assert (folder() / "cifar100" / "classes.txt").read_text(encoding="utf-8").split()[
        int(groups.accuracy.argmin())
    ] == "lizard"


@with_data
def test_every_mistake_of_the_cost_matrices_is_dear_or_not_and_no_right_answer_costs():
    for kind, n_dear in (("human", 99 * 5), ("superclass", 100 * 95)):
        level = levels(kind)  # type: ignore[arg-type]
        assert (np.diag(level) == 0).all()
        assert (level == 2).sum() == n_dear


@with_data
def test_the_score_prior_alone_is_as_far_from_the_confusion_matrix_as_was_measured():
    for name, measured in (("svhn", 0.0150), ("20newsgroups", 0.210)):
        pool = load(name)
        share = np.bincount(pool.predicted, minlength=pool.n_classes) / pool.label.size
        far = error(mean_scores(pool), true_matrix(pool), share)
        assert far == pytest.approx(measured, rel=0.01)


@with_data
@pytest.mark.long
def test_the_authors_code_lies_within_monte_carlo_error_of_the_baseline_with_its_quirks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    rows = agreement.compared(N_RUNS)

    assert [row for row in rows if not row.is_near] == []


@with_data
@pytest.mark.slow
def test_thompson_sampling_with_the_score_prior_finds_the_worst_class_with_fewer_labels():
    labels = {m: identify("20newsgroups", m, 1, 60)["labels_to_mrr95"] for m in METHODS}

    assert labels["IPrior+TS"] < 0.6 * labels["IPrior"]
