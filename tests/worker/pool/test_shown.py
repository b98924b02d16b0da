"""A column that tells annotators the prediction is refused by its values, whatever it is called."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.worker.pool.small_blocks import in_small
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool import compile_pool, shown
from worker.pool.shown import refuse_told
from worker.pool.shown_names import AGREES, Told
from worker.pool.texts import Texts

N = 400
CLASSES = ["cat", "dog", "New York"]
PLACES = {"cat": "Katze", "dog": "Hund", "New York": "Stadt"}


def pool_of(seed: int = 1, weights: tuple[float, ...] = (0.6, 0.3, 0.1)) -> dict[str, Any]:
    """Items with probabilities, what is predicted of them and how surely."""
    rng = np.random.default_rng(seed)
    said = rng.choice(3, N, p=weights)
    rows = rng.dirichlet([1, 1, 1], N)
    rows = np.sort(rows, axis=1)
    rows = np.stack([np.roll(row, k + 1) for row, k in zip(rows, said, strict=True)])
    return {"said": [CLASSES[k] for k in said], "rows": rows.round(4), "score": rows.max(axis=1)}


def compiled(
    folder: Path,
    column: list[str],
    found: dict[str, Any],
    ids: list[str] | None = None,
    **pool: Any,
) -> None:
    ids = ids or [f"i{n}" for n in range(N)]
    lines = [
        json.dumps(
            {"item_id": item, "a": row[0], "b": row[1], "c": row[2], "text": f"text {item}", "x": x}
        )
        for item, row, x in zip(ids, found["rows"].tolist(), column, strict=True)
    ]
    (folder / "p.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {
        "predictions": folder / "p.jsonl",
        "probabilities": ["a", "b", "c"],
        "classes": CLASSES,
        "data": {"text": "text", "extra": "x"},
    }
    plan = Plan.model_validate(
        {"assessment": "a", "pool": values | pool, "question": {"task": "identify"}}
    )
    compile_pool(plan, folder / "pools")


TOLD = {
    "the name": (lambda said, _: said, "is the predicted class"),
    "in other letters": (lambda said, _: f"  {said.upper()} ", "is the predicted class"),
    "in quotes": (lambda said, _: f'"{said}"', "is the predicted class"),
    "its number": (lambda said, _: str(CLASSES.index(said)), "stands for the predicted class"),
    "its number from one": (lambda said, _: str(CLASSES.index(said) + 1), "('1' for 'cat', say)"),
    "its translation": (lambda said, _: PLACES[said], "stands for the predicted class"),
    "behind a label": (lambda said, n: f"no. {n}, label: {said}", "holds the predicted class as"),
    "in JSON": (
        lambda said, n: json.dumps({"model_label": said, "n": n}),
        "holds the predicted class as a value",
    ),
    "as a folder": (lambda said, n: f"http://host/{said.replace(' ', '_')}/{n}.png", "an address"),
    "in a file's name": (lambda said, n: f"{said.replace(' ', '-')}.{n}.txt", "an address"),
}


@pytest.mark.parametrize("how", TOLD)
def test_a_column_that_tells_the_predicted_class_is_refused_with_share_and_cure(tmp_path, how):
    tells, words = TOLD[how]
    found = pool_of()
    with pytest.raises(PredictionsError) as caught:
        compiled(tmp_path, [tells(said, n) for n, said in enumerate(found["said"])], found)
    text = str(caught.value)
    assert "the column x (`pool.data.extra`)" in text
    assert words in text
    assert "in 100.0% of the rows (400 of 400)" in text
    assert (
        "give the files names that tell nothing" if "address" in words else "`pool.data`"
    ) in text


@pytest.mark.parametrize("form", ["{:.4f}", "{:.2f}", "{:.0%}", "{:.1%}", "{}"])
def test_a_column_that_tells_the_score_is_refused(tmp_path, form):
    found = pool_of()
    with pytest.raises(PredictionsError, match=r"the column x .* is the score in"):
        compiled(tmp_path, [form.format(score) for score in found["score"]], found)


def test_a_score_out_of_a_hundred_and_a_probability_are_refused(tmp_path):
    found = pool_of()
    with pytest.raises(PredictionsError, match="is the score in"):
        compiled(tmp_path, [f"{100 * score:.1f}" for score in found["score"]], found)
    with pytest.raises(PredictionsError, match="is the probability of dog in"):
        compiled(tmp_path, [f"{row[1]:.3f}" for row in found["rows"]], found)


def some(found: dict[str, Any], share: float) -> list[str]:
    """The predicted class in so many of the rows, in the others the next one."""
    rng = np.random.default_rng(3)
    kept = rng.permutation(N) < share * N
    said = found["said"]
    return [s if k else CLASSES[CLASSES.index(s) - 1] for s, k in zip(said, kept, strict=True)]


def test_nearly_all_rows_are_refused_and_what_is_merely_alike_passes(tmp_path):
    found = pool_of()
    with pytest.raises(PredictionsError, match=r"in 92\.0% of the rows \(368 of 400\)"):
        compiled(tmp_path, some(found, AGREES + 0.02), found)
    numbers = [str(CLASSES.index(said)) for said in some(found, AGREES - 0.05)]
    compiled(tmp_path, numbers, found)


WRONG = {
    "the name": (lambda said, _: said, "holds names of classes (the true ones"),
    "a folder": (lambda said, n: f"pics/{said.replace(' ', '_')}/{n}.txt", "in which a class"),
}


@pytest.mark.parametrize("how", WRONG)
def test_names_of_classes_are_refused_however_seldom_they_are_the_predicted_one(tmp_path, how):
    tells, words = WRONG[how]
    found = pool_of()
    column = [tells(said, n) for n, said in enumerate(some(found, 0.4))]
    with pytest.raises(PredictionsError, match=re.escape(words)):
        compiled(tmp_path, column, found)


def test_reasons_from_templates_are_refused(tmp_path):
    found = pool_of()
    column = [f"since it looks like {PLACES[s]}, way {n % 4}" for n, s in enumerate(found["said"])]
    with pytest.raises(PredictionsError, match="has 12 values, each with the predicted class"):
        compiled(tmp_path, column, found)


def test_a_column_that_holds_something_in_some_rows_is_judged_by_these(tmp_path):
    found = pool_of()
    half = [said if n % 2 else "" for n, said in enumerate(found["said"])]
    with pytest.raises(PredictionsError, match=r"\(200 of 200\)"):
        compiled(tmp_path, half, found)


HARMLESS = {
    "texts": lambda n, said: f"a {said} sat on the mat, and {n} others",
    "one value everywhere": lambda n, said: "cat",
    "a number of two values": lambda n, said: str(n % 2),
    "single words": lambda n, said: ["red", "green", "blue"][n % 3],
    "prices": lambda n, said: f"{n / 100:.2f}",
    "years": lambda n, said: str(1900 + n % 90),
    "addresses": lambda n, said: f"https://host/images/{n}.png",
    "nothing": lambda n, said: "",
    "content that mostly goes with it": lambda n, said: "meow" if said == "cat" and n % 20 else "-",
}


@pytest.mark.parametrize("what", HARMLESS)
@pytest.mark.parametrize("weights", [(0.6, 0.3, 0.1), (0.95, 0.03, 0.02)])
def test_what_tells_nothing_passes(tmp_path, what, weights):
    found = pool_of(weights=weights)
    compiled(tmp_path, [HARMLESS[what](n, s) for n, s in enumerate(found["said"])], found)


def test_a_few_rows_that_agree_by_chance_pass():
    texts = Texts()
    texts.add(pa.record_batch([pa.array(["x", "y", "x"], pa.large_string())], ["t"]))
    told = Told("the predicted class", ["x", "y"], np.array([0, 1, 0]))
    refuse_told("here", [("t", "")], texts, [told], lambda _: iter(()))


def test_ids_are_shown_too(tmp_path):
    found = pool_of()
    ids = [f"{said}/{n}" for n, said in enumerate(found["said"])]
    with pytest.raises(PredictionsError, match=r"the id .column item_id. .* give the items ids"):
        compiled(tmp_path, ["nothing"] * N, found, ids=ids)


def test_groups_that_are_made_of_the_prediction_are_not_shown_either(tmp_path):
    (tmp_path / "map.csv").write_text(
        "class,superclass\ncat,animal\ndog,animal\nNew York,town\n", encoding="utf-8"
    )
    found = pool_of()
    above = ["beast" if said != "New York" else "place" for said in found["said"]]
    compiled(tmp_path, above, found)
    with pytest.raises(PredictionsError, match="stands for the group, one to one"):
        compiled(tmp_path, above, found, groups=f"superclass({tmp_path / 'map.csv'})")


def test_what_any_of_several_models_says_is_not_shown(tmp_path):
    rng = np.random.default_rng(2)
    says = {name: rng.integers(3, size=N) for name in ("old", "new")}
    for name, codes in says.items():
        rows = [
            f"i{n},{CLASSES[k]},0.{rng.integers(1000, 9999)},text {n},{says['new'][n]}"
            for n, k in enumerate(codes)
        ]
        text = "item_id,said,sure,text,hint\n" + "\n".join(rows) + "\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    values = {
        "assessment": "a",
        "models": [
            {"name": name, "predictions": f"{name}.csv", "predicted": "said", "score": "sure"}
            for name in says
        ],
        "pool": {"data": {"text": "text", "hint": "hint"}},
        "question": {"task": "compare"},
    }
    plan = Plan.model_validate(values, context={"folder": tmp_path})
    with pytest.raises(PredictionsError, match=r"`pool.data.hint`.* the predicted class of new"):
        compile_pool(plan, tmp_path / "pools")


def test_of_a_large_pool_some_rows_are_looked_at_wherever_its_texts_are(tmp_path, monkeypatch):
    monkeypatch.setattr(shown, "_MOST_ROWS", 60)
    found = pool_of()
    with in_small(), pytest.raises(PredictionsError) as caught:
        compiled(tmp_path, found["said"], found)
    assert re.search(
        r"in 100\.0% of the rows that were looked at \((\d+) of \1\)", str(caught.value)
    )
    with in_small():
        compiled(tmp_path, [f"{row[1] > 0.4}" for row in found["rows"]], found)
        with pytest.raises(PredictionsError, match="is the probability of dog"):
            compiled(tmp_path, [f"{row[1]:.3f}" for row in found["rows"]], found)
