"""What a labelling configuration asks: the parts of it that decide what an answer means."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from xml.etree import ElementTree

# Attributes that only say how a control looks.
_LOOKS = frozenset(
    {
        *("style", "classname", "showinline", "layout", "hotkey", "size", "icon", "background"),
        *("required", "requiredmessage"),
    }
)

_NAMED, _LENGTH = 4, 60  # parts, and characters of each, that a difference tells


@lru_cache(maxsize=64)  # of thousands of classes it takes longer than the request that brings it
def labelling(config: str, control: str) -> str:
    """Return the parts of a configuration that decide what an answer means, as JSON: name -> hash.

    They are the control that answers the question, with everything in it (names, values, aliases,
    hints, in whatever order), and every tag that shows something of the task's data. Fixed texts,
    headers, other controls and whatever only arranges the page are none. It is empty for what is no
    XML, and so differs from every configuration that is.

    Args:
        config: the XML.
        control: the name of the control.
    """
    try:
        # expat loads nothing from elsewhere, and refuses entities that grow
        root = ElementTree.fromstring(config)  # noqa: S314
    except (ElementTree.ParseError, ValueError):
        return "{}"
    asked = [tag for tag in root.iter() if tag.get("name") == control]
    within = {id(tag) for one in asked for tag in one.iter()}
    parts = {f"{one.tag} {control!r}": _hashed(_control(one)) for one in asked}
    for tag in root.iter():
        shown = sorted((key, value) for key, value in tag.items() if "$" in value)
        if shown and id(tag) not in within:
            name = tag.get("name") or ", ".join(value for _, value in shown)
            parts[f"{tag.tag} {name!r}"] = _hashed([tag.tag, tag.get("name"), shown])
    return json.dumps(parts, sort_keys=True)


def _control(tag: ElementTree.Element) -> list[object]:
    told = sorted((key, value) for key, value in tag.items() if key.lower() not in _LOOKS)
    return [tag.tag, told, sorted(map(_control, tag), key=json.dumps)]


def _hashed(part: object) -> str:
    return hashlib.blake2b(json.dumps(part).encode(), digest_size=8).hexdigest()


def differing(before: str, now: str) -> str:
    """The names of the parts in which two configurations differ, such as "Choices 'answer'".

    Of many the first few, and cut short: who changes a configuration names its tags.
    """
    one, other = json.loads(before), json.loads(now)
    parts = sorted(name for name in one | other if one.get(name) != other.get(name))
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return ", ".join(name[:_LENGTH] for name in parts[:_NAMED]) + more
