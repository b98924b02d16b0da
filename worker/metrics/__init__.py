"""The metrics of a plan: each is a file here, a row below, and its name in `question.metric`."""

from __future__ import annotations

from worker.metrics.accuracy import ACCURACY
from worker.metrics.bias import BIAS
from worker.metrics.confusion import CONFUSION
from worker.metrics.cost import COST
from worker.metrics.ece import ECE
from worker.metrics.kind import MetricOfPlan
from worker.metrics.tpr import TPR
from worker.metrics.words import Words, words

METRICS = {metric.name: metric for metric in (ACCURACY, BIAS, ECE, COST, CONFUSION, TPR)}

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

RANGES = {name: metric.range for name, metric in METRICS.items()} | {"l2": (0.0, 1.0), "kl": None}
WORDS = {name: metric.words for name, metric in METRICS.items()} | _MEASURES

__all__ = ["METRICS", "RANGES", "WORDS", "MetricOfPlan", "Words"]
