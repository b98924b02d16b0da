"""The pool: a predictions file, read, checked, grouped, and compiled once."""

from worker.pool.compiling import check_source, compile_pool
from worker.pool.costs import cost_matrix
from worker.pool.file import Item, Pool, open_pool
from worker.pool.question import check_question, compared_pairs
from worker.pool.truth import read_truth

__all__ = [
    "Item",
    "Pool",
    "check_question",
    "check_source",
    "compared_pairs",
    "compile_pool",
    "cost_matrix",
    "open_pool",
    "read_truth",
]
