"""Defaults of the plan that follow from other keys of it, filled in before the plan is checked."""

from typing import Any

from worker.metrics import METRICS

FORMER_NAMES = {"tpr": "recall"}  # of metrics: plans that are there keep their meaning
DEFAULT_STRATA = 16
# A guarantee that holds at any time believes no score: it needs labels in every cell.
DEFAULT_STRATA_ANYTIME = 2
DEFAULT_LOOKS = 2
# An error that is small enough is expected, and not claimed with a probability. With three looks a
# pool's ECE is within its `rmse` in .6 of the runs where the surest items are off: none to spare.
DEFAULT_LOOKS_AT_ERRORS = 3


def with_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a plan file with the prior, the strata and the bins filled in.

    What is there stays as it is, also where it is wrong: that is for the checks to say.
    """
    parts = [values.get(key, {}) for key in ("pool", "question", "prior", "stop")]
    if not all(isinstance(part, dict) for part in parts):
        return values
    pool, question, prior, stop = parts
    is_anytime = stop.get("guarantee") == "anytime"
    # the predictions of a project have scores, unless the plan says `score: null`
    score = pool.get("score", pool.get("project"))
    has_scores = pool.get("probabilities") is not None or score is not None
    has_opinions = pool.get("opinions") is not None
    if (former := FORMER_NAMES.get(str(question.get("metric")))) is not None:
        question = question | {"metric": former}
    metric = METRICS.get(str(question.get("metric")), METRICS["accuracy"])
    has_bins_in_groups = metric.bins and not _has_bins(pool.get("groups"))
    prior = {
        # what is asked of true classes begins with the probabilities of all of them
        "kind": "empirical" if has_scores or not metric.of_true_classes else "uniform",
        "strength": metric.strength,
    } | prior
    if has_bins_in_groups and question.get("bins") is None:
        question = question | {"bins": metric.bins}
    is_stratified = (
        prior["kind"] == "empirical"
        and values.get("population", "finite") == "finite"
        and (has_scores or has_opinions)
    )
    # Looked at after every label, a posterior claim about a near tie is soon made by chance.
    is_claim = question.get("task") in ("identify", "compare")
    looks = DEFAULT_LOOKS if is_claim else DEFAULT_LOOKS_AT_ERRORS
    stop = {"looks": 1 if is_anytime else looks} | stop
    filled = values | {"prior": prior, "stop": stop}
    if question.get("task") == "evaluate":
        filled["evaluate"] = {} if values.get("evaluate") is None else values["evaluate"]
        annotation = values.get("annotation", {})
        if isinstance(annotation, dict):
            filled["annotation"] = {"rule": "frequencies"} | annotation
    if "pool" in values:
        usual = DEFAULT_STRATA_ANYTIME if is_anytime else DEFAULT_STRATA
        if metric.strata is not None and (has_bins_in_groups or not metric.bins):
            usual = 1 if is_anytime else metric.strata
        # half of them by the score; any more only widen bands that believe nothing
        usual *= 2 if has_opinions and not is_anytime else 1
        filled["pool"] = {"strata": usual if is_stratified else 1} | pool
        if metric.groups == "attribute":
            filled["pool"] = {"groups": "all_items"} | filled["pool"]
    if "question" in values:
        filled["question"] = question
    return filled


def _has_bins(groups: object) -> bool:
    texts = groups if isinstance(groups, list | tuple) else [groups]
    forms = ("score_bin", "equal_mass_bin")
    return any(isinstance(text, str) and text.strip().startswith(forms) for text in texts)
