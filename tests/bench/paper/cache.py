"""What was computed is kept, so that the page can be made again without running anything."""

import hashlib
import inspect
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from connector.local_install import cache_folder
from tests.bench.measuring import say
from tests.bench.paper import data, measures, replaying

Value = dict[str, Any]
SHARED = (data, measures, replaying)  # what every study rests on


def remembered(study: Callable[..., Value], salt: str = "", **settings: Any) -> Value:
    """Return what `study(**settings)` gave before, or run it and keep what it gives.

    The key holds the source of the study's module and of those that all rest on (and `salt`, for
    what else the result rests on), so that a change makes it run again.
    """
    home = sys.modules[study.__module__]
    name = f"{home.__name__.rsplit('.', 1)[-1]}-{study.__name__}"
    source = "".join(inspect.getsource(module) for module in (*SHARED, home))
    asked = json.dumps(settings, sort_keys=True)
    key = hashlib.sha256((name + asked + source + salt).encode()).hexdigest()[:16]
    path = cache_folder() / "bench-paper" / f"{name}-{key}.json"
    if not path.exists():
        began = time.perf_counter()
        kept = {"settings": settings, "value": study(**settings)}
        seconds = time.perf_counter() - began
        say(f"  {name} {asked}: {seconds:.0f} s")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept | {"seconds": seconds}, indent=1), encoding="utf-8")
    value: Value = json.loads(path.read_text(encoding="utf-8"))["value"]
    return value
