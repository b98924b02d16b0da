"""The tally's keys are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.stopping.schedule import epoch
from worker.store.tally import TallyKey, read_tally_key, tally_key


@given(st.integers(0, 10**6), st.integers(-1, 10**7), st.integers(0, 10**6), st.text())
def test_a_key_is_read_as_it_was_written(claim, cell, predicted, label):
    key = tally_key(claim, cell, predicted, label)
    assert read_tally_key(key) == TallyKey(epoch(claim), cell, predicted, label)


@pytest.mark.parametrize("key", ["", "0:1:2", "0:x:1:cat"])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(ValueError, match=r"."):
        read_tally_key(key)
