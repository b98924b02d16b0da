"""Reads which superclass each class belongs to."""

import csv
from collections.abc import Sequence
from pathlib import Path

from worker.errors import PredictionsError
from worker.nearest import listed


def superclass_of_each(path: Path, key: str, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the superclass of every class, in the order of the classes.

    Args:
        path: a CSV file with the columns class and superclass.
        key: where the plan names it.
        classes: names of classes.

    Raises:
        PredictionsError: the file cannot be read, or lacks a class.
    """
    above = _superclasses(path, key)
    unmapped = [name for name in classes if name not in above]
    if unmapped:
        raise PredictionsError(
            f"{path}: no superclass for the class {listed(unmapped)}; add a row for every class"
        )
    return tuple(above[name] for name in classes)


def _superclasses(path: Path, key: str) -> dict[str, str]:
    above: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if not {"class", "superclass"} <= set(rows.fieldnames or ()):
                raise PredictionsError(
                    f"{path}: came the columns {listed(rows.fieldnames or ['(none)'])}, "
                    "expected class and superclass"
                )
            for number, row in enumerate(rows, start=1):
                name, superclass = row["class"] or "", row["superclass"] or ""
                if not name.strip() or not superclass.strip():
                    raise PredictionsError(f"{path}: row {number} lacks a class or a superclass")
                if above.setdefault(name, superclass) != superclass:
                    raise PredictionsError(
                        f"{path}: row {number} puts the class {name} into {superclass}, but it is "
                        f"in {above[name]} already; keep one of them"
                    )
    except FileNotFoundError:
        raise PredictionsError(f"{path}: there is no such file; `{key}` names it") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PredictionsError(f"{path}: it cannot be read ({error})") from error
    return above
