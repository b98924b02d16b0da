"""Three people give stars until it is known how far the predictor is from them."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from tests.live.pools import SignUp, assert_no_item_twice, exported, project_of
from tests.live.service import Service, eventually
from worker.store.rules import frequencies

pytestmark = pytest.mark.live

N_ITEMS, N_PEOPLE, WIDTH = 24, 3, 0.3
STARS = ("1", "2", "3")
LIKELY = {"1": (0.7, 0.2, 0.1), "2": (0.15, 0.7, 0.15), "3": (0.05, 0.25, 0.7)}


def films(folder: Path) -> tuple[str, Path]:
    """A pool of films that a predictor gives stars, and a plan that asks people for theirs."""
    name = f"films-{secrets.token_hex(4)}"
    folder = folder / name
    folder.mkdir()
    rows = [
        f"film-{n:02d},a film,{','.join(map(str, LIKELY[STARS[n % 3]]))}" for n in range(N_ITEMS)
    ]
    (folder / "films.csv").write_text("item_id,text,p_1,p_2,p_3\n" + "\n".join(rows) + "\n")
    (folder / "plan.yaml").write_text(
        f"assessment: {name}\n"
        "pool: {predictions: films.csv, data: {text: text}, strata: 2,"
        " probabilities: [p_1, p_2, p_3]}\n"
        "question: {task: evaluate}\n"
        "evaluate: {measure: l2, scale: {low: 1, high: 3}}\n"
        f"annotation: {{per_item: {N_PEOPLE}}}\n"
        f"stop: {{width: {WIDTH}, looks: 1}}\n"
    )
    return name, folder / "plan.yaml"


def test_three_people_rate_films_until_the_distance_is_known(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    name, plan = films(tmp_path)
    project = running.begin(plan)
    assert '<Rating name="answer"' in project_of(label_studio, project)["label_config"]
    people = [annotator() for _ in range(N_PEOPLE)]
    ledger = running.context.ledger(name)

    rate_until_stopped(people, project, lambda: ledger.state().status == "stopped")

    decision = running.status(name)["decision"]
    assert (decision["reason"], decision["is_conclusive"]) == ("answered", True)
    assert decision["value"] <= WIDTH
    assert "normalised L2 distance between predictions and people's votes" in decision["text"]
    eventually(lambda: all(person.next_task(project) is None for person in people))
    expected = votes_of(exported(label_studio, project))
    # A vote that was given while it was decided is read after the decision.
    with suppress(AssertionError):
        eventually(lambda: kept_votes(running, name) == expected)
    kept = kept_votes(running, name)
    assert kept == expected
    assert max(sum(votes.values()) for votes in kept.values()) == N_PEOPLE
    assert_no_item_twice(running, label_studio, name, project)
    assert running.json("replay", name)["is_equal"] is True
    zero_mean = ("--experiment", "uncertainty", "--evaluator", "zero-mean-ndod")
    found = running.json("evaluate", str(plan), *zero_mean)
    assert found["votes"] == pytest.approx(
        sum(map(sum, (v.values() for v in kept.values()))) / len(kept)
    )
    running.json("report", name, "--to", str(tmp_path / "reports"))
    (page,) = (tmp_path / "reports").glob("*.html")
    assert "How far from people" in page.read_text(encoding="utf-8")


def rate_until_stopped(
    people: list[Annotator], project: int, is_stopped: Callable[[], bool]
) -> None:
    """Everybody rates what they are served; most people agree with the predictor."""
    rng = random.Random(3)

    def step() -> str | None:
        if is_stopped():
            return "stopped"
        did = None
        for person in people:
            task = person.next_task(project)
            if task is not None:
                number = int(task["data"]["item_id"].removeprefix("film-"))
                (stars,) = rng.choices((1, 2, 3), LIKELY[STARS[number % 3]])
                person.rate(task["id"], stars, "answer", "text")
                did = "rated"
        return did

    for _ in range(2 * N_ITEMS):
        if eventually(step) == "stopped":
            return
    raise AssertionError("all films are rated, and nothing is decided")


def kept_votes(running: Service, name: str) -> dict[str, dict[str, int]]:
    """Item -> stars -> people, as the service keeps them."""
    return {
        item: frequencies(record.outcome)[1]
        for item, record in running.records(name).items()
        if record.outcome is not None
    }


def votes_of(tasks: list[dict[str, object]]) -> dict[str, dict[str, int]]:
    """Item -> stars -> people, worked out from Label Studio's own export."""
    found: dict[str, dict[str, int]] = {}
    for task in tasks:
        votes: dict[str, int] = {}
        for annotation in task["annotations"]:  # type: ignore[attr-defined]
            stars = str(annotation["result"][0]["value"]["rating"])
            votes[stars] = votes.get(stars, 0) + 1
        if votes:
            found[task["data"]["item_id"]] = votes  # type: ignore[index]
    return found
