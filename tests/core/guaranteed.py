"""Beliefs, questions and confidence sequences on which what is guaranteed at any time is tried."""

import numpy as np

from worker.core.confidence_sequences.forecast import forecast
from worker.core.confidence_sequences.guarantee import (
    ConfidenceSequence,
    alpha_split,
    ends,
)
from worker.core.posterior.belief import Belief
from worker.core.questions.question import Question

QUESTIONS = {
    "lowest": Question("identify"),
    "highest two": Question("identify", which="highest", top=2),
    "pair": Question("compare", pairs=((0, 2),)),
    "all pairs": Question("compare"),
    "estimate": Question("estimate"),
}


def belief(size, right, wrong, group=None, **more):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [np.array(column) for column in (size, right, wrong)]
    ones = np.ones(len(size))
    return Belief(group, *columns, ones, ones, int(group.max()) + 1, **more)


def sequence(b, miss=0.05):
    return ConfidenceSequence(forecast(np.full(b.group.size, 1.0)), miss)


def nothing(b):
    return np.zeros(b.group.size, int)


def ends_of(b, question=QUESTIONS["lowest"], unknown=None, miss=0.05):
    unknown = nothing(b) if unknown is None else np.array(unknown)
    return ends(b, unknown, sequence(b, miss), *alpha_split(b, question, miss))
