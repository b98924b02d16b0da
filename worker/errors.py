"""The errors that the worker expects: the command prints them and exits with 1."""

from collections.abc import Sequence


class AssayError(Exception):
    """Something went wrong that a person can put right; the message says how."""


class PlanError(AssayError):
    """The plan cannot be used as it is written; one problem a line, with its place in the plan."""

    def __init__(self, problems: Sequence[str], source: str = "the plan") -> None:
        self.problems = tuple(problems)
        self.source = source
        if len(self.problems) == 1:
            message = f"{source}: {self.problems[0]}"
        else:
            lines = "\n".join(f"  {problem}" for problem in self.problems)
            message = f"{source} has {len(self.problems)} mistakes:\n{lines}"
        super().__init__(message)


class NewerPlan(AssayError):
    """A stored plan has something in it that this release does not know."""


class PredictionsError(AssayError):
    """The predictions file (or a file that belongs to it) cannot be used; names the rows."""


class PoolChanged(AssayError):
    """The pool is not the one that the assessment began with."""


class DraftingError(AssayError):
    """The columns of a predictions file do not tell what they mean; says which options do."""
