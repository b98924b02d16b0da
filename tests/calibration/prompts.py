"""Pools of outputs of four models that answer the same prompts, which have a difficulty.

A kind keeps its prompts; how good each model is, and what it gets right, is drawn afresh in every
run. None comes from Assay's own model, which knows no prompts.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.calibration.made import Floats, Made, Rng

N_PROMPTS, N_MODELS = 400, 4
# By how much a prompt's difficulty, of variance 1, moves the logit of each model.
_SLOPES = {
    "k hard prompts": (2.2, 2.2, 2.2, 2.2),
    "k nothing in common": (0.0, 0.0, 0.0, 0.0),
    "k two alike": (2.8, 2.8, 0.0, 0.0),
    "k against": (1.5, -1.5, 1.5, -1.5),
    "k impossible prompts": (0.0, 0.0, 0.0, 0.0),
}
PROMPTS = tuple(_SLOPES)
# The same beside a judge, who knows something of an output and nothing of its prompt.
JUDGED_PROMPTS = "k hard prompts, judged", "k nothing in common, judged", "k two alike, judged"


def made_of_prompts(kind: str) -> Made:
    """The pool of a kind; what is predicted stands for the model that an output is of."""
    rng = np.random.default_rng([20261129, N_PROMPTS])
    prompt, model = np.divmod(np.arange(N_PROMPTS * N_MODELS), N_MODELS)
    hard = rng.standard_normal(N_PROMPTS)[prompt]
    score = np.full(prompt.size, 0.9)  # not in the plan
    asked, _, judge = kind.partition(", ")
    if judge:
        score = rng.beta(6.0, 1.5, prompt.size).round(6)
        score = np.where(rng.random(prompt.size) < 0.35, 1 - score, score)
    known = np.where(score >= 0.5, 1.0, -1.0) if judge else np.zeros(prompt.size)
    slope = np.array(_SLOPES[asked])[model]

    def rates(rng: Rng) -> Floats:
        level = rng.normal(1.2, 0.5, N_MODELS)[model]
        if kind == "k impossible prompts":
            return np.where(hard < -0.4, 0.1, special.expit(1.2 + level))
        return special.expit(level + slope * hard + known)

    site = np.zeros_like(model)
    return Made(kind, N_MODELS, model, score, site, rates, prompt=prompt)
