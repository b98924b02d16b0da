"""How much of a simulation a test runs."""

import os

# `make test-long` runs all of it.
IS_SHORT = os.environ.get("ASSAY_SLOW") != "1"
