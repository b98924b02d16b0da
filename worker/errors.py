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


class Unreadable(AssayError):
    """What is kept of one assessment is not what a release of ours writes."""

    def __init__(self, assessment: str, why: BaseException) -> None:
        super().__init__(
            f"What is kept of {assessment} cannot be read ({type(why).__name__}: "
            f"{ascii(str(why))[:200]}). The others go on. Bring its keys back from a backup, or "
            f"`assay forget {assessment}` takes it away and `assay import` brings an export of it."
        )


class DraftingError(AssayError):
    """The columns of a predictions file do not tell what they mean; says which options do."""
