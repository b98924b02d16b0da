"""The lines of a drafted plan that say what the columns mean."""

import json
import re
from collections.abc import Sequence

from worker.pool.class_names import without_shared_prefix
from worker.setup.roles import (
    Outputs,
    PredictedClass,
    Prediction,
    Probabilities,
    ProbabilityList,
    ProposedOpinion,
    Roles,
)

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_YAML_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def pool_lines(roles: Roles, drop: str, is_compared: bool = False) -> str:
    """Return what the plan's `pool` says of the columns.

    Args:
        drop: its line, or empty. is_compared: the question is how groups differ.
    """
    shown = ", ".join(f"{quoted(key)}: {quoted(name)}" for key, name in roles.data.items())
    return "\n".join(
        [
            "  # The column with a unique id for each item; or row number.",
            f"  id: {quoted(roles.id)}",
            *([drop] if drop else ()),
            *_lines_of(roles.prediction),
            *_pairs(roles.prediction, is_compared),
            *_opinions(roles.opinions),
            "  # What annotators see (key in Label Studio: column); never the prediction.",
            f"  data: {{{shown}}}",
        ]
    )


def _lines_of(prediction: Prediction) -> list[str]:
    match prediction:
        case Probabilities(columns):
            return [
                "  # A column for each class; or else `predicted` and `score`; or the name of one",
                "  # column with lists.",
                f"  probabilities: {_listed(columns)}",
                "  # Their classes, as annotators will see them.",
                f"  classes: {_listed(_classes_of(columns))}",
            ]
        case ProbabilityList(column, n_classes):
            placeholders = tuple(f"class {number}" for number in range(n_classes))
            return [
                "  # The column with the probabilities of all classes.",
                f"  probabilities: {quoted(column)}",
                "  # The classes in the order of the lists. WRITE THEIR REAL NAMES HERE.",
                f"  classes: {_listed(placeholders)}",
            ]
        case PredictedClass(predicted, score):
            return [
                "  # The predicted class, and how sure the classifier was (0 to 1); or else",
                "  # `probabilities`: a list of columns, one for each class.",
                f"  predicted: {quoted(predicted)}",
                f"  score: {quoted(score)}" if score else "  # score: confidence",
                "  # classes: [cat, dog]       # without it: those that were ever predicted",
            ]
        case Outputs(_, score):
            return [
                "  # How likely each output is right (0 to 1), by a judge; it saves labels.",
                f"  score: {quoted(score)}" if score else "  # score: judge_p",
            ]


def _pairs(prediction: Prediction, is_compared: bool) -> list[str]:
    if not isinstance(prediction, Outputs) or prediction.pairs_by is None:
        return []
    begin = "" if is_compared else "# "
    return [
        "  # task compare: outputs of one prompt are labelled and compared in pairs.",
        f"  {begin}pairs_by: {quoted(prediction.pairs_by)}",
    ]


def verdict_lines(roles: Roles) -> str:
    """Return what the plan's `annotation` says where people judge outputs; else nothing."""
    if not isinstance(roles.prediction, Outputs):
        return ""
    return (
        "\n  # What people choose from; each wrong choice is a kind of failure. Edit as you like.\n"
        "  verdict: {right: [Correct], wrong: [Wrong, Unsafe]}"
    )


def _opinions(opinions: Sequence[ProposedOpinion]) -> list[str]:
    if not opinions:
        return []
    is_any = any(one.is_sure for one in opinions)
    lines = [
        "  # What else is known of the items and may go with errors. Shown to nobody, and believed",
        "  # as far as labels bear it out; never name the true class here.",
        f"  {'' if is_any else '# '}opinions:",
    ]
    for one in sorted(opinions, key=lambda one: not one.is_sure):
        of_keys = {
            key: quoted(value) if isinstance(value, str) else _listed(value)
            for key, value in one.keys.items()
        }
        text = ", ".join(f"{key}: {value}" for key, value in of_keys.items())
        begin = "    - " if one.is_sure else "    # - " if is_any else "  #   - "
        lines.append(f"{begin}{{{text}}}")
    return lines


def _classes_of(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The classes that columns of probabilities are called after: p_cat, or prob(cat)."""
    within = [re.fullmatch(r".*\((.+)\)", name) for name in columns]
    named = tuple(match[1] for match in within if match is not None)
    return named if len(named) == len(columns) else without_shared_prefix(columns)


def quoted(text: str) -> str:
    """Return a text as YAML has it."""
    # JSON's text is YAML's too, whatever it looks like; plain words need no quotes
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(quoted(name) for name in names)}]"
