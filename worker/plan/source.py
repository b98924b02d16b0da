"""Reads a YAML file into plain values, and remembers on which line each of them stands."""

import re
from pathlib import Path
from typing import Any

import yaml

from worker.errors import PlanError

Place = tuple[str | int, ...]

# Far beyond any plan. A reader that takes everything can be kept busy for hours by a small file
# whose aliases (`*name`) repeat each other.
LARGEST_BYTES = 500_000
MOST_VALUES = 50_000


class _Loader(yaml.SafeLoader):
    """YAML's plain values."""


# YAML 1.1 takes 1e-3 for text because it has no dot.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+"), list("-+0123456789")
)
# It takes yes, no, on and off for true and false, but `notify` has a key `on`, and classes are
# called so. Words in t and f keep theirs: true and false.
for _letter in "oOyYnN":
    _Loader.yaml_implicit_resolvers[_letter] = [
        (tag, pattern)
        for tag, pattern in _Loader.yaml_implicit_resolvers[_letter]
        if tag != "tag:yaml.org,2002:bool"
    ]

_LONGEST_NUMBER = 100


def _whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    # Python refuses to print one of thousands of digits, so that no error could tell of it.
    number = 0
    is_short = len(node.value) <= _LONGEST_NUMBER
    if is_short:
        number = int(loader.construct_yaml_int(node))
    if not is_short or number.bit_length() > 64:
        problem = "a whole number of 20 digits or more; a name of digits stands in quotes"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return number


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def read_yaml(path: Path) -> tuple[dict[str, Any], dict[Place, int]]:
    """Return the mapping in a YAML file, and the line (from 1) of every place in it.

    Raises:
        PlanError: there is no such file, it cannot be read as YAML, it is too large, it is not a
            mapping of named keys, or a key stands in it twice.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            text = (
                f"it is larger than {LARGEST_BYTES // 1000} kB, which no plan is; is it the plan?"
            )
            raise PlanError([text], str(path))
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise PlanError(["there is no such file; `assay init` writes a plan"], str(path)) from None
    except UnicodeDecodeError as error:
        raise PlanError(
            [f"byte {error.start} is not UTF-8 text; save the plan as UTF-8"], str(path)
        ) from None
    except OSError as error:
        cure = "; name the plan in it" if path.is_dir() else ""
        raise PlanError([f"it cannot be read: {error.strerror}{cure}"], str(path)) from error
    try:
        return _parsed(text, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise PlanError([f"{line}not readable as YAML: {error.problem}"], str(path)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise PlanError([f"not readable as YAML: {error}"], str(path)) from error
    except RecursionError as error:
        raise PlanError(["not readable as YAML: it is nested too deeply"], str(path)) from error
    except (LookupError, ArithmeticError, AttributeError, TypeError) as error:
        # PyYAML reads a value as its tag says, and looks away from what it is
        text = "not readable as YAML: a value is not what its tag (as in !!int) or its form says"
        raise PlanError([text], str(path)) from error


def _parsed(text: str, path: Path) -> tuple[dict[str, Any], dict[Place, int]]:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        lines: dict[Place, int] = {}
        twice: list[str] = []
        if root is not None:
            if _expanded(root, (), {}, path) > MOST_VALUES:
                text = f"its aliases (*name) amount to more than {MOST_VALUES:,} values; write it"
                raise PlanError([f"{text} without them"], str(path))
            _walk(root, (), lines, twice, set())
        if twice:
            raise PlanError(twice, str(path))
        values = loader.construct_document(root) if root is not None else None
    finally:
        loader.dispose()
    if values is None:
        raise PlanError(["the file is empty; `assay init` writes a plan"], str(path))
    if not isinstance(values, dict):
        raise PlanError(
            [f"came {_kind(values)}, expected keys such as `assessment:` and `pool:`"], str(path)
        )
    return values, lines


def _expanded(node: yaml.Node, place: Place, known: dict[int, int], path: Path) -> int:
    """How many values a node amounts to when each of its aliases is written out."""
    if id(node) not in known:
        known[id(node)] = -1  # until it is counted
        parts: list[tuple[str | int, yaml.Node]] = []
        if isinstance(node, yaml.SequenceNode):
            parts = list(enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            parts = [(str(key.value), part) for key, value in node.value for part in (key, value)]
        sizes = (_expanded(part, (*place, step), known, path) for step, part in parts)
        known[id(node)] = 1 + sum(sizes)
    if known[id(node)] < 0:
        where, line = ".".join(map(str, place)), node.start_mark.line + 1
        text = f"{where}: the alias (*name) stands for what it is a part of, from line {line} on"
        raise PlanError([f"{text}; write out what is meant"], str(path))
    return known[id(node)]


def _walk(
    node: yaml.Node, place: Place, lines: dict[Place, int], twice: list[str], seen: set[int]
) -> None:
    """Note the line of every value, and every key that stands twice in one mapping."""
    lines.setdefault(place, node.start_mark.line + 1)
    if id(node) in seen:  # an alias: its lines are known, and it may contain itself
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, (*place, index), lines, twice, seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            here = (*place, key)
            if key in first and key != "<<":
                twice.append(
                    f"line {line}: {'.'.join(map(str, here))}: the key stands here and on "
                    f"line {first[key]}; keep one of them"
                )
                continue
            first[key] = lines[here] = line
            _walk(value_node, here, lines, twice, seen)


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else f"the single value {value!r:.60}"
