"""The plans that are tried: every task, metric, population, guarantee and prior that is a default.

Each is the part of a plan that differs from the default; strata, priors and looks follow as live.
"""

from __future__ import annotations

from tests.calibration import positives
from tests.calibration.made import CROSSED, JUDGED, MADE, REAL, REAL_TOLD, TOLD
from tests.calibration.made_models import MANY, REAL_MANY, TWO
from tests.calibration.prompts import JUDGED_PROMPTS, PROMPTS
from tests.calibration.way import COMPARE, ESTIMATE, FOUR, IDENTIFY, RMSE, WHOLE, Way

_WITHOUT_REAL = MADE
_COMPARED = tuple(kind for kind in MADE if kind != "f few items")
_TEN = (*MADE, "g svhn")
PAIRS = {"task": "compare", "compare": "all"}
BEST = IDENTIFY | {"of": "models", "which": "highest", "tolerance": 0.01}
_USELESS = (
    "b one rate", "c calibrated", "d overconfident", "d surest off", "e near ties", "f few items",
    "f one-sided",
)  # fmt: skip
_OPINED = (*TOLD, *_USELESS, *REAL_TOLD)
_OF_JUDGE = ("b one rate", "c calibrated", "d overconfident", "d falling", "f one-sided", *JUDGED)
_PARENTS = {"groups": ["site", "predicted_class"], "parents": "site"}
_PRODUCTS = {"groups": ["predicted_class", "site"]}
_OF_PARENTS = ("b sites", "b one rate", "d overconfident", "d surest off", "f one-sided")

WAYS = (
    Way("identify", {"question": IDENTIFY}, has_report=True),
    Way("identify, 40 groups", {"question": IDENTIFY}, _WITHOUT_REAL[:6], size="forty"),
    Way("identify, infinite", {"question": IDENTIFY, "population": "infinite"}, MADE),
    Way("identify, no scores", {"question": IDENTIFY}, MADE, has_scores=False),
    Way(
        "identify, infinite, no scores",
        {"question": IDENTIFY, "population": "infinite"},
        MADE,
        has_scores=False,
    ),
    Way("identify, any time", {"question": IDENTIFY, "stop": {"guarantee": "anytime"}}, _TEN),
    Way("identify, list of two", {"question": IDENTIFY | {"shortlist": 2}}, _TEN),
    Way("identify, tolerance", {"question": IDENTIFY | {"tolerance": 0.05}}, MADE),
    Way("identify 3 highest", {"question": IDENTIFY | {"which": "highest", "top": 3}}, _TEN),
    Way("estimate", {"question": ESTIMATE, "stop": RMSE}, has_report=True),
    Way(
        "estimate, any time",
        {"question": ESTIMATE, "stop": {"width": 0.2, "guarantee": "anytime"}},
        _TEN,
    ),
    Way("estimate, infinite", {"question": ESTIMATE, "stop": RMSE, "population": "infinite"}, MADE),
    Way("estimate, no scores", {"question": ESTIMATE, "stop": RMSE}, MADE, has_scores=False),
    Way("estimate bias", {"question": ESTIMATE | {"metric": "bias"}, "stop": RMSE}, MADE),
    Way("compare", {"question": COMPARE}, (*_COMPARED, "g svhn")),
    Way(
        "compare, any time",
        {"question": COMPARE, "stop": {"guarantee": "anytime"}},
        (*_COMPARED, "g svhn"),
    ),
    Way("compare, infinite", {"question": COMPARE, "population": "infinite"}, _COMPARED),
    Way("identify bias", {"question": IDENTIFY | {"metric": "bias"}}, _TEN),
    Way(
        "ECE of the pool",
        {
            "question": ESTIMATE | {"metric": "ece"},
            "stop": {"rmse": 0.02},
            "pool": {"groups": "score_bin(10)"},
        },
        tuple(kind for kind in (*MADE, *REAL) if kind != "f few items"),
        has_report=True,
    ),
    Way("ECE of classes", {"question": IDENTIFY | {"metric": "ece"}}, _TEN),
    Way("estimate ECE of classes", {"question": ESTIMATE | {"metric": "ece"}, "stop": RMSE}, MADE),
    Way(
        "cost",
        {"question": IDENTIFY | {"metric": "cost", "costs": "costs.csv"}},
        MADE,
        has_probabilities=True,
    ),
    Way(
        "estimate cost",
        {"question": ESTIMATE | {"metric": "cost", "costs": "costs.csv"}, "stop": RMSE},
        MADE,
        has_probabilities=True,
    ),
    Way(
        "confusion",
        {"question": ESTIMATE | {"metric": "confusion"}, "stop": RMSE},
        MADE,
        has_probabilities=True,
    ),
    Way("compare bias", {"question": COMPARE | {"metric": "bias"}}, FOUR),
    Way("compare ECE", {"question": COMPARE | {"metric": "ece"}}, FOUR),
    Way(
        "compare cost",
        {"question": COMPARE | {"metric": "cost", "costs": "costs.csv"}},
        FOUR,
        has_probabilities=True,
    ),
    Way("accuracy of the pool", {"question": ESTIMATE, "stop": RMSE, "pool": WHOLE}, MADE),
    Way("sites", {"question": IDENTIFY, "pool": {"groups": "site"}}, _TEN),
    Way("parents", {"question": IDENTIFY, "pool": _PARENTS}, _OF_PARENTS),
    Way(
        "estimate, 40 groups",
        {"question": ESTIMATE, "stop": RMSE},
        ("a model", "b one rate", "d surest off", "e near ties", "f one-sided"),
        size="forty",
    ),
    Way(
        "products",
        {"question": IDENTIFY, "pool": _PRODUCTS},
        (*_OF_PARENTS[1:], *CROSSED),
    ),
    Way(
        "estimate, products",
        {"question": ESTIMATE, "stop": RMSE, "pool": _PRODUCTS},
        (*_OF_PARENTS[1:], *CROSSED, "g svhn"),
    ),
    Way("estimate, parents", {"question": ESTIMATE, "stop": RMSE, "pool": _PARENTS}, _OF_PARENTS),
    Way(
        "worst parent",
        {"question": IDENTIFY | {"level": "parents"}, "pool": _PARENTS},
        _OF_PARENTS,
        has_report=True,
    ),
    Way(
        "estimate of parents",
        {"question": ESTIMATE | {"level": "parents"}, "stop": RMSE, "pool": _PARENTS},
        _OF_PARENTS,
        has_report=True,
    ),
    Way(
        "which model",
        {"question": {"task": "compare", "where": "both"}, "stop": {"rope": {"epsilon": 0.05}}},
        ("a model", "b ten points in a hundred", "e near the rope", "c like"),
        n_models=2,
    ),
    Way(
        "which model, a point",
        {"question": {"task": "compare", "where": "both"}},
        ("b two in a hundred", "b four in a hundred"),
        n_models=2,
    ),
    Way(
        "which model, no scores",
        {"question": {"task": "compare", "where": "both"}, "stop": {"rope": {"epsilon": 0.05}}},
        ("a model", "b ten points in a hundred", "e near the rope"),
        n_models=2,
        has_scores=False,
    ),
    Way(
        "worst of each model",
        {"question": IDENTIFY},
        ("a model", "b ten points in a hundred", "c like", "d cells scatter"),
        n_models=2,
    ),
    Way(
        "worst site of each model",
        {"question": IDENTIFY, "pool": {"groups": "site"}},
        ("a model", "b ten points in a hundred", "c like"),
        n_models=2,
    ),
    Way(
        "worst of each model, no scores",
        {"question": IDENTIFY},
        ("a model", "b ten points in a hundred", "c like"),
        n_models=2,
        has_scores=False,
    ),
    Way("best model", {"question": BEST}, ("a model", *TWO, *MANY), n_models=2),
    # What is told apart here is a few items: a guess that was sharper decided early and wrongly.
    Way(
        "best model, half a point",
        {"question": BEST | {"tolerance": 0.005}},
        tuple(REAL_MANY),
        n_models=2,
    ),
    Way("identify, opinions", {"question": IDENTIFY}, _OPINED, has_opinions=True),
    # Not of the truth as an opinion: no error is left where it agrees, and no equal-tailed interval
    # of the whole pool reaches that end.
    Way(
        "estimate, opinions", {"question": ESTIMATE, "stop": RMSE}, _OPINED[:-1], has_opinions=True
    ),
    Way(
        "estimate, opinions, no scores",
        {"question": ESTIMATE, "stop": RMSE},
        (*TOLD, "b one rate", "f one-sided"),
        has_scores=False,
        has_opinions=True,
    ),
    Way(
        "compare, opinions",
        {"question": COMPARE},
        (*TOLD, "b one rate", "e near ties", "f one-sided"),
        has_opinions=True,
    ),
    Way(
        "identify, any time, opinions",
        {"question": IDENTIFY, "stop": {"guarantee": "anytime"}},
        (*TOLD, "b one rate", "d overconfident", "f one-sided", *REAL_TOLD[:2]),
        has_opinions=True,
    ),
    *(
        Way(
            f"{name}, opinions",
            {"question": question, "stop": {} if question["task"] == "identify" else RMSE},
            (*TOLD, "d overconfident"),
            has_probabilities=True,
            has_opinions=True,
        )
        for name, question in (
            ("estimate bias", ESTIMATE | {"metric": "bias"}),
            ("cost", IDENTIFY | {"metric": "cost", "costs": "costs.csv"}),
            ("confusion", ESTIMATE | {"metric": "confusion"}),
        )
    ),
    *positives.WAYS,
    Way("verdicts", {"question": IDENTIFY}, MADE[1:] + JUDGED, has_verdict=True),
    Way(
        "estimate verdicts",
        {"question": ESTIMATE, "stop": RMSE},
        MADE[1:] + JUDGED,
        has_verdict=True,
    ),
    Way(
        "estimate verdicts, products",
        {"question": ESTIMATE, "stop": RMSE, "pool": {"groups": ["predicted", "site"]}},
        ("b one rate", "d overconfident", "f one-sided", *JUDGED, *CROSSED),
        has_verdict=True,
    ),
    Way(
        "verdicts of the pool",
        {"question": ESTIMATE, "stop": RMSE, "pool": WHOLE},
        MADE[1:] + JUDGED,
        has_verdict=True,
    ),
    *(
        Way(
            f"judge's {rate.upper()} of {of}",
            {
                "question": question | {"metric": f"judge_{rate}"},
                "stop": stop,
                "pool": {"groups": by},
            },
            _OF_JUDGE,
            has_verdict=True,
        )
        for rate in ("tpr", "tnr")
        for of, question, stop, by in (
            ("the pool", ESTIMATE, RMSE, "all_items"),
            ("sites", IDENTIFY, {}, "site"),
            ("pairs of sites", {"task": "compare", "compare": "all"}, {}, "site"),
        )
    ),
    Way(
        "compare in pairs",
        {"question": PAIRS},
        PROMPTS,
        has_scores=False,
        has_verdict=True,
    ),
    *(
        Way(
            f"compare {what}four groups",
            {"question": PAIRS},
            kinds,
            size="four",
            has_verdict=bool(what),
        )
        for what, kinds in (("", _COMPARED), ("verdicts, ", JUDGED))
    ),
    Way("compare in pairs, judged", {"question": PAIRS}, JUDGED_PROMPTS, has_verdict=True),
    # A prior that is chosen is as right as the scores are, of which the plan warns.
    Way("informative", {"question": IDENTIFY, "prior": {"kind": "informative"}}, ("a model",)),
)
