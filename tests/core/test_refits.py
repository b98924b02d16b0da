"""When looks are taken, when the empirical prior is fitted again, and to which labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from worker.core.stopping.schedule import (
    POINTS,
    epoch,
    fitted_at,
    is_look,
    is_refit,
    n_looks_before,
    stage,
)


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_stage_begins_with_the_claims_of_the_epochs_before_it(n_labels, claim):
    k = stage(n_labels)
    assert (epoch(claim) < k) == (k > 0 and claim < POINTS[k - 1])
    assert k == 0 or POINTS[k - 1] <= n_labels
    assert n_labels < POINTS[k]


@given(st.integers(0, 10**6))
def test_a_look_is_taken_where_a_new_stage_begins(n_labels):
    assert is_look(n_labels) == (n_labels > 0 and stage(n_labels) > stage(n_labels - 1))


@given(st.integers(1, 10**6))
def test_what_confirms_a_claim_was_seen_four_labels_before_it(n_labels):
    n = n_looks_before(n_labels)
    assert n == 0 or POINTS[n - 1] + 4 <= n_labels
    assert n_labels < POINTS[n] + 4


@given(st.integers(1, 10**6))
def test_a_refit_is_where_the_stage_of_the_fit_is_another(n_labels):
    is_another = fitted_at(stage(n_labels)) > fitted_at(stage(n_labels - 1))
    assert is_refit(n_labels) == (n_labels <= POINTS[0] or is_another)


@given(st.integers(1, 300))
def test_in_the_order_of_claims_a_refit_sees_all_labels_so_far(n_labels):
    if is_refit(n_labels):
        seen = fitted_at(stage(n_labels))
        early = [claim for claim in range(n_labels + 50) if epoch(claim) < seen]
        assert early == list(range(max(n_labels, POINTS[0])))


def test_a_fit_is_never_older_than_a_look():
    assert all(0 <= k - fitted_at(k) <= 1 for k in range(1, 200))


def test_before_the_first_look_every_label_is_fitted_to():
    assert fitted_at(0) == fitted_at(1) == 1
    assert all(is_refit(n) for n in range(1, POINTS[0] + 1))


def test_looks_grow_rare_so_that_a_whole_pool_needs_few():
    assert stage(10_000) < 75
    assert stage(1_000_000) < 125
    assert (np.diff(POINTS) >= 4).all()
