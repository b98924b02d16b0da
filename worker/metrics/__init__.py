"""The metrics of a plan: each is a file here, a row below, and its name in `question.metric`."""

from __future__ import annotations

from dataclasses import replace

from worker.metrics.accuracy import ACCURACY
from worker.metrics.bias import BIAS
from worker.metrics.confusion import CONFUSION
from worker.metrics.cost import COST
from worker.metrics.ece import ECE
from worker.metrics.kind import MetricOfPlan
from worker.metrics.of_positives import (
    F1,
    F1_BY_CLASS,
    F1_MACRO,
    JUDGE_TNR,
    JUDGE_TPR,
    PRECISION,
    PRECISION_MACRO,
    RECALL,
    RECALL_BY_CLASS,
    RECALL_MACRO,
)
from worker.metrics.words import Words, words

METRICS = {
    metric.name: metric
    for metric in (
        ACCURACY, BIAS, ECE, COST, CONFUSION, RECALL, PRECISION, F1,
        RECALL_BY_CLASS, F1_BY_CLASS, RECALL_MACRO, PRECISION_MACRO, F1_MACRO,
        JUDGE_TPR, JUDGE_TNR,
    )
}  # fmt: skip

_MEASURES = {  # of the task `evaluate`
    "l2": words(
        "normalised L2 distance", "normalised L2 distances", ("closest", "farthest"),
        ("closer to people", "equally far from people", "farther from people"),
        "normalised L2 distance",
        "Euclidean distance between the prediction and the human frequencies, divided by that of "
        "two different certain answers: from 0 to 1.",
    ),
    "kl": words(
        "KL divergence (bits)", "KL divergences", ("closest", "farthest"),
        ("closer to people", "equally far from people", "farther from people"),
        "KL divergence",
        "How many bits the prediction costs those who take it for the human frequencies; 0 if they "
        "are the same (Kullback-Leibler).",
    ),
}  # fmt: skip

_PASS_RATE = Words(
    "pass rate", "pass rates", "{} with the lowest pass rate", "{} with the highest pass rate",
    "{0} passes less often than {1} by more than {2:g}",
    "{0} and {1} pass equally often to within {2:g}",
    "{0} passes more often than {1} by more than {2:g}",
    "pass rate", "The share of outputs that people call right.",
)  # fmt: skip


def words_of_outputs(metric: str) -> Words:
    """The words of a metric where people judge outputs, and scores are those of a judge."""
    if METRICS[metric].judge_says is not None:
        return METRICS[metric].words
    of_metric = _PASS_RATE if metric == "accuracy" else METRICS[metric].words
    return replace(of_metric, item="output", right="the output", scored_by="the judge")


RANGES = {name: metric.range for name, metric in METRICS.items()} | {"l2": (0.0, 1.0), "kl": None}
WORDS = {name: metric.words for name, metric in METRICS.items()} | _MEASURES

__all__ = ["METRICS", "RANGES", "WORDS", "MetricOfPlan", "Words", "words_of_outputs"]
