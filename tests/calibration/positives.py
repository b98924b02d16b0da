"""The plans of recall, precision and F1: of one class, of each one, and averaged over all."""

from __future__ import annotations

from tests.calibration.made import MADE, TOLD
from tests.calibration.way import ESTIMATE, FOUR, IDENTIFY, RMSE, WHOLE, Way

RECALL, PRECISION, F1 = (
    {"metric": metric, "positive": "c00"} for metric in ("recall", "precision", "f1")
)
_ALL_PAIRS = {"task": "compare", "compare": "all"}
_SITES = {"groups": "site"}
_REAL = ("g cifar10-resnet", "g cifar100")

WAYS = (
    Way(
        "recall of sites",
        {"question": IDENTIFY | RECALL, "pool": _SITES},
        MADE,
        has_probabilities=True,
    ),
    Way(
        "estimate recall of sites",
        {"question": ESTIMATE | RECALL, "stop": RMSE, "pool": _SITES},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "compare recall of sites",
        {"question": _ALL_PAIRS | RECALL, "pool": _SITES},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "recall of the pool",
        {"question": ESTIMATE | RECALL, "stop": RMSE, "pool": WHOLE},
        MADE,
        has_probabilities=True,
        has_report=True,
    ),
    Way(
        "F1 of the pool",
        {"question": ESTIMATE | F1, "stop": RMSE, "pool": WHOLE},
        MADE,
        has_probabilities=True,
    ),
    Way(
        "F1 of sites",
        {"question": IDENTIFY | F1, "pool": _SITES},
        MADE,
        has_probabilities=True,
    ),
    Way(
        "compare F1 of sites",
        {"question": _ALL_PAIRS | F1, "pool": _SITES},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "precision of the pool",
        {"question": ESTIMATE | PRECISION, "stop": RMSE, "pool": WHOLE},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "precision of sites",
        {"question": IDENTIFY | PRECISION, "pool": _SITES},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "compare precision of sites",
        {"question": _ALL_PAIRS | PRECISION, "pool": _SITES},
        FOUR,
        has_probabilities=True,
    ),
    Way(
        "recall of sites, opinions",
        {"question": IDENTIFY | RECALL, "pool": _SITES},
        (*TOLD, "d overconfident"),
        has_probabilities=True,
        has_opinions=True,
    ),
    *(
        Way(
            f"{name} of the pool",
            {"question": ESTIMATE | {"metric": metric}, "stop": RMSE, "pool": WHOLE},
            kinds,
            has_probabilities=True,
        )
        for name, metric, kinds in (
            ("macro F1", "f1_macro", (*MADE, *_REAL)),
            ("macro recall", "recall_macro", (*FOUR, *_REAL)),
            ("macro precision", "precision_macro", FOUR),
        )
    ),
    *(
        Way(
            f"{task}{name}",
            {"question": asked | {"metric": metric}, "pool": groups} | stop,
            kinds if task == "" else FOUR,
            has_probabilities=True,
        )
        for name, metric, groups, kinds in (
            ("macro F1 of sites", "f1_macro", _SITES, MADE),
            ("macro recall of sites", "recall_macro", _SITES, FOUR),
            ("macro precision of sites", "precision_macro", _SITES, FOUR),
            ("recall by class", "recall_by_class", {}, (*MADE, *_REAL)),
            ("F1 by class", "f1_by_class", {}, (*MADE, *_REAL)),
        )
        for task, asked, stop in (
            ("", IDENTIFY, {}),
            ("estimate ", ESTIMATE, {"stop": RMSE}),
            ("compare ", _ALL_PAIRS, {}),
        )
    ),
)
