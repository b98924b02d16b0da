"""How much of a simulation a test runs."""

import os

# The whole of it takes an hour: `make test-long`.
IS_SHORT = os.environ.get("ASSAY_SLOW") != "1"
