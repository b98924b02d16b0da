"""What the columns of a predictions file mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

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
class Outputs:
    """Outputs that a person judges, with what went in, and how surely they are right by a judge."""

    shown: tuple[str, ...]
    score: str | None
    groups: tuple[str, ...]
    pairs_by: str | None = None  # the input, where outputs of several groups have the same one


@dataclass(frozen=True, slots=True)
class ProposedOpinion:
    """An opinion for the plan; one that nobody is sure of is a comment there."""

    keys: Mapping[str, str | tuple[str, ...]]  # as in `pool.opinions`
    is_sure: bool

    @classmethod
    def of(cls, name: str, *, is_sure: bool = True, **keys: str | tuple[str, ...]) -> Self:
        return cls({"name": name, **keys}, is_sure)


Prediction = Probabilities | ProbabilityList | PredictedClass | Outputs


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a predictions file mean."""

    id: str
    data: Mapping[str, str]  # the key in the task -> column
    prediction: Prediction
    reasons: tuple[str, ...]  # a sentence for each guess
    opinions: tuple[ProposedOpinion, ...] = ()
