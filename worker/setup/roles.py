"""What the columns of a predictions file mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Ask = Callable[[str, Sequence[str]], str | None]
"""Asks a person to choose one of several columns; None if there is nobody, or none fits."""


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A column for each class."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbabilityList:
    """One column that holds the probabilities of all classes."""

    column: str
    n_classes: int


@dataclass(frozen=True, slots=True)
class PredictedClass:
    """The predicted class, and how sure the classifier was, if it says so."""

    predicted: str
    score: str | None


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a predictions file mean."""

    id: str
    data: Mapping[str, str]  # the key in the task -> column
    prediction: Probabilities | ProbabilityList | PredictedClass
    reasons: tuple[str, ...]  # a sentence for each guess
