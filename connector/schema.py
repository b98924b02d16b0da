"""Labelling configuration -> what it asks and which classes it offers; and one of our own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

from connector.errors import BadConfig, UnknownClasses
from connector.ratings import Bins, rating_control, rating_tag

# Data keys that tell how an item is shown; everything else is text.
_OBJECT_TAGS = {
    "image": "Image",
    "img": "Image",
    "photo": "Image",
    "picture": "Image",
    "audio": "Audio",
    "sound": "Audio",
    "video": "Video",
    "html": "HyperText",
}

# Else the lines of a turn run into one.
_LINES = '  <Style>[class*="phrase"] { white-space: pre-line; }</Style>'

# They would show the address of a file.
_TEXT_TAGS = {"Text", "HyperText"}


@dataclass(frozen=True, slots=True)
class Schema:
    """The one control that answers the question, and the labels that it may give.

    bins: of a control that gives numbers (Rating, Number): its labels, in the order of the bins.
    counts_as: labels that count as another one.
    """

    control: str
    to_name: str
    labels: tuple[str, ...]
    bins: Bins | None = None
    counts_as: Mapping[str, str] = field(default_factory=dict)


def read_schema(
    config: str,
    control: str | None,
    classes: Sequence[str],
    bins: Bins | None = None,
    files: Iterable[str] = (),
) -> Schema:
    """Find the control of the plan in a labelling configuration.

    Args:
        config: the XML.
        control: its name; None when the configuration has only one Choices (or with `bins` one
            Rating or Number).
        classes: the pool's classes; the control must offer exactly these. With `bins` in their
            order.
        bins: how ratings become classes; None if annotators choose classes by name.
        files: keys of a task's data whose values are addresses of uploaded files.

    Raises:
        BadConfig: broken XML, no such control, or one that lets annotators give several labels, or
            other numbers than the scale has; or files are shown as text.
        UnknownClasses: its labels are not the classes.
    """
    interface = _interface(config)
    for key in files:
        tags = [str(shown.tag) for shown in interface.objects if shown.value_name == key]
        if tags and set(tags) <= _TEXT_TAGS:
            raise BadConfig(
                f"The labelling configuration shows ${key} as text (<{tags[0]}>), but its values "
                f'are files, which <Image name="{key}" value="${key}"/> shows, or <Audio> or '
                "<Video>."
            )
    if bins is not None:
        found = rating_control(list(interface.controls), control, bins)
        return Schema(str(found.name), str(found.to_name[0]), tuple(classes), bins)
    found = _choices(interface, control)
    labels = tuple(str(label) for label in found.labels)
    missing = [c for c in classes if c not in labels]
    surplus = [c for c in labels if c not in set(classes)]
    if missing or surplus:
        raise UnknownClasses(str(found.name), missing, surplus)
    return Schema(str(found.name), str(found.to_name[0]), labels)


def offered(config: str, control: str | None) -> Schema:
    """Find the control of the plan in a labelling configuration, with all labels that it offers.

    Args:
        control: as of `read_schema`.

    Raises:
        BadConfig: broken XML, no such control, or one that lets annotators give several labels.
    """
    found = _choices(_interface(config), control)
    labels = tuple(str(label) for label in found.labels)
    return Schema(str(found.name), str(found.to_name[0]), labels)


def shown_keys(config: str) -> tuple[str, ...]:
    """The keys of a task's data that a labelling configuration shows, each once.

    Raises:
        BadConfig: broken XML.
    """
    names = (str(shown.value_name) for shown in _interface(config).objects if shown.value_name)
    return tuple(dict.fromkeys(names))


def _interface(config: str) -> Any:
    from label_studio_sdk.label_interface.interface import LabelInterface

    try:
        interface = LabelInterface(config)
        interface.validate()  # type: ignore[no-untyped-call]
    except Exception as error:  # the SDK raises a family of its own, down to bare ValueErrors
        raise BadConfig(f"The labelling configuration is not valid: {error}") from error
    return interface


def _choices(interface: Any, control: str | None) -> Any:
    """The Choices control that answers the question."""
    choices = [c for c in interface.controls if c.tag == "Choices"]
    names = ", ".join(str(c.name) for c in choices) or "none"
    if control is None:
        if len(choices) != 1:
            raise BadConfig(
                f"The labelling configuration has {len(choices)} Choices controls ({names}); "
                "say which one answers the question: `annotation: {control: NAME}`."
            )
        found = choices[0]
    else:
        matching = [c for c in choices if c.name == control]
        if not matching:
            others = ", ".join(f"{c.name} ({c.tag})" for c in interface.controls) or "none"
            raise BadConfig(
                f"The labelling configuration has no Choices control named {control!r}; it has "
                f"{others}. Correct `annotation.control`, or add the control."
            )
        found = matching[0]
    if str(found.attr.get("choice", "single")).startswith("multiple"):
        raise BadConfig(
            f"The control {found.name!r} lets annotators choose several labels; the question needs "
            'one class an item. Use choice="single".'
        )
    return found


def write_config(
    classes: Sequence[str],
    data: Sequence[str],
    control: str,
    bins: Bins | None = None,
    tags: Mapping[str, str] | None = None,
    is_headed: bool = False,
) -> str:
    """Return a labelling configuration that shows `data` and asks for one of `classes`.

    A key that sounds like an image, audio, video or HTML gets that tag, all others are text. With
    `bins` it asks for stars where these have the numbers of the scale, else for a number.

    Args:
        tags: of keys whose values tell the tag, whatever they are called.
        is_headed: each key stands above its value: annotators must tell input from output.
    """
    shown = []
    for key in data:
        if is_headed:
            shown.append(f"  <Header value={quoteattr(key)}/>")
        tag = (tags or {}).get(key) or _OBJECT_TAGS.get(key.lower().split("_")[0], "Text")
        turns = ' layout="dialogue" nameKey="role" textKey="content"' * (tag == "Paragraphs")
        shown.append(f"  <{tag} name={quoteattr(key)} value={quoteattr('$' + key)}{turns}/>")
    if any("<Paragraphs " in line for line in shown):
        shown.insert(0, _LINES)
    if bins is not None:
        asked = rating_tag(bins, f"name={quoteattr(control)} toName={quoteattr(data[0])}")
        return "<View>\n" + "\n".join(shown) + f"\n  {asked}\n</View>\n"
    choices = "\n".join(f"    <Choice value={quoteattr(c)}/>" for c in classes)
    layout = ' showInline="true"' if len(classes) <= 12 else ' layout="select"'
    return (
        "<View>\n"
        + "\n".join(shown)
        + f"\n  <Choices name={quoteattr(control)} toName={quoteattr(data[0])}"
        + f' choice="single" required="true"{layout}>\n{choices}\n  </Choices>\n</View>\n'
    )
