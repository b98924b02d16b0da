"""`make bench`: the numbers that its README quotes, as measured on this machine."""

import os

# Before numpy is there: on small arrays the threads of its linear algebra only wait for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
