"""Whatever stands in a plan file: it is read, or its mistakes are told in a message one reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import IS_SHORT
from tests.fuzz.mutations import anything, mutated
from tests.fuzz.targets import bounded, plan
from worker.errors import PlanError
from worker.plan import load_plan

N = 150 if IS_SHORT else 800
SEEDS = Path(__file__).parent / "seeds" / "plan"
GOOD = [
    yaml.safe_load((SEEDS / name).read_text())
    for name in ("identify", "compare", "cost", "evaluate", "opinions")
]
FRAGMENTS = st.sampled_from(
    [
        "a: ", "- ", "? ", ": ", "{", "}", "[", "]", ", ", "&a ", "*a ", "!!int ", "!!bool ",
        "!!timestamp ", "!!binary ", "!!set ", "!!omap ", "!!float ", "!x ", "<<: ", "|\n", "'",
        '"', "\n", "\n  ", "#", "---", "...", "%YAML 1.1\n", "1:30", "0x", "1e5", "2026-01-01",
        "~", "pool: ", "assessment: ", "question: ", "\t", "\0", "\ufeff", "é", "=",
    ]
)  # fmt: skip


@settings(max_examples=N, derandomize=True)
@given(values=st.sampled_from(GOOD).flatmap(mutated))
def test_a_changed_plan_is_read_or_its_mistakes_are_told(values: Any) -> None:
    with bounded():
        text = yaml.safe_dump(values, allow_unicode=True)
        plan(text.encode("utf-8", "backslashreplace"))


@settings(max_examples=N, derandomize=True)
@given(parts=st.lists(FRAGMENTS | st.text(max_size=5), max_size=30))
def test_text_that_resembles_yaml_is_read_or_refused(parts: list[str]) -> None:
    with bounded():
        plan("".join(parts).encode("utf-8", "surrogatepass"))


@settings(max_examples=N, derandomize=True)
@given(values=anything)
def test_a_file_of_anything_is_refused(values: Any) -> None:
    with bounded():
        text = yaml.safe_dump(values, allow_unicode=False)
        plan(text.encode("utf-8", "backslashreplace"))


def told(tmp_path: Path, text: str) -> str:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(PlanError) as refused:
        load_plan(path)
    return str(refused.value)


def test_a_small_file_that_amounts_to_millions_of_values_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]

    assert "aliases" in told(tmp_path, "\n".join(lines))


def test_a_value_that_contains_itself_is_refused_with_its_place(tmp_path: Path) -> None:
    text = told(tmp_path, "seed: 1\npool: &p {data: *p}\n")

    assert "pool.data: the alias" in text
    assert "line 2" in text


def test_a_file_that_is_no_plan_by_its_size_is_refused_before_it_is_read(tmp_path: Path) -> None:
    assert "larger than 500 kB" in told(tmp_path, "x: 1\n" * 120_000)


def test_an_alias_that_repeats_a_few_values_may_stand_in_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    text = (SEEDS / "compare").read_text().replace("data: {text: t}", "data: &shown {text: t}")
    path.write_text(text)

    assert load_plan(path).pool.data == {"text": "t"}


def test_a_plan_full_of_mistakes_tells_the_first_of_them(tmp_path: Path) -> None:
    text = told(tmp_path, "".join(f"key{n}: 1\n" for n in range(500)))

    assert "key0: unknown key" in text
    assert "more; correct these first" in text
    assert len(text.splitlines()) < 40
