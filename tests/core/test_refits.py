"""When the empirical prior is fitted again, and to which labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from worker.core.schedule import POINTS, epoch, is_due, stage


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_stage_is_fitted_to_the_claims_of_the_epochs_before_it(n_labels, claim):
    k = stage(n_labels)
    assert (epoch(claim) < k) == (k > 0 and claim < POINTS[k - 1])
    assert k == 0 or POINTS[k - 1] <= n_labels
    assert n_labels < POINTS[k]


@given(st.integers(0, 10**6))
def test_a_refit_is_due_where_a_new_stage_begins(n_labels):
    assert is_due(n_labels) == (n_labels > 0 and stage(n_labels) > stage(n_labels - 1))


@given(st.integers(1, 300))
def test_in_the_order_of_claims_a_refit_that_is_due_sees_all_labels_so_far(n_labels):
    if is_due(n_labels):
        early = [claim for claim in range(n_labels + 50) if epoch(claim) < stage(n_labels)]
        assert early == list(range(n_labels))


def test_refits_grow_rare_so_that_a_whole_pool_needs_few():
    assert stage(10_000) < 75
    assert stage(1_000_000) < 125
    assert (np.diff(POINTS) >= 4).all()
