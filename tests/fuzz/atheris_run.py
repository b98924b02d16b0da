"""Throws what coverage leads to at one target: `python -m tests.fuzz.atheris_run TARGET FOLDER`.

FOLDER holds what atheris found to be new; the seeds are tried first. What follows is libFuzzer's,
as `-max_total_time=60`. A finding is written beside FOLDER as `…-crash-…`; keep it, cut down, under
`tests/fuzz/seeds/TARGET` once it is put right.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.mutations import places

SEEDS = Path(__file__).parent / "seeds"
ODD = (None, True, 0, -1, 1, 2, 0.5, 1e308, float("nan"), 10**400, "", "cat", "\ud800", "1", [], {})


def json_changed(data: bytes, largest: int, seed: int, otherwise: Callable[..., bytes]) -> bytes:
    """The JSON after the first line (or all of it) with a place changed, and still JSON.

    Bytes changed blindly are hardly ever JSON, and what is none is refused at the door.
    """
    random = Random(seed)
    head, line_end, body = data.rpartition(b"\n")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return otherwise(data, largest)
    known = list(places(value))
    if not known or random.random() < 0.1:
        return otherwise(data, largest)
    *path, last = random.choice(known)
    holder = value
    for step in path:
        holder = holder[step]
    what = random.randrange(4)
    if what == 0:
        del holder[last]
    elif what == 1:
        holder[last] = random.choice(ODD)
    elif what == 2:
        holder[last] = [holder[last]] * random.randrange(3)
    else:  # a word becomes what led somewhere else before
        word = otherwise(json.dumps(holder[last]).encode(), 200).decode("utf-8", "replace")
        try:
            holder[last] = json.loads(word)
        except (ValueError, RecursionError):
            holder[last] = word
    return (head + line_end + json.dumps(value).encode())[:largest]


def main() -> None:
    import atheris  # no dependency of the project: `make fuzz` brings it

    with atheris.instrument_imports(include=["connector", "worker", "yaml", "tests.fuzz.targets"]):
        from tests.fuzz.targets import TARGETS

    def mutate(data: bytes, largest: int, seed: int) -> bytes:
        return json_changed(data, largest, seed, atheris.Mutate)

    name, folder, *options = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [
            sys.argv[0],
            f"-dict={SEEDS / name}.dict",
            f"-artifact_prefix={folder}-",
            "-timeout=20",
            "-rss_limit_mb=4096",
            *options,
            folder,
            str(SEEDS / name),
        ],
        TARGETS[name],
        **({"custom_mutator": mutate} if name in ("annotation", "webhook") else {}),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
