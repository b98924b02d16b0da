"""pyarrow without pandas."""

from __future__ import annotations

import sys

import pyarrow as pa


class _NoPandas:
    """Where Python looks for modules: there is no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pyarrow is to do without it")


def keep_pandas_out() -> None:
    """Keep pyarrow from loading pandas: half a second of the three that a report may take.

    At its first array pyarrow looks once whether pandas is there, only to know its series when it
    is given some. So this is for a process that gives it none; others import pandas as always.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)
