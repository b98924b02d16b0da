"""Drafts a plan from a predictions file: what `assay init` writes.

Nothing is guessed that would harm silently: a column is shown to annotators only if its name says
that it is content, because any other might hold the truth or the prediction.
"""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from worker.plan.model import as_id
from worker.pool.class_names import without_shared_prefix
from worker.setup.column_roles import (
    PredictedClass,
    Probabilities,
    ProbabilityList,
    Roles,
    roles_of,
)

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_YAML_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def draft_plan(
    predictions_path: Path | str,
    plan_path: Path | str,
    *,
    assessment: str | None = None,
    id: str | None = None,
    probabilities: Sequence[str] | str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    data: Sequence[str] | None = None,
) -> str:
    """Return a plan with comments, which `load_plan` reads as it is once it stands at `plan_path`.

    Args:
        predictions_path: the predictions file; its columns and first rows are looked at.
        plan_path: where the plan will be; the path of the predictions is written relative to it.
        assessment: the assessment's id; by default the file's name.
        id, probabilities, predicted, score, data: columns, where the guess would be wrong.

    Raises:
        PredictionsError: the file cannot be read.
        DraftingError: it cannot be told what a column means; names the columns and the options.
    """
    path = Path(predictions_path)
    roles = roles_of(
        path, id=id, probabilities=probabilities, predicted=predicted, score=score, data=data
    )
    folder = Path(plan_path).resolve().parent
    return _TEMPLATE.format(
        assessment=_quoted(assessment or as_id(path)),
        predictions=_quoted(_relative(path.resolve(), folder)),
        pool=_pool(roles),
    )


def draft_for_project(
    project: int, versions: Sequence[str], shown: Sequence[str], assessment: str | None = None
) -> str:
    """Return a plan with comments for the tasks of a Label Studio project, put in order in place.

    Args:
        versions: the model versions of the predictions there; of several the last one is written.
        shown: the keys of the tasks' data that annotators see.
    """
    several = [
        "  # Which predictions are assessed.",
        f"  model_version: {_quoted(versions[-1])}   # there is: {', '.join(versions)}",
    ]
    pool = [
        *(several if len(versions) > 1 else ()),
        "  # Annotations that are there: known (outcomes outside the sample), or random (they were",
        "  # drawn at random, and count as labels of the sample).",
        "  existing: known",
        "  # What annotators see; another key of the tasks' data may be named under `groups`.",
        f"  data: {{{', '.join(f'{_quoted(key)}: {_quoted(key)}' for key in shown)}}}",
    ]
    drafted = _TEMPLATE.format(
        assessment=_quoted(assessment or f"project-{project}"),
        predictions="",
        pool="\n".join(pool),
    )
    kept: list[str] = []
    for line in drafted.splitlines():
        if line.startswith("  predictions:"):
            kept[-1] = "  # The project whose tasks, with their predictions, are the pool."
            line = f"  project: {project}"
        if line == "  mode: import":
            line = "  mode: prioritise           # or import: chosen tasks are copied elsewhere"
        kept.append(line)
    return "\n".join(kept) + "\n"


def _pool(roles: Roles) -> str:
    shown = ", ".join(f"{_quoted(_as_key(name))}: {_quoted(name)}" for name in roles.data)
    return "\n".join(
        [
            "  # The column with a unique id for each item.",
            f"  id: {_quoted(roles.id)}",
            *_lines_of(roles.prediction),
            "  # What annotators see (key in Label Studio: column); never the prediction.",
            f"  data: {{{shown}}}",
        ]
    )


def _lines_of(prediction: Probabilities | ProbabilityList | PredictedClass) -> list[str]:
    match prediction:
        case Probabilities(columns):
            return [
                "  # A column for each class; or else `predicted` and `score`; or the name of one",
                "  # column with lists.",
                f"  probabilities: {_listed(columns)}",
                "  # Their classes, as annotators will see them.",
                f"  classes: {_listed(without_shared_prefix(columns))}",
            ]
        case ProbabilityList(column, n_classes):
            placeholders = tuple(f"class {number}" for number in range(n_classes))
            return [
                "  # The column with the probabilities of all classes.",
                f"  probabilities: {_quoted(column)}",
                "  # The classes in the order of the lists. WRITE THEIR REAL NAMES HERE.",
                f"  classes: {_listed(placeholders)}",
            ]
        case PredictedClass(predicted, score):
            return [
                "  # The predicted class, and how sure the classifier was (0 to 1); or else",
                "  # `probabilities`: a list of columns, one for each class.",
                f"  predicted: {_quoted(predicted)}",
                f"  score: {_quoted(score)}",
                "  # classes: [cat, dog]       # without it: those that were ever predicted",
            ]


def _quoted(text: str) -> str:
    # JSON's text is YAML's too, whatever it looks like; plain words need no quotes
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(_quoted(name) for name in names)}]"


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return str(path)


def _as_key(column: str) -> str:
    key = re.sub(r"\W", "_", column, flags=re.ASCII)
    return f"{key}_shown" if key == "item_id" else key


_TEMPLATE = """\
# An assessment of a classifier. Edit what is not so; then
#   assay check PLAN    tells what is wrong with it
#   assay start PLAN    begins

# Letters, digits, underscores, hyphens; at most 64.
assessment: {assessment}
seed: 1                        # same plan, seed and labels: same choices
population: finite             # finite: these very items; infinite: items like these

pool:
  # CSV, JSONL, Parquet and others; relative to this file, or an address (s3://...).
  predictions: {predictions}
{pool}
  # predicted_class, score_bin(10), equal_mass_bin(10), superclass(map.csv) (columns class and
  # superclass), a column's name, or a list of these for their product.
  groups: predicted_class
  strata: 16                   # strata of the score inside every group; 1: none

question:
  # identify: which groups are the worst (or best)?   compare: do groups differ?
  # estimate: how good is every group?
  task: identify
  # accuracy; bias: mean score less accuracy; ece: calibration error; tpr: true positive rate;
  # cost: expected cost of the errors; confusion: the whole matrix (estimate only)
  metric: accuracy
  which: lowest                # identify: lowest or highest
  top: 1                       # identify: how many groups
  tolerance: 0.0               # identify: groups closer than this count as equal
  # shortlist: 2               # identify: name so many groups, among which the answer is
  # compare: all               # compare: all pairs, [cat, dog], or a list of such pairs
  # bins: 10                   # ece: score bins of equal width, or equal_mass(10)
  # costs: costs.csv           # cost: rows true classes, columns predicted; or human, superclass
  # positive: cat              # tpr: the class that is to be found

# What is believed before the first label: empirical (the scores, corrected and weighed by what
# the labels show), informative (the scores as they are, worth `strength` labels) or uniform.
prior: {{kind: empirical}}
strategy: assay                # where a label tells most; random: anywhere

stop:
  # One rule, that of the task:
  mrr: {{threshold: 0.99, confidence: 0.95}}       # identify
  # rope: {{epsilon: 0.05, confidence: 0.95}}      # compare: differ by more than epsilon or not
  # rmse: 0.02                                   # estimate: expected error over all groups
  # width: 0.1                                   # estimate: widest 95% interval
  guarantee: posterior         # or anytime: holds however often one looks, and costs more labels
  budget: null                 # at most so many labels; null: no limit
  min_per_group: 0             # labels that every group must have before the rule may fire
  # looks: 2                   # the rule must hold at so many looks, 10% more labels apart

annotation:
  control: null                # name of the <Choices> in the labelling config; null: the only one
  per_item: 1
  rule: first                  # the first annotation of an item counts
  skips: 2                     # an item is offered no more after so many skips

queue:
  look_ahead: 3                # open tasks for each active annotator
  mode: import

label_studio:
  url: null                    # null: from the environment, LABEL_STUDIO_URL; the token is
                               # never written here
  project: new                 # new, or the number of an empty project
  title: null                  # null: the assessment's id
  config: null                 # file with a labelling config; null: made from the classes
  instruction: null            # what annotators read first
"""
