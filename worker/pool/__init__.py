"""The pool: a predictions file, read, checked, grouped, and compiled once."""

from worker.pool.compiling import compile_pool
from worker.pool.costs import cost_matrix
from worker.pool.file import Item, Pool
from worker.pool.opening import open_pool
from worker.pool.question import check_question, compared_pairs
from worker.pool.remote import fetch_beside, fetch_pool, publish
from worker.pool.sources import check_source
from worker.pool.truth import read_truth

__all__ = [
    "Item",
    "Pool",
    "check_question",
    "check_source",
    "compared_pairs",
    "compile_pool",
    "cost_matrix",
    "fetch_beside",
    "fetch_pool",
    "open_pool",
    "publish",
    "read_truth",
]
