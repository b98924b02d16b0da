"""A small assessment, its labels, and what is said after them."""

from pathlib import Path

from worker.assessment import Assessment, assess
from worker.findings.wording import finding
from worker.plan import load_plan
from worker.pool import compile_pool

ONE_BAD = {"a": (0, 6), "b": (6, 0), "c": (6, 0), "d": (6, 0)}


def assessment(folder: Path, more: str, pool: str = "") -> Assessment:
    rows = [f"i{n},{c},0.{5 + n % 5},text {n},{'lr'[n % 3 > 0]}" for n, c in enumerate("abcd" * 6)]
    folder.mkdir(exist_ok=True)
    (folder / "p.csv").write_text("item_id,predicted,score,text,side\n" + "\n".join(rows) + "\n")
    (folder / "plan.yaml").write_text(
        "assessment: said\npool: {predictions: p.csv, predicted: predicted, score: score,"
        f" data: {{text: text}}, strata: 1{pool}}}\n"
        "prior: {kind: uniform}\n" + more
    )
    plan = load_plan(folder / "plan.yaml")
    return assess(plan, compile_pool(plan, folder))


def tally_of(work: Assessment, right: dict[str, tuple[int, int]]) -> dict[str, int]:
    tally = {}
    for name, (n_right, n_wrong) in right.items():
        c = work.pool.classes.index(name)
        other = work.pool.classes[c - 1]
        tally |= {f"0:{c}:{c}:{name}": n_right, f"0:{c}:{c}:{other}": n_wrong}
    return {key: count for key, count in tally.items() if count}


def said_after(work: Assessment, right: dict[str, tuple[int, int]]) -> str:
    """The finding after so many right and wrong labels of each class."""
    belief = work.believe(tally_of(work, right))
    return finding(work, belief, work.decide(belief, 24))


def all_labelled(work: Assessment, errors: dict[str, str]) -> dict[str, int]:
    """The tally when all items are labelled, those of some predicted classes wrongly so."""
    tally: dict[str, int] = {}
    for row in range(work.pool.n_items):
        item = work.pool.item(row)
        name = work.pool.classes[item.predicted]
        key = f"0:{item.cell}:{item.predicted}:{errors.get(name, name)}"
        tally[key] = tally.get(key, 0) + 1
    return tally
