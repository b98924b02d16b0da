"""Makes the answers sample: outputs of three made-up language models, whose truth is computed.

Run by a developer, from the repository's root:

    python samples/make_answers.py

Every prompt is a small exercise with one answer. Each model has topics in which it is weak; where
it fails it makes that exercise's usual mistake, or answers nothing. A judge, who is right about 85
in 100 outputs, says how likely each is right. The pass rates are printed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import click
import numpy as np

FOLDER = Path(__file__).parent / "answers"
N_PROMPTS, SEED = 400, 11
JUDGED_RIGHT = 0.85  # of the outputs
NO_ANSWER = 0.25  # of the failures
MODELS = {"aster-7b": 0.0, "briar-30b": 0.35, "cedar-large": 0.6}  # how much of the failures goes
# topic -> how often aster-7b fails; which model is strangely weak there
FAILS = {
    "prices": 0.10, "units": 0.20, "dates": 0.30, "percentages": 0.22, "letters": 0.60,
    "sorting": 0.12, "durations": 0.25, "numerals": 0.15,
}  # fmt: skip
ODD = {("briar-30b", "units"): 0.55, ("cedar-large", "dates"): 0.4}

Rng = np.random.Generator
Exercise = tuple[str, str, str, str]  # prompt, how it is worked out, the answer, a usual mistake
WORDS = (
    "strawberry", "committee", "bookkeeper", "mississippi", "parallel", "assessment", "raspberry",
    "possession", "embarrassment", "accommodation", "lemon", "giraffe", "velvet", "harbour",
    "cinnamon", "lantern", "walnut", "orchard", "pebble", "quartz",
)  # fmt: skip
THINGS = ("notebooks", "light bulbs", "train tickets", "jars of honey", "garden chairs")


def one(rng: Rng, of: tuple[str, ...]) -> str:
    return of[int(rng.integers(len(of)))]


def prices(rng: Rng) -> Exercise:
    n, cents = int(rng.integers(6, 40)), int(rng.integers(120, 990))
    total, off = n * cents, n * cents + 100 * int(rng.choice([-1, 1, 10]))
    asked = f"How much do {n} {one(rng, THINGS)} cost together?"
    return (
        f"One costs {cents / 100:.2f} euros. {asked}", f"{n} × {cents / 100:.2f} euros",
        f"{total / 100:.2f} euros", f"{off / 100:.2f} euros",
    )  # fmt: skip


def units(rng: Rng) -> Exercise:
    miles = int(rng.integers(12, 480))
    return (
        f"A signpost says {miles} miles. How many kilometres is that? Take 1 mile for 1.609 km, "
        "and give one decimal.",
        f"{miles} × 1.609", f"{miles * 1.609:.1f} km", f"{miles / 1.609:.1f} km",
    )  # fmt: skip


def dates(rng: Rng) -> Exercise:
    start = date(2026, 1, 1) + timedelta(int(rng.integers(0, 300)))
    n = int(rng.integers(25, 160))
    end = start + timedelta(n)
    wrong = end + timedelta(int(rng.choice([-1, 1, 2])))
    return (
        f"An invoice of {start:%d %B %Y} is due {n} days later. On which day, and which weekday?",
        f"{n} days after {start:%d %B}, month by month", f"{end:%A, %d %B %Y}",
        f"{wrong:%A, %d %B %Y}",
    )  # fmt: skip


def percentages(rng: Rng) -> Exercise:
    price, up = 10 * int(rng.integers(8, 60)), 5 * int(rng.integers(2, 9))
    back = price * (100 + up) / 100 * (100 - up) / 100
    return (
        f"A price of {price} euros rises by {up}%, and then falls by {up}%. What is it now?",
        f"{price} × {1 + up / 100:.2f} × {1 - up / 100:.2f}", f"{back:.2f} euros",
        f"{price:.2f} euros",
    )  # fmt: skip


def letters(rng: Rng) -> Exercise:
    text = " ".join(one(rng, WORDS) for _ in range(3))
    letter = one(rng, tuple(sorted(set(text) - {" "})))
    n = text.count(letter)
    wrong = n + (1 if n == 1 else int(rng.choice([-1, 1])))
    return (
        f'How often does the letter "{letter}" stand in "{text}"?', "word by word",
        f"{n} times" if n != 1 else "once", f"{wrong} times" if wrong != 1 else "once",
    )  # fmt: skip


def sorting(rng: Rng) -> Exercise:
    some = list(dict.fromkeys(one(rng, WORDS) for _ in range(9)))
    right = sorted(some)
    wrong = right.copy()
    at = int(rng.integers(len(right) - 1))
    wrong[at], wrong[at + 1] = wrong[at + 1], wrong[at]
    return (
        f"Put these words into alphabetical order: {', '.join(some)}.", "letter by letter",
        ", ".join(right), ", ".join(wrong),
    )  # fmt: skip


def durations(rng: Rng) -> Exercise:
    start, long = int(rng.integers(18 * 60, 24 * 60)), int(rng.integers(200, 700))
    end = (start + long) % 1440
    wrong = (end + int(rng.choice([-60, 60, 100]))) % 1440
    return (
        f"A night train leaves at {start // 60:02d}:{start % 60:02d} and travels for {long // 60} "
        f"hours and {long % 60} minutes. When does it arrive?",
        "first the hours, then the minutes, over midnight",
        f"{end // 60:02d}:{end % 60:02d}", f"{wrong // 60:02d}:{wrong % 60:02d}",
    )  # fmt: skip


def numerals(rng: Rng) -> Exercise:
    n = int(rng.integers(340, 2500))
    wrong = roman(n).replace("CD", "CCCC").replace("XC", "LXXXX").replace("IX", "VIIII")
    if wrong == roman(n):
        wrong = roman(n + 10)
    return (f"Write {n} in Roman numerals.", "thousands, hundreds, tens, ones", roman(n), wrong)


def roman(n: int) -> str:
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
             (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
    text = ""
    for value, sign in signs:
        text, n = text + sign * (n // value), n % value
    return text


EXERCISES: dict[str, Callable[[Rng], Exercise]] = {
    "prices": prices, "units": units, "dates": dates, "percentages": percentages,
    "letters": letters, "sorting": sorting, "durations": durations, "numerals": numerals,
}  # fmt: skip
OPENINGS = (
    "Let me work this out step by step.", "Sure!", "Here is how I get there:", "Of course.",
    "Good question.",
)  # fmt: skip


def output(rng: Rng, working: str, answer: str) -> str:
    return f"{one(rng, OPENINGS)}\n\n1. The way: {working}.\n2. The result is **{answer}**."


def nothing(rng: Rng, topic: str) -> str:
    return f"{one(rng, OPENINGS)}\n\nQuestions about {topic} depend on many things. It is best " \
        "to look it up, or to ask somebody who knows."  # fmt: skip


def main() -> None:
    """Write answers.jsonl (what an assessment reads) and truth.csv (what annotators know)."""
    rng = np.random.default_rng(SEED)
    rows, truth = [], []
    for number in range(N_PROMPTS):
        topic = [*EXERCISES][number % len(EXERCISES)]
        prompt, working, right, wrong = EXERCISES[topic](rng)
        for model, better in MODELS.items():
            chance = ODD.get((model, topic), FAILS[topic] * (1 - better))
            verdict, text = "Correct", output(rng, working, right)
            if rng.random() < chance:
                verdict, text = "Wrong", output(rng, working, wrong)
                if rng.random() < NO_ANSWER:
                    verdict, text = "No answer", nothing(rng, topic)
            says_right = (verdict == "Correct") == (rng.random() < JUDGED_RIGHT)
            judge = rng.beta(8, 1.5) if says_right else rng.beta(1.5, 8)
            rows.append([topic, model, prompt, text, f"{judge:.3f}"])
            truth.append(verdict)
    order = rng.permutation(len(rows)).tolist()
    with (FOLDER / "answers.jsonl").open("w", encoding="utf-8") as file:
        for number, at in enumerate(order, start=1):
            topic, model, prompt, text, judge = rows[at]
            row = {
                "item_id": f"answer-{number:04d}", "topic": topic, "model": model,
                "prompt": prompt, "output": text, "judge_p": float(judge),
            }  # fmt: skip
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    with (FOLDER / "truth.csv").open("w", encoding="utf-8", newline="") as file:
        known = csv.writer(file, lineterminator="\n")
        known.writerow(["item_id", "verdict"])
        known.writerows((f"answer-{n:04d}", truth[at]) for n, at in enumerate(order, start=1))
    tell(rows, truth)


def tell(rows: list[list[str]], truth: list[str]) -> None:
    """Print the pass rates."""
    right = np.array(truth) == "Correct"
    judged = np.array([float(row[-1]) > 0.5 for row in rows])
    click.echo(
        f"pass rate: {right.mean():.1%}; the judge is right about {(judged == right).mean():.1%}"
    )
    topics = np.array([row[0] for row in rows])
    rates = {topic: right[topics == topic].mean() for topic in EXERCISES}
    for topic in sorted(rates, key=lambda name: rates[name])[:3]:
        click.echo(f"{topic}: {rates[topic]:.1%}")


if __name__ == "__main__":
    main()
