"""Values of every kind, and good values with a few places changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", " ", "\0", "\ud800", "a\nb", 10**400, 2**63, -1, "~", "~nobody/x"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)

Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a value of lists and dictionaries, without the whole."""
    inside = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        yield (*at, key)
        yield from places(part, (*at, key))


@st.composite
def mutated(draw: st.DrawFn, good: Any, odd: st.SearchStrategy[Any] = anything) -> Any:
    """The value with up to three places replaced, doubled, or taken away."""
    value = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        known = list(places(value))
        if not known:
            break
        *path, last = draw(st.sampled_from(known))
        holder = value
        for step in path:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "replace", "odd", "delete", "wrap", "copy"]))
        if how == "delete":
            del holder[last]
        elif how == "wrap":
            holder[last] = [holder[last]] * draw(st.integers(0, 2))
        elif how == "copy" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[last] = draw(odd if how == "odd" else anything)
    return value
