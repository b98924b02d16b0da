"""Recall, precision and F1: of one class, the positive one; of each class; averaged over all.

And of a judge of outputs, who predicts what people will say: its true positive rate is the recall
of its "right", its true negative rate that of its "wrong".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from worker.core.posterior.metrics import Metric, RatioKind
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, by_true_class, right_or_wrong
from worker.metrics.words import Words


def _meaning(cells: Cells, kind: RatioKind) -> Meaning:
    return right_or_wrong(cells, Metric(kind, unit=cells.unit))


def _words(name: str, names: str, meaning: str) -> Words:
    return Words(
        name, names, f"{{}} with the lowest {name}", f"{{}} with the highest {name}",
        f"{{0}} has a lower {name} than {{1}} by more than {{2:g}}",
        f"{{0}} and {{1}} have the same {name} to within {{2:g}}",
        f"{{0}} has a higher {name} than {{1}} by more than {{2:g}}",
        name, meaning,
    )  # fmt: skip


def _of_positives(kind: RatioKind, name: str, names: str, meaning: str) -> MetricOfPlan:
    def mistakes(asked: Asked) -> list[tuple[str, str]]:
        if asked.positive is not None:
            return []
        text = "missing; name the class that is to be found, or ask for the mean over all classes"
        return [("positive", f"{text} by `metric: {kind}_macro`")]

    return MetricOfPlan(
        name=kind,
        words=_words(name, names, meaning),
        meaning=lambda cells: _meaning(cells, kind),
        keys=("positive",),
        mistakes=mistakes,
        best_is_open=True,
        groups="attribute",
        is_share=True,
        is_summed=False,
    )


def _averaged(of_one: MetricOfPlan, kind: RatioKind) -> MetricOfPlan:
    def meaning(cells: Cells) -> Meaning:
        return by_true_class(cells, cells.unit, Metric(kind, unit=cells.unit, classes="all"))

    words = of_one.words
    return MetricOfPlan(
        name=f"{kind}_macro",
        words=_words(
            f"macro-averaged {words.name}", f"macro-averaged {words.names}",
            f"The mean of the {words.names} of all classes, each of which counts the same.",
        ),
        meaning=meaning,
        of_true_classes=True,
        has_entries=True,
        groups="attribute",
        is_share=True,
        is_summed=False,
        strata=1,  # as of costs
        has_classes_apart=True,
        strength=1.0,
    )  # fmt: skip


def _of_each(of_one: MetricOfPlan, kind: RatioKind) -> MetricOfPlan:
    def meaning(cells: Cells) -> Meaning:
        metric = Metric(kind, unit=cells.group, classes="each")
        return by_true_class(cells, cells.group, metric)

    return MetricOfPlan(
        name=f"{kind}_by_class",
        words=of_one.words,
        meaning=meaning,
        best_is_open=True,
        of_true_classes=True,
        has_entries=True,
        groups="predicted_class",
        is_share=True,
        is_summed=False,
        strata=1,  # as of costs
        strength=1.0,
    )


RECALL = _of_positives(
    "recall", "recall", "recalls",
    "Of the items that truly are positive, the share that is predicted so: the true positive rate.",
)  # fmt: skip
PRECISION = _of_positives(
    "precision", "precision", "precisions",
    "Of the items that are predicted positive, the share that truly is.",
)  # fmt: skip
F1 = _of_positives("f1", "F1", "F1 scores", "The harmonic mean of precision and recall.")
# named as scikit-learn's scorers
RECALL_MACRO = _averaged(RECALL, "recall")
PRECISION_MACRO = _averaged(PRECISION, "precision")
F1_MACRO = _averaged(F1, "f1")
RECALL_BY_CLASS = _of_each(RECALL, "recall")
F1_BY_CLASS = _of_each(F1, "f1")


def _of_judge(name: str, short: str, says: Literal["right", "wrong"], meaning: str) -> MetricOfPlan:
    term = f"{short} of the judge"
    like = _of_positives("recall", term, f"{short}s of the judge", meaning)
    words = replace(like.words, item="output", right="the judge", scored_by="the judge")
    return replace(
        like, name=name, words=words, mistakes=lambda asked: [], needs_scores=True, judge_says=says
    )


JUDGE_TPR = _of_judge(
    "judge_tpr", "TPR", "right",
    "Of the outputs that people call right, the share that the judge does, too: its score is at "
    "least a half. The true positive rate, or sensitivity.",
)  # fmt: skip
JUDGE_TNR = _of_judge(
    "judge_tnr", "TNR", "wrong",
    "Of the outputs that people call wrong, the share that the judge does, too: its score is below "
    "a half. The true negative rate, or specificity.",
)  # fmt: skip
