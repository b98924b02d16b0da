"""Labelling configuration -> classes; annotation JSON -> judgement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeGuard
from xml.sax.saxutils import quoteattr

from connector.errors import BadConfig, ConnectorError, UnknownClasses
from connector.ratings import Bins, number_in, rating_control, rating_tag

Status = Literal["valid", "skipped", "rejected"]

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


class BrokenAnnotation(ConnectorError):
    """An annotation lacks what Label Studio itself writes into every one."""

    def __init__(self, key: str, came: object) -> None:
        super().__init__(
            f"Label Studio sent an annotation whose {key!r} is {ascii(came)[:80]}, expected "
            f"{'a whole number' if key == 'id' else 'a time'}. People cannot write it, so this is "
            "no Label Studio, or something between it and us changes its answers; look there."
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one annotation says about one item."""

    annotation: int
    author: int | None
    status: Status
    label: str | None  # the class, of a valid one
    reason: str  # why it was rejected, else empty
    at_us: int  # last change, microseconds since 1970 by Label Studio's clock
    seconds: float | None = None  # how long the annotator took


@dataclass(frozen=True, slots=True)
class Look:
    """One reading of one task: everything that Label Studio said of it at that moment."""

    task: int
    item: str  # data.item_id, empty when the task has none
    at_us: int  # the task's last change, microseconds since 1970 by Label Studio's clock
    is_closed: bool  # Label Studio serves it to nobody
    judgements: tuple[Judgement, ...]
    shown: str = ""  # `connector.shown.fingerprint` of its data


@dataclass(frozen=True, slots=True)
class Schema:
    """The one control that answers the question, and the labels that it may give.

    bins: of a control that gives numbers (Rating, Number): its labels, in the order of the bins.
    """

    control: str
    to_name: str
    labels: tuple[str, ...]
    bins: Bins | None = None


def microseconds(stamp: str) -> int:
    """Return Label Studio's time stamp as microseconds since 1970.

    Integers, because the stamps as text do not sort: a whole second comes without its fraction.
    One without an offset is UTC: our clock's zone has nothing to do with it.
    """
    moment = datetime.fromisoformat(stamp)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * 1_000_000 + moment.microsecond


def read_schema(
    config: str, control: str | None, classes: Sequence[str], bins: Bins | None = None
) -> Schema:
    """Find the control of the plan in a labelling configuration.

    Args:
        config: the XML.
        control: its name; None when the configuration has only one Choices (or with `bins` one
            Rating or Number).
        classes: the pool's classes; the control must offer exactly these. With `bins` in their
            order.
        bins: how ratings become classes; None if annotators choose classes by name.

    Raises:
        BadConfig: broken XML, no such control, or one that lets annotators give several labels, or
            other numbers than the scale has.
        UnknownClasses: its labels are not the classes.
    """
    interface = _interface(config)
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
    classes: Sequence[str], data: Sequence[str], control: str, bins: Bins | None = None
) -> str:
    """Return a labelling configuration that shows `data` and asks for one of `classes`.

    A key that sounds like an image, audio, video or HTML gets that tag, all others are text. With
    `bins` it asks for stars where these have the numbers of the scale, else for a number.
    """
    shown = []
    for key in data:
        tag = _OBJECT_TAGS.get(key.lower().split("_")[0], "Text")
        shown.append(f"  <{tag} name={quoteattr(key)} value={quoteattr('$' + key)}/>")
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


def judge(annotation: Mapping[str, Any], schema: Schema) -> Judgement:
    """Return what an annotation of Label Studio says; never raises on what a person can send.

    Label Studio checks nothing that it stores (facts: labels outside the configuration, empty
    results), so whatever does not answer the question becomes a rejected judgement with a reason.

    Raises:
        BrokenAnnotation: its id or its time of change, which no person writes, is not one.
    """
    author = annotation.get("completed_by")
    if isinstance(author, Mapping):
        author = author.get("id")
    number, stamp = annotation.get("id"), annotation.get("updated_at")
    if not _is_whole(number):
        raise BrokenAnnotation("id", number)
    try:
        at_us = microseconds(str(stamp))
    except (ValueError, OverflowError) as error:
        raise BrokenAnnotation("updated_at", stamp) from error
    status, label, reason = _verdict(annotation, schema, author)
    return Judgement(
        annotation=number,
        author=author if _is_whole(author) else None,
        status=status,
        label=label,
        reason=reason,
        at_us=at_us,
        seconds=_seconds(annotation.get("lead_time")),
    )


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _seconds(lead_time: object) -> float | None:
    """How long it took, where that is a time: the page sends whatever it likes.

    NaN would differ from itself, so that every reading of the same annotation were a change.
    """
    if isinstance(lead_time, bool) or not isinstance(lead_time, int | float):
        return None
    try:
        seconds = float(lead_time)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _verdict(
    annotation: Mapping[str, Any], schema: Schema, author: object
) -> tuple[Status, str | None, str]:
    if annotation.get("was_cancelled"):
        return "skipped", None, ""
    if not _is_whole(author):
        return "rejected", None, "nobody is named as its author"
    label, reason = said(annotation.get("result"), schema)
    return ("rejected" if label is None else "valid"), label, reason


def said(result: object, schema: Schema) -> tuple[str | None, str]:
    """The class that a result gives, of an annotation or a prediction; or None, and why not."""
    if not isinstance(result, list):
        return None, "its result is not a list"
    answers = [
        region
        for region in result
        if isinstance(region, Mapping) and region.get("from_name") == schema.control
    ]
    if not answers:
        what = "an empty result" if not result else f"no answer to {schema.control!r}"
        return None, what
    value = answers[0].get("value")
    if schema.bins is not None:
        return _rated(answers[1:], value, schema, schema.bins)
    labels = value.get("choices") if isinstance(value, Mapping) else None
    if len(answers) > 1 or not isinstance(labels, list) or len(labels) != 1:
        return None, f"not exactly one label for {schema.control!r}"
    label = labels[0]
    if label not in schema.labels:
        return None, f"the label {str(label)[:80]!r} is not one of the classes"
    return str(label), ""


def _rated(
    more: Sequence[object], value: object, schema: Schema, bins: Bins
) -> tuple[str | None, str]:
    number = None if more or not isinstance(value, Mapping) else number_in(value)
    if number is None:
        return None, f"not exactly one number for {schema.control!r}"
    at = bins.place(number)
    if at is None:
        return None, f"the number {number:g} is not on the scale"
    return schema.labels[at], ""
