"""Turns judgements into beliefs, decisions and the next items to label."""

import os

# A linear algebra library that spreads products of a few numbers over all cores waits for them
# longer than it computes: the fit of the prior took 20 times as long. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
