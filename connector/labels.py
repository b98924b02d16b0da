"""Labelling configuration -> classes; annotation JSON -> judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

from connector.errors import BadConfig, UnknownClasses

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


@dataclass(frozen=True, slots=True)
class Schema:
    """The one control that answers the question, and the labels that it may give."""

    control: str
    to_name: str
    labels: tuple[str, ...]


def microseconds(stamp: str) -> int:
    """Return Label Studio's time stamp as microseconds since 1970.

    Integers, because the stamps as text do not sort: a whole second comes without its fraction.
    """
    moment = datetime.fromisoformat(stamp)
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * 1_000_000 + moment.microsecond


def read_schema(config: str, control: str | None, classes: Sequence[str]) -> Schema:
    """Find the control of the plan in a labelling configuration.

    Args:
        config: the XML.
        control: its name; None when the configuration has only one Choices.
        classes: the pool's classes; the control must offer exactly these.

    Raises:
        BadConfig: broken XML, no such control, or one that lets annotators give several labels.
        UnknownClasses: its labels are not the classes.
    """
    from label_studio_sdk.label_interface.interface import LabelInterface

    try:
        interface = LabelInterface(config)
        interface.validate()  # type: ignore[no-untyped-call]
    except Exception as error:  # the SDK raises a family of its own, down to bare ValueErrors
        raise BadConfig(f"The labelling configuration is not valid: {error}") from error
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
    labels = tuple(str(label) for label in found.labels)
    missing = [c for c in classes if c not in labels]
    surplus = [c for c in labels if c not in set(classes)]
    if missing or surplus:
        raise UnknownClasses(str(found.name), missing, surplus)
    return Schema(str(found.name), str(found.to_name[0]), labels)


def write_config(classes: Sequence[str], data: Sequence[str], control: str) -> str:
    """Return a labelling configuration that shows `data` and asks for one of `classes`.

    A key that sounds like an image, audio, video or HTML gets that tag, all others are text.
    """
    shown = []
    for key in data:
        tag = _OBJECT_TAGS.get(key.lower().split("_")[0], "Text")
        shown.append(f"  <{tag} name={quoteattr(key)} value={quoteattr('$' + key)}/>")
    choices = "\n".join(f"    <Choice value={quoteattr(c)}/>" for c in classes)
    layout = ' showInline="true"' if len(classes) <= 12 else ' layout="select"'
    return (
        "<View>\n"
        + "\n".join(shown)
        + f"\n  <Choices name={quoteattr(control)} toName={quoteattr(data[0])}"
        + f' choice="single" required="true"{layout}>\n{choices}\n  </Choices>\n</View>\n'
    )


def judge(annotation: Mapping[str, Any], schema: Schema) -> Judgement:
    """Return what an annotation of Label Studio says; never raises on what a person sent.

    Label Studio checks nothing that it stores (facts: labels outside the configuration, empty
    results), so whatever does not answer the question becomes a rejected judgement with a reason.
    """
    author = annotation.get("completed_by")
    if isinstance(author, Mapping):
        author = author.get("id")
    status, label, reason = _verdict(annotation, schema, author)
    lead_time = annotation.get("lead_time")
    return Judgement(
        annotation=int(annotation["id"]),
        author=author if isinstance(author, int) else None,
        status=status,
        label=label,
        reason=reason,
        at_us=microseconds(str(annotation["updated_at"])),
        seconds=float(lead_time) if isinstance(lead_time, int | float) else None,
    )


def _verdict(
    annotation: Mapping[str, Any], schema: Schema, author: object
) -> tuple[Status, str | None, str]:
    if annotation.get("was_cancelled"):
        return "skipped", None, ""
    if not isinstance(author, int):
        return "rejected", None, "nobody is named as its author"
    result = annotation.get("result")
    if not isinstance(result, list):
        return "rejected", None, "its result is not a list"
    answers = [
        region
        for region in result
        if isinstance(region, Mapping) and region.get("from_name") == schema.control
    ]
    if not answers:
        what = "an empty result" if not result else f"no answer to {schema.control!r}"
        return "rejected", None, what
    value = answers[0].get("value")
    labels = value.get("choices") if isinstance(value, Mapping) else None
    if len(answers) > 1 or not isinstance(labels, list) or len(labels) != 1:
        return "rejected", None, f"not exactly one label for {schema.control!r}"
    label = labels[0]
    if label not in schema.labels:
        return "rejected", None, f"the label {str(label)[:80]!r} is not one of the classes"
    return "valid", str(label), ""
